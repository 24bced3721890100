//! The program: the order in which it starts, and nothing else.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use wg_easy_mcp::check::Check;
use wg_easy_mcp::command_line::{self, Command};
use wg_easy_mcp::config::{self, Config, ConfigError};
use wg_easy_mcp::diagnostics;
use wg_easy_mcp::environment::Environment;
use wg_easy_mcp::sandbox::{self, Plan};
use wg_easy_mcp::session;
use wg_easy_mcp::tools::catalogue;

fn main() -> ExitCode {
    // First of all, also on the paths that end at once: from here on the process shows no secret.
    let environment = Environment::take();
    diagnostics::install_panic_hook();
    let _last_lines = diagnostics::Flush;
    match Command::parse(std::env::args_os().skip(1)) {
        Ok(Command::Version) => print(&command_line::version()),
        Ok(Command::Help) => print(&command_line::help()),
        Ok(Command::Check { json }) => check(environment, json),
        Ok(Command::Serve) => match configure(environment) {
            Ok(config) => serve(config),
            Err(error) => refuse(&error.to_string()),
        },
        Err(error) => refuse(&error.to_string()),
    }
}

fn configure(environment: Environment) -> Result<Config, ConfigError> {
    // A wrong value here is reported below, as one among the others.
    if let Ok(log) = config::log_settings(&environment) {
        diagnostics::configure(log);
    }
    let (config, warnings) = Config::parse(environment, catalogue())?;
    for warning in warnings {
        let said = warning.to_string();
        if warning.is_always_said() {
            diagnostics::warn_always(&said);
        } else {
            diagnostics::warn(&said);
        }
    }
    Ok(config)
}

fn serve(config: Config) -> ExitCode {
    let plan = Plan {
        port: config.connection.port(),
    };
    let prepared = session::prepare(&config);
    // The credentials live on where they are used, and nowhere else.
    drop(config);
    let session = prepared.and_then(|prepared| {
        // The files have been read; the client has not.
        if std::io::stdin().is_terminal() {
            diagnostics::info(command_line::AT_A_TERMINAL);
        }
        protect(&plan);
        session::block_on(prepared)
    });
    match session {
        // At once: a thread that is blocked on stdin must not be waited for.
        Ok(()) => end(),
        Err(error) => refuse(&error.to_string()),
    }
}

fn protect(plan: &Plan) {
    let report = sandbox::apply(plan);
    match report.is_complete() {
        true => diagnostics::info(&report.to_string()),
        // Nobody should believe in what is not there.
        false => diagnostics::warn_always(&report.to_string()),
    }
}

#[expect(
    clippy::exit,
    reason = "returning from main waits for nothing either, but says less"
)]
fn end() -> ExitCode {
    diagnostics::flush();
    std::process::exit(0)
}

fn check(environment: Environment, json: bool) -> ExitCode {
    let check = Check::prepare(Config::parse(environment, catalogue()));
    let report = sandbox::apply(&check.plan());
    let findings = check.run(&report);
    let text = match json {
        true => findings.json(),
        false => findings.text(columns()),
    };
    match print(&text) {
        ExitCode::SUCCESS if findings.is_ok() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// The width of the terminal that stdout is; `None` where it is none.
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    // One that does not know its own width is taken for an ordinary one.
    Some(if size.ws_col > 0 {
        size.ws_col.into()
    } else {
        80
    })
}

fn refuse(why: &str) -> ExitCode {
    diagnostics::error(why);
    ExitCode::FAILURE
}

fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => refuse("stdout cannot be written to"),
    }
}
