//! Runs the simulator by hand: prints where it is and how to log in, until stdin closes or a signal
//! ends it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::exit,
    reason = "test equipment, run by hand"
)]

use std::{io::Read as _, path::PathBuf, process::ExitCode, time::Duration};

use wg_easy_sim::{Settings, Simulator, Tls};

const HELP: &str = "\
wg-easy-sim: a simulated wg-easy 15.4.0 on loopback

  --port N           the port (default: a free one)
  --clients N        how many clients exist at the start (default: 5)
  --tls              HTTPS with a certificate of its own root
  --ca-file PATH     where to write that root (default: wg-easy-sim-ca.pem)
  --auth-cost-ms N   what checking a password takes (default: 0)

Ends when stdin closes, or on SIGTERM or SIGINT.";

struct Options {
    settings: Settings,
    ca_file: PathBuf,
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let settings = Settings {
        clients: 5,
        ..Settings::default()
    };
    let mut options = Options {
        settings,
        ca_file: PathBuf::from("wg-easy-sim-ca.pem"),
    };
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{argument} needs a value"))
        };
        let number = |text: String| {
            text.parse::<u64>()
                .map_err(|_| format!("{text:?} is not a number"))
        };
        match argument.as_str() {
            "--port" => {
                options.settings.port = u16::try_from(number(value()?)?)
                    .map_err(|_| "there is no such port".to_owned())?;
            }
            "--clients" => {
                options.settings.clients = usize::try_from(number(value()?)?).unwrap_or(usize::MAX)
            }
            "--tls" => options.settings.tls = Tls::Valid,
            "--ca-file" => options.ca_file = PathBuf::from(value()?),
            "--auth-cost-ms" => {
                options.settings.auth_cost = Duration::from_millis(number(value()?)?)
            }
            "--help" => return Err(HELP.to_owned()),
            other => return Err(format!("unknown argument {other:?}\n\n{HELP}")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::FAILURE;
        }
    };
    let account = options.settings.account.clone();
    let tls = options.settings.tls != Tls::Off;
    let sim = Simulator::start(options.settings);
    println!("URL       {}", sim.url());
    println!("user name {}", account.username);
    println!("password  {}", account.password);
    if tls {
        if let Err(error) = std::fs::write(&options.ca_file, sim.ca_pem()) {
            eprintln!("cannot write {}: {error}", options.ca_file.display());
            return ExitCode::FAILURE;
        }
        println!("CA file   {}", options.ca_file.display());
    }
    // A signal ends the process by itself; what is left to wait for is the end of stdin.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    ExitCode::SUCCESS
}
