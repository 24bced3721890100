//! The command line, on which there is next to nothing: what configures the program is the
//! environment.

use std::ffi::OsString;
use std::fmt::{self, Write};

use crate::config::VARIABLES;

/// What a person needs to hear who starts the server by hand and sees nothing happen.
pub const AT_A_TERMINAL: &str = "waiting for an MCP client, which starts this program by itself and is not \
     a terminal. wg-easy-mcp check says whether the set-up works, wg-easy-mcp --help how to configure it; \
     Ctrl-D ends this.";

/// What the program was started to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Serve MCP on stdin and stdout.
    Serve,
    /// Tell a person whether the set-up works.
    Check {
        /// Tell a machine instead.
        json: bool,
    },
    /// Print the version.
    Version,
    /// Print how the program is used.
    Help,
}

/// An argument that means nothing, or nothing in its place. It is kept only when it is shaped like an
/// option, as anything else may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownArgument(Option<String>);

impl Command {
    /// Reads the arguments after the program's name.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, UnknownArgument> {
        let mut command = None;
        for argument in arguments {
            command = Some(match (command, argument.to_str()) {
                (None, Some("--version")) => Self::Version,
                (None, Some("--help")) => Self::Help,
                (None, Some("check")) => Self::Check { json: false },
                (Some(Self::Check { json: false }), Some("--json")) => Self::Check { json: true },
                (_, text) => return Err(UnknownArgument::new(text)),
            });
        }
        Ok(command.unwrap_or(Self::Serve))
    }
}

impl UnknownArgument {
    fn new(text: Option<&str>) -> Self {
        Self(text.filter(|text| is_option(text)).map(str::to_owned))
    }
}

impl fmt::Display for UnknownArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(option) => write!(f, "{option} is not understood here")?,
            None => f.write_str("there is an argument that is not understood")?,
        }
        f.write_str("; see --help, and configure the server with environment variables")
    }
}

impl std::error::Error for UnknownArgument {}

/// `^--?[a-z-]{1,20}$`
fn is_option(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| {
        let rest = rest
            .strip_prefix('-')
            .filter(|r| !r.is_empty())
            .unwrap_or(rest);
        (1..=20).contains(&rest.len()) && rest.bytes().all(|c| c.is_ascii_lowercase() || c == b'-')
    })
}

/// What `--version` prints.
pub fn version() -> String {
    format!("wg-easy-mcp {}\n", env!("CARGO_PKG_VERSION"))
}

/// What `--help` prints.
pub fn help() -> String {
    let mut text = String::from(
        "wg-easy-mcp: an MCP server that administers a wg-easy v15 instance\n\
         \n\
         Usage:\n  \
           wg-easy-mcp                  serve MCP on stdin and stdout\n  \
           wg-easy-mcp check [--json]   say whether the set-up works\n  \
           wg-easy-mcp --version\n  \
           wg-easy-mcp --help\n\
         \n\
         Environment variables:\n",
    );
    for variable in VARIABLES {
        let default = variable
            .default
            .map(|default| format!(" [default: {default}]"))
            .unwrap_or_default();
        let secret = if variable.secret { " [secret]" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "  {}\n      {}{default}{secret}\n",
            variable.name, variable.meaning
        );
    }
    // Nor can this.
    let _ = write!(
        text,
        "\nEach of them, every tool and every message is explained at\n{}\n",
        env!("CARGO_PKG_REPOSITORY")
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(arguments: &[&str]) -> Result<Command, UnknownArgument> {
        Command::parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn what_there_is_on_the_command_line() {
        assert_eq!(parse(&[]), Ok(Command::Serve));
        assert_eq!(parse(&["--version"]), Ok(Command::Version));
        assert_eq!(parse(&["--help"]), Ok(Command::Help));
        assert_eq!(parse(&["check"]), Ok(Command::Check { json: false }));
        assert_eq!(
            parse(&["check", "--json"]),
            Ok(Command::Check { json: true })
        );
    }

    #[test]
    fn nothing_else_is() {
        for arguments in [
            &["serve"][..],
            &[""],
            &["-h"],
            &["--json"],
            &["--json", "check"],
            &["check", "check"],
            &["check", "--json", "--json"],
            &["--version", "--help"],
            &["--", "check"],
        ] {
            assert!(parse(arguments).is_err(), "{arguments:?}");
        }
    }

    #[test]
    fn an_argument_is_named_only_if_it_is_shaped_like_an_option() {
        for (argument, named) in [
            ("--url", true),
            ("-v", true),
            ("--read-only", true),
            ("---", true),
            ("--url=https://x", false),
            ("hunter2", false),
            ("--Hunter", false),
            ("--aaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            let message = parse(&[argument]).unwrap_err().to_string();
            assert_eq!(message.contains(argument), named, "{message}");
        }
    }

    #[test]
    fn help_lists_every_variable() {
        let help = help();
        assert!(
            VARIABLES
                .iter()
                .all(|v| help.contains(&format!("  {}\n", v.name)))
        );
        assert!(help.lines().all(|line| line.len() <= 110), "{help}");
    }

    proptest! {
        #[test]
        fn no_argument_breaks_the_parser(arguments in proptest::collection::vec(any::<String>(), 0..4)) {
            let _ = Command::parse(arguments.into_iter().map(OsString::from));
        }
    }
}
