//! `cargo demo`: the real server, at work for an AI, with you as the person it asks.
//!
//! It starts a simulated wg-easy over TLS, starts the `wg-easy-mcp` binary against it the way an AI
//! client would, and plays that client. Everything shown is the server's doing; each answer is checked,
//! and so is what the simulated wg-easy came to.

#[path = "demo/asking.rs"]
mod asking;
#[path = "demo/binary.rs"]
mod binary;
#[path = "demo/instance.rs"]
mod instance;
#[path = "demo/person.rs"]
mod person;
#[path = "demo/qr.rs"]
mod qr;
#[path = "demo/reading.rs"]
mod reading;
#[path = "demo/screen.rs"]
mod screen;
#[path = "demo/server.rs"]
mod server;
#[path = "demo/stage.rs"]
mod stage;
#[path = "demo/time.rs"]
mod time;

use person::Person;
use screen::{Look, Screen};
use server::Revision;
use stage::Stage;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Why the demo cannot go on.
type Problem = Box<dyn std::error::Error>;

const USAGE: &str = "\
Usage: cargo demo [--yes]

Shows wg-easy-mcp at work against a simulated wg-easy. Nothing outside this computer is contacted.

  --yes       answer every question by itself, as the script has it
  -h, --help  this text

Without a terminal on stdin, --yes is needed. NO_COLOR=1 turns colours off.
";

fn main() -> ExitCode {
    let screen = Screen::new();
    let person = match arguments() {
        Ok(Some(person)) => person,
        Ok(None) => {
            screen.line(USAGE.trim_end());
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            screen::complain(&why);
            return ExitCode::from(2);
        }
    };
    match play(screen, person) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            screen::complain(&format!("This went wrong: {problem}"));
            ExitCode::FAILURE
        }
    }
}

/// Who is going to answer; nobody where only help is wanted.
fn arguments() -> Result<Option<Person>, String> {
    let mut yes = false;
    for argument in std::env::args_os().skip(1) {
        match argument.to_str() {
            Some("--yes" | "-y") => yes = true,
            Some("--help" | "-h") => return Ok(None),
            _ => return Err(format!("Unknown argument.\n\n{}", USAGE.trim_end())),
        }
    }
    if yes {
        Ok(Some(Person::Scripted))
    } else if std::io::stdin().is_terminal() {
        Ok(Some(Person::Present))
    } else {
        Err(
            "The demo asks questions, and there is no terminal on stdin to answer them. \
             Run `cargo demo --yes` to see it answer by itself."
                .to_owned(),
        )
    }
}

fn play(screen: Screen, person: Person) -> Result<(), Problem> {
    let binary = binary::path()?;
    let wg_easy = instance::start();
    screen.line(screen.paint("wg-easy-mcp", Look::Bold));
    screen.text(
        "An AI administers your VPN; whatever widens access, it asks you first.",
        Look::Plain,
    );
    screen.gap();
    screen.text(
        &format!(
            "A simulated wg-easy listens on {}. The real server has been started against it, over \
             TLS, the way an AI client starts it: this demo plays the client, and you are the person \
             that the AI works for.",
            wg_easy.url()
        ),
        Look::Dim,
    );

    let mut stage = Stage::new(screen, person, wg_easy, binary);
    stage.connect(Revision::V2025_11_25)?;
    reading::tools(&mut stage)?;
    reading::clients(&mut stage)?;
    reading::server(&mut stage)?;
    reading::qr_code(&mut stage)?;
    asking::disable(&mut stage)?;
    asking::create(&mut stage)?;
    asking::update(&mut stage)?;
    stage.connect(Revision::V2026_07_28)?;
    asking::refuse(&mut stage)?;
    asking::outdated(&mut stage)?;
    asking::link(&mut stage)?;
    asking::trail(&mut stage)?;
    stage.end()
}
