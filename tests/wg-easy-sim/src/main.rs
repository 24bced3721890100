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

use wg_easy_sim::{Role, Settings, Simulator, Tls};

const HELP: &str = "\
wg-easy-sim: a simulated wg-easy 15.4.0 on loopback

  --port N           the port (default: a free one)
  --clients N        how many clients exist at the start (default: 5)
  --tls              HTTPS with a certificate of its own root
  --ca-file PATH     where to write that root (default: wg-easy-sim-ca.pem)
  --auth-cost-ms N   what checking a password takes (default: 0)

What can be wrong with an instance:

  --certificate KIND expired, not-yet-valid, wrong-name, self-signed or unknown-issuer;
                     or a good one that comes with-intermediate or with-unrelated
  --user KIND        disabled or no-admin
  --totp SECRET      two-factor authentication with this base32 secret
  --clock-ahead N    a clock that is N seconds ahead
  --no-passwords     password login switched off
  --prefix PATH      a proxy that has wg-easy below this path
  --release NAME     another release than v15.4.0

Ends when stdin closes, or on SIGTERM or SIGINT.";

struct Options {
    settings: Settings,
    ca_file: PathBuf,
    clock_ahead: Duration,
}

const CERTIFICATES: [(&str, Tls); 7] = [
    ("with-intermediate", Tls::WithIntermediate),
    ("with-unrelated", Tls::WithUnrelated),
    ("expired", Tls::Expired),
    ("not-yet-valid", Tls::NotYetValid),
    ("wrong-name", Tls::WrongName),
    ("self-signed", Tls::SelfSigned),
    ("unknown-issuer", Tls::UnknownIssuer),
];

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let settings = Settings {
        clients: 5,
        ..Settings::default()
    };
    let mut options = Options {
        settings,
        ca_file: PathBuf::from("wg-easy-sim-ca.pem"),
        clock_ahead: Duration::ZERO,
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
            "--certificate" => {
                let kind = value()?;
                let known = CERTIFICATES.iter().find(|(name, _)| *name == kind);
                let (_, tls) = known.ok_or("there is no such certificate")?;
                options.settings.tls = *tls;
            }
            "--user" => match value()?.as_str() {
                "disabled" => options.settings.account.disabled = true,
                "no-admin" => options.settings.account.role = Role::Client,
                _ => return Err("there is no such user".to_owned()),
            },
            "--totp" => options.settings.account.totp_secret = Some(value()?),
            "--clock-ahead" => options.clock_ahead = Duration::from_secs(number(value()?)?),
            "--no-passwords" => options.settings.password_login_disabled = true,
            "--prefix" => options.settings.prefix = value()?,
            "--release" => options.settings.version = value()?,
            other => return Err(format!("unknown argument {other:?}\n\n{HELP}")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--help") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
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
    sim.advance_clock(options.clock_ahead);
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
