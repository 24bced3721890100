//! What is wrong with a configuration, and what to do about it.
//!
//! None of these types can hold the value of a variable, with the two exceptions that say so.

use std::fmt;

use crate::tools::filter::FilterError;

use super::url::UrlProblem;
use super::variables::{PASSWORD_FILE, USERNAME_FILE};

/// Why the program does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// A variable that begins like ours is none of ours.
    UnknownVariable {
        /// Its name, when it is shaped like one.
        name: Option<String>,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
    /// The variable's value is not UTF-8.
    NotUnicode(&'static str),
    /// The environment holds the variable twice, with different values.
    Contradictory(&'static str),
    /// A value was given both as such and in a file.
    BothForms {
        /// The variable that holds the value.
        variable: &'static str,
        /// The variable that names the file.
        file: &'static str,
    },
    /// The file that the variable names is of no use.
    File {
        /// The variable.
        variable: &'static str,
        /// Why.
        problem: FileProblem,
    },
    /// `WG_EASY_URL` is of no use.
    Url(UrlProblem),
    /// A switch that restricts is set to something that is neither on nor off.
    NotASwitch(&'static str),
    /// The variable is set to none of the words that it may be set to.
    NotAWord {
        /// The variable.
        variable: &'static str,
        /// The words.
        words: Vec<&'static str>,
    },
    /// The second factor's secret is no base32 or too short.
    TotpSecret,
    /// The user name has a colon in it, and only Basic authentication is allowed, which ends the name
    /// at the first one.
    ColonInUsername,
    /// A pin is malformed.
    Pin {
        /// Its place in the list, from one.
        entry: usize,
    },
    /// There are pins, and the URL is plain `http`: there is no certificate to compare them with.
    PinsWithoutTls,
    /// `ELICITATION` is neither true nor false.
    Elicitation {
        /// What it is, when it is a short word: people write `yes` here.
        quoted: Option<String>,
        /// How many characters it has.
        characters: usize,
    },
    /// Dialogs are required and switched off.
    DialogRequiredAndOff,
    /// The lists of tools do not add up. An entry that is shaped like a tool's name is quoted.
    Tools(FilterError),
}

/// Why a file is of no use. Its path is the value of a variable, and is not in here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileProblem {
    /// There is no such file.
    NotFound,
    /// The process may not read it.
    NotPermitted,
    /// Reading it fails for another reason; it is a directory, for one.
    Unreadable,
    /// It holds more than it may.
    TooLarge {
        /// The most bytes it may hold.
        limit: usize,
    },
    /// It is not UTF-8.
    NotUnicode,
    /// It holds nothing.
    Empty,
    /// It is no well-formed PEM.
    MalformedPem,
    /// There is no certificate in it.
    NoCertificate,
    /// A certificate in it cannot be used as a root.
    MalformedCertificate,
}

/// What does not stop the program, and should be known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Without these variables no call can succeed.
    Missing(Vec<&'static str>),
    /// The URL's query or fragment is not used.
    QueryDropped,
    /// The URL is plain `http` to another machine.
    PlainHttp,
    /// The variable is there and empty, which is as good as not there.
    SetButEmpty(&'static str),
    /// There are roots, and the URL is plain `http`.
    RootsWithoutTls,
    /// There are roots, and validation is off.
    RootsUnused,
    /// Certificates are not validated.
    ValidationOff {
        /// Whether the leaf must match a pin.
        pinned: bool,
    },
    /// `WG_EASY_INSECURE_TLS` is set to something else than `true` or `false`.
    ValidationStaysOn,
    /// There is a second factor, and Basic authentication, which cannot carry one.
    SecondFactorUnused,
    /// The user name has a colon in it, so Basic authentication cannot take a session's place.
    ColonInUsername,
    /// No dialog is shown.
    DialogOff,
}

/// What to do when these variables are missing; the same words at the start and in every answer.
pub fn setup_instructions(missing: &[&'static str]) -> String {
    format!(
        "wg-easy-mcp is not set up: {} missing. Set WG_EASY_URL to the address of the wg-easy web UI, and \
         WG_EASY_USERNAME and WG_EASY_PASSWORD (or {USERNAME_FILE} and {PASSWORD_FILE}) to the login of \
         its admin, in the environment of this server, and start it again.",
        match missing {
            [name] => format!("{name} is"),
            _ => format!("{} are", and(missing)),
        }
    )
}

impl ConfigError {
    /// The error for an `ELICITATION` of `text`.
    pub(super) fn elicitation(text: &str) -> Self {
        let characters = text.chars().count();
        let is_word = (1..=12).contains(&characters)
            && text
                .bytes()
                .all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-');
        Self::Elicitation {
            quoted: is_word.then(|| text.to_owned()),
            characters,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownVariable { name, nearest } => {
                match name {
                    Some(name) => write!(f, "{name} is not a variable of wg-easy-mcp")?,
                    None => f.write_str(
                        "a variable whose name begins with WG_EASY_ is not one of wg-easy-mcp",
                    )?,
                }
                match nearest {
                    Some(nearest) => write!(f, "; did you mean {nearest}? Correct or unset it"),
                    None => f.write_str("; unset it, or see --help for those that are"),
                }
            }
            Self::NotUnicode(name) => write!(f, "{name} is not valid UTF-8; set it to text"),
            Self::Contradictory(name) => write!(
                f,
                "{name} is in the environment twice, with different values; set it once"
            ),
            Self::BothForms { variable, file } => {
                write!(f, "{variable} and {file} are both set; unset one of them")
            }
            Self::File { variable, problem } => write!(f, "the file that {variable} names {problem}"),
            Self::Url(problem) => problem.fmt(f),
            Self::NotASwitch(name) => write!(
                f,
                "{name} is neither on (1, true, yes) nor off (0, false, no); set it to one of these"
            ),
            Self::NotAWord { variable, words } => write!(
                f,
                "{variable} is none of {}; set it to one of these, in lower case",
                words.join(", ")
            ),
            Self::TotpSecret => f.write_str(
                "the second factor's secret (WG_EASY_TOTP_SECRET or its file) is not base32 of at \
                 least 10 bytes; copy the secret that the authenticator app was set up with, not a code",
            ),
            Self::ColonInUsername => f.write_str(
                "the user name has a colon in it, which Basic authentication (WG_EASY_AUTH=basic) cannot \
                 carry; give the user a name without one, or use auto or session",
            ),
            Self::Pin { entry } => write!(
                f,
                "entry {entry} of WG_EASY_TLS_PINS is not a pin; write sha256/ and the base64 of the \
                 32-byte SHA-256 of the SubjectPublicKeyInfo"
            ),
            Self::PinsWithoutTls => f.write_str(
                "WG_EASY_TLS_PINS is set but WG_EASY_URL is plain http, where there is no certificate \
                 to compare; use an https URL or unset the pins",
            ),
            Self::Elicitation { quoted, characters } => {
                match quoted {
                    Some(word) => write!(f, "ELICITATION is \"{word}\"")?,
                    None => write!(f, "ELICITATION is a value of {characters} characters")?,
                }
                f.write_str("; set it to true or false")
            }
            Self::DialogRequiredAndOff => f.write_str(
                "WG_EASY_REQUIRE_DIALOG is on while ELICITATION=false switches dialogs off; unset one \
                 of them",
            ),
            Self::Tools(problem) => problem.fmt(f),
        }
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("does not exist; correct the path or mount the file"),
            Self::NotPermitted => {
                f.write_str(
                    "may not be read by this process; change its owner or mode, or run the server as its owner \
                     (docker run --user)",
                )
            }
            Self::Unreadable => f.write_str(
                "cannot be read; name a readable, regular file (Docker makes a directory where the file of a \
                 mount does not exist)",
            ),
            Self::TooLarge { limit } => {
                write!(f, "holds more than {} KiB; name the right file", limit / 1024)
            }
            Self::NotUnicode => f.write_str("is not valid UTF-8; write the value into it as text"),
            Self::Empty => f.write_str("is empty; write the value into it"),
            Self::MalformedPem => f.write_str("is not well-formed PEM; write the certificates anew"),
            Self::NoCertificate => {
                f.write_str("holds no certificate; write certificates in PEM form into it")
            }
            Self::MalformedCertificate => f.write_str(
                "holds a certificate that cannot be used as a root; write only X.509 certificates into it",
            ),
        }
    }
}

impl Warning {
    /// Whether it is said whatever `WG_EASY_LOG` is: without it an operator would believe in a
    /// protection, or in a set-up, that is not there.
    pub fn is_always_said(&self) -> bool {
        matches!(
            self,
            Self::Missing(_) | Self::ValidationOff { .. } | Self::DialogOff
        )
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(names) => f.write_str(&setup_instructions(names)),
            Self::QueryDropped => f.write_str(
                "the query or fragment of WG_EASY_URL is not used; remove it from the variable",
            ),
            Self::PlainHttp => f.write_str(
                "WG_EASY_URL is plain http to another machine: credentials and private keys travel \
                 unencrypted; use https",
            ),
            Self::SetButEmpty(name) => write!(
                f,
                "{name} is set but empty, and has no effect; give it a value or unset it"
            ),
            Self::RootsWithoutTls => f.write_str(
                "WG_EASY_CA_FILE has no effect, as WG_EASY_URL is plain http; use https or unset it",
            ),
            Self::RootsUnused => f.write_str(
                "WG_EASY_CA_FILE has no effect, as WG_EASY_INSECURE_TLS=true switches certificate \
                 validation off; unset one of them",
            ),
            Self::ValidationOff { pinned: false } => f.write_str(
                "WG_EASY_INSECURE_TLS=true: the certificate of wg-easy is not validated, anybody in \
                 between can read the password and every key; set WG_EASY_TLS_PINS or WG_EASY_CA_FILE",
            ),
            Self::ValidationOff { pinned: true } => f.write_str(
                "WG_EASY_INSECURE_TLS=true: the certificate of wg-easy is accepted if its key matches a \
                 pin; chain, host name and dates are not checked",
            ),
            Self::ValidationStaysOn => f.write_str(
                "WG_EASY_INSECURE_TLS is neither true nor false: certificate validation stays on; only \
                 exactly true turns it off",
            ),
            Self::SecondFactorUnused => f.write_str(
                "the second factor's secret has no effect with WG_EASY_AUTH=basic; use auto or session",
            ),
            Self::ColonInUsername => f.write_str(
                "the user name has a colon in it: a session can log in with it, and Basic authentication, \
                 which auto falls back to, cannot; give the user a name without one",
            ),
            Self::DialogOff => f.write_str(
                "ELICITATION=false: nobody is asked by a dialog; a guarded tool acts when it is called \
                 a second time with the token that the first call answers",
            ),
        }
    }
}

impl std::error::Error for ConfigError {}

/// Names as a sentence lists them.
fn and(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}
