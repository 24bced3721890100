//! `wg-easy-mcp check`: tells a person, step by step, whether the set-up works, and what to do where
//! it does not.
//!
//! It runs under the sandbox of the server, takes each step of a connection by itself, and logs in
//! once.

mod finding;
mod login;
mod version;

pub use finding::Findings;

use jiff::Timestamp;

use crate::config::{Config, ConfigError, Connection, Setup, Warning, setup_instructions};
use crate::sandbox::{Plan, Report, State};
use crate::wg_easy::probe::{Certificate, Presented, Probe};
use crate::wg_easy::{Body, Error, SetupError, WgEasy};

const CONFIGURATION: &str = "configuration";
const DNS: &str = "dns";
const TCP: &str = "tcp";
const TLS: &str = "tls";
const PINS: &str = "pins";
const VERSION: &str = "version";
const LOGIN: &str = "login";
const TOOLS: &str = "tools";
const QUESTIONS: &str = "questions";

/// Why nothing is looked at that depends on the configuration.
const WITHOUT_CONFIGURATION: &str = "the configuration has to be right first";

/// A certificate that expires sooner than this is worth a word.
const SOON_DAYS: i64 = 14;

/// A check that could begin: all that it reads from files has been read.
pub struct Check {
    findings: Findings,
    instance: Option<Instance>,
    after: Findings,
}

/// What there is to connect to.
struct Instance {
    probe: Probe,
    wg_easy: WgEasy,
    host: String,
    port: u16,
    encrypted: bool,
    validated: bool,
    informant: Option<WgEasy>,
}

impl Check {
    /// Looks at the configuration. Nothing is sent.
    pub fn prepare(parsed: Result<(Config, Vec<Warning>), ConfigError>) -> Self {
        let (mut findings, mut after) = (Findings::default(), Findings::default());
        let instance = match parsed {
            Ok((config, warnings)) => {
                let instance = configuration(&config, &mut findings);
                for warning in warnings {
                    // These two have a line of their own.
                    if !matches!(warning, Warning::Missing(_) | Warning::DialogOff) {
                        findings.warn_as(CONFIGURATION, &warning.to_string());
                    }
                }
                tools(&config, &mut after);
                instance
            }
            Err(error) => {
                findings.fail_as(CONFIGURATION, &error.to_string());
                after.skip(&[TOOLS, QUESTIONS], WITHOUT_CONFIGURATION);
                None
            }
        };
        Self {
            findings,
            instance,
            after,
        }
    }

    /// What the check still has to be able to do.
    pub fn plan(&self) -> Plan {
        Plan {
            port: self.instance.as_ref().map(|instance| instance.port),
        }
    }

    /// Takes the steps. `report` is of the sandbox in which it does so.
    pub fn run(self, report: &Report) -> Findings {
        let mut findings = self.findings;
        match (&self.instance, runtime()) {
            (Some(instance), Ok(runtime)) => {
                runtime.block_on(instance.steps(&mut findings));
                // A resolver may still be waiting for an answer in a thread.
                runtime.shutdown_background();
            }
            (Some(_), Err(error)) => findings.fail(
                TCP,
                format!(
                    "the operating system gives no event loop ({})",
                    error.kind()
                ),
                "See that the process may open files and pipes.",
            ),
            (None, _) => findings.skip(
                &[DNS, TCP, TLS, PINS, VERSION, LOGIN],
                WITHOUT_CONFIGURATION,
            ),
        }
        findings.extend(self.after);
        protections(report, &mut findings);
        findings
    }
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

fn configuration(config: &Config, findings: &mut Findings) -> Option<Instance> {
    let connection = match &config.connection {
        Setup::Ready(connection) => connection,
        Setup::Missing(names) => {
            findings.fail_as(CONFIGURATION, &setup_instructions(names));
            return None;
        }
    };
    match Instance::new(connection) {
        Ok(instance) => {
            findings.ok(
                CONFIGURATION,
                format!(
                    "every variable is understood; wg-easy is at {}",
                    connection.url.origin()
                ),
            );
            Some(instance)
        }
        Err(error) => {
            findings.fail_as(CONFIGURATION, &error.to_string());
            None
        }
    }
}

fn tools(config: &Config, findings: &mut Findings) {
    let read_only = if config.read_only {
        "read-only mode: "
    } else {
        ""
    };
    findings.ok(
        TOOLS,
        format!(
            "{read_only}{} ({})",
            config.tools.len(),
            config.tools.join(", ")
        ),
    );
    match (config.elicitation, config.require_dialog) {
        (true, true) => findings.ok(
            QUESTIONS,
            "a person is asked by a dialog; where none can be shown, guarded tools are refused",
        ),
        (true, false) => findings.ok(
            QUESTIONS,
            "a person is asked by a dialog where the client can show one; elsewhere a second call with \
             a token is enough, which no person needs to have seen (WG_EASY_REQUIRE_DIALOG=true \
             refuses instead)",
        ),
        (false, _) => findings.warn_as(QUESTIONS, &Warning::DialogOff.to_string()),
    }
}

fn protections(report: &Report, findings: &mut Findings) {
    for protection in report.protections() {
        let name = protection.name;
        match &protection.state {
            State::InForce(None) => findings.ok(name, "in force"),
            State::InForce(Some(more)) => findings.ok(name, format!("in force, {more}")),
            State::Partly(but) => findings.warn(
                name,
                format!("in force in part: {but}"),
                "A newer kernel has the rest; the server works without.",
            ),
            State::Unavailable(why) => findings.warn(
                name,
                format!("not in force: {why}"),
                "The server works without. Use a kernel that has it, or allow it in the container's \
                 seccomp profile.",
            ),
        }
    }
}

impl Instance {
    fn new(connection: &Connection) -> Result<Self, SetupError> {
        Ok(Self {
            probe: Probe::new(connection),
            wg_easy: WgEasy::new(connection)?,
            host: connection.url.host().to_owned(),
            port: connection.url.port(),
            encrypted: connection.url.is_https(),
            validated: !connection.tls.insecure,
            informant: login::informant(connection)?,
        })
    }

    async fn steps(&self, findings: &mut Findings) {
        let addresses = match self.probe.resolve().await {
            Ok(addresses) => addresses,
            Err(error) => {
                findings.fail_as(DNS, &error.to_string());
                let rest = [TCP, TLS, PINS, VERSION, LOGIN];
                return findings.skip(&rest, "the host has no address");
            }
        };
        let list: Vec<_> = addresses.iter().map(|one| one.ip().to_string()).collect();
        let list = list.join(", ");
        match self.host.trim_matches(['[', ']']) == list {
            true => findings.ok(DNS, "the host is an address"),
            false => findings.ok(DNS, format!("{} is {list}", self.host)),
        }

        let address = match self.probe.connect(&addresses).await {
            Ok(address) => address,
            Err(error) => {
                findings.fail_as(TCP, &error.to_string());
                let rest = [TLS, PINS, VERSION, LOGIN];
                return findings.skip(&rest, "there is no connection");
            }
        };
        findings.ok(TCP, format!("{address} takes connections"));

        let presented = match self.encrypted {
            true => self.probe.presented(address),
            false => None,
        };
        let information = self.wg_easy.information().await;
        if !self.tls(presented, &information, findings) {
            return findings.skip(&[VERSION, LOGIN], "there is no TLS connection");
        }
        if !self.encrypted
            && version::is_maybe_tls(&information)
            && self.probe.presented(address).is_some()
        {
            findings.fail(
                VERSION,
                format!("what answers at {address} speaks TLS, and WG_EASY_URL begins with http:"),
                "Let WG_EASY_URL begin with https:, and run this check again to see about the \
                 certificate.",
            );
            return findings.skip(&[LOGIN], "wg-easy was not asked");
        }
        if !version::check(information, findings) {
            return findings.skip(&[LOGIN], "it is not certain that wg-easy 15 answers there");
        }
        login::check(self, findings).await;
    }

    /// Whether there is a connection. The verdict is that of the server's own connection; what is
    /// said about the certificate comes from a look at it that accepts any.
    fn tls(
        &self,
        presented: Option<Presented>,
        information: &Result<Body, Error>,
        findings: &mut Findings,
    ) -> bool {
        if !self.encrypted {
            findings.skip(&[TLS, PINS], "WG_EASY_URL is plain http");
            return true;
        }
        let is_good = !matches!(information, Err(Error::Tls { .. }));
        match information {
            Err(error) if !is_good => findings.fail_as(TLS, &error.to_string()),
            _ => self.certificate(presented.as_ref(), findings),
        }
        match presented {
            Some(presented) if !presented.chain.is_empty() => {
                let pins = pins(&presented.chain);
                match is_good {
                    true => findings.ok(PINS, pins),
                    false => findings.warn(
                        PINS,
                        format!("seen, not verified: {pins}"),
                        "Compare them with the server itself before you put one into WG_EASY_TLS_PINS.",
                    ),
                }
            }
            _ => findings.skip(&[PINS], "no certificate was seen"),
        }
        is_good
    }

    fn certificate(&self, presented: Option<&Presented>, findings: &mut Findings) {
        let how = match self.validated {
            true => "the certificate is valid",
            false => "the certificate was NOT validated",
        };
        let Some((presented, leaf)) =
            presented.and_then(|presented| Some((presented, presented.chain.first()?)))
        else {
            return findings.ok(TLS, how);
        };
        let mut detail = format!("{}, {how}", presented.version);
        if !leaf.names.is_empty() {
            detail = format!("{detail}, for {}", leaf.names);
        }
        let Some(expires) = leaf.expires.and_then(timestamp) else {
            return findings.ok(TLS, detail);
        };
        let days = (expires.as_second() - Timestamp::now().as_second()) / (24 * 60 * 60);
        detail = format!("{detail}, until {expires} ({days} days)");
        match (days < SOON_DAYS, self.validated) {
            (false, true) => findings.ok(TLS, detail),
            (true, _) => findings.warn(TLS, detail, "Renew the certificate."),
            (false, false) => findings.warn(
                TLS,
                detail,
                "Put the authority's certificate into WG_EASY_CA_FILE and unset WG_EASY_INSECURE_TLS, \
                 or set WG_EASY_TLS_PINS.",
            ),
        }
    }
}

fn timestamp(seconds: u64) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(seconds).ok()?).ok()
}

fn pins(chain: &[Certificate]) -> String {
    let pins = chain.iter().enumerate().map(|(position, certificate)| {
        let whose = match (position, certificate.is_root) {
            (0, _) => "the server's own key",
            (_, true) => "the root",
            (_, false) => "an issuer in between",
        };
        format!("{} ({whose})", certificate.pin)
    });
    pins.collect::<Vec<_>>().join(", ")
}
