//! What the operator asked for: parse, don't validate. A [`Config`] holds only values that are
//! already right.

mod credentials;
mod error;
mod reader;
mod tls;
mod totp;
mod url;
mod variables;

use std::fmt;

pub use credentials::Credentials;
pub use error::{ConfigError, FileProblem, Warning, setup_instructions};
pub use tls::{Pin, TlsSettings};
pub use totp::decode_base32;
pub use url::{BaseUrl, UrlProblem};
pub use variables::{VARIABLES, Variable};

use secrecy::{ExposeSecret, SecretString};

use crate::diagnostics::{Format, Level, LogSettings};
use crate::environment::Environment;
use crate::tools::filter::{self, Entry};
use reader::Reader;
use variables::{
    ALLOW_TOOLS, AUTH, DENY_TOOLS, ELICITATION, LOG, LOG_FORMAT, PASSWORD, PASSWORD_FILE,
    READ_ONLY, REQUIRE_DIALOG, TOTP_SECRET, TOTP_SECRET_FILE, URL, USERNAME, USERNAME_FILE,
};

/// Everything that the environment decides.
pub struct Config {
    /// Where wg-easy is, or what is missing to know it.
    pub connection: Setup,
    /// The tools to register, in the order of the catalogue.
    pub tools: Vec<&'static str>,
    /// Whether only tools that read are registered; `tools` takes it into account already.
    pub read_only: bool,
    /// Whether a person is asked by a dialog where the client can show one.
    pub elicitation: bool,
    /// Whether a guarded tool is refused where no dialog can be shown.
    pub require_dialog: bool,
    /// What is said on stderr, and how.
    pub log: LogSettings,
}

/// Whether there is enough to reach wg-easy with.
#[expect(
    clippy::large_enum_variant,
    reason = "a process has one of it, and moves it once or twice"
)]
pub enum Setup {
    /// There is.
    Ready(Connection),
    /// There is not: the variables to set. The server starts all the same, so that its tools can be
    /// read, and every call answers with [`setup_instructions`].
    Missing(Vec<&'static str>),
}

/// Where wg-easy is and how to speak to it.
pub struct Connection {
    /// The base of every request.
    pub url: BaseUrl,
    /// The admin login.
    pub credentials: Credentials,
    /// What makes a certificate acceptable.
    pub tls: TlsSettings,
    /// How a request is authenticated.
    pub auth: AuthMode,
}

/// How a request to wg-easy is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AuthMode {
    /// A session where wg-easy offers one, Basic otherwise.
    #[default]
    Auto,
    /// A session cookie only.
    Session,
    /// Basic credentials on every request.
    Basic,
}

impl Config {
    /// Reads every variable, whether or not another one is missing; `catalogue` holds the tools that
    /// the lists may name. The environment is used up, so that the secrets in it are wiped.
    pub fn parse(
        environment: Environment,
        catalogue: &[Entry],
    ) -> Result<(Self, Vec<Warning>), ConfigError> {
        variables::refuse_unknown(&environment)?;
        let reader = Reader::new(&environment);
        let mut warnings = Vec::new();

        let log = log_settings(&environment)?;
        let connection = connection(&reader, &mut warnings)?;
        let read_only = reader.restriction(READ_ONLY)?;
        let tools = filter::select(
            catalogue,
            reader.text(ALLOW_TOOLS)?,
            reader.text(DENY_TOOLS)?,
            read_only,
        )
        .map_err(ConfigError::Tools)?;

        let elicitation = elicitation(&reader)?;
        let require_dialog = reader.restriction(REQUIRE_DIALOG)?;
        if !elicitation {
            if require_dialog {
                return Err(ConfigError::DialogRequiredAndOff);
            }
            warnings.push(Warning::DialogOff);
        }

        let config = Self {
            connection,
            tools,
            read_only,
            elicitation,
            require_dialog,
            log,
        };
        Ok((config, warnings))
    }
}

/// The settings of the diagnostics alone, so that what is wrong with the other variables can be said
/// in the form that was asked for.
pub fn log_settings(environment: &Environment) -> Result<LogSettings, ConfigError> {
    let reader = Reader::new(environment);
    Ok(LogSettings {
        level: reader.word(
            LOG,
            &[
                ("error", Level::Error),
                ("warn", Level::Warn),
                ("info", Level::Info),
                ("debug", Level::Debug),
            ],
        )?,
        format: reader.word(
            LOG_FORMAT,
            &[("text", Format::Text), ("json", Format::Json)],
        )?,
    })
}

fn connection(reader: &Reader<'_>, warnings: &mut Vec<Warning>) -> Result<Setup, ConfigError> {
    let url = reader
        .text(URL)?
        .map(BaseUrl::parse)
        .transpose()
        .map_err(ConfigError::Url)?;
    let username = reader.secret(USERNAME, USERNAME_FILE)?;
    let password = reader.secret(PASSWORD, PASSWORD_FILE)?;
    let totp = match reader.secret(TOTP_SECRET, TOTP_SECRET_FILE)? {
        Some(secret) => Some(totp::normalise(&secret).ok_or(ConfigError::TotpSecret)?),
        None => None,
    };
    let auth = reader.word(
        AUTH,
        &[
            ("auto", AuthMode::Auto),
            ("session", AuthMode::Session),
            ("basic", AuthMode::Basic),
        ],
    )?;
    let has_colon = |name: &SecretString| name.expose_secret().contains(':');
    if username.as_ref().is_some_and(has_colon) {
        match auth {
            AuthMode::Basic => return Err(ConfigError::ColonInUsername),
            AuthMode::Auto => warnings.push(Warning::ColonInUsername),
            AuthMode::Session => {}
        }
    }
    let plain_http = url.as_ref().is_some_and(|(url, _)| !url.is_https());
    let tls = tls::settings(reader, plain_http, warnings)?;

    if auth == AuthMode::Basic && totp.is_some() {
        warnings.push(Warning::SecondFactorUnused);
    }
    if let Some((url, dropped)) = &url {
        if *dropped {
            warnings.push(Warning::QueryDropped);
        }
        if plain_http && !url.is_loopback() {
            warnings.push(Warning::PlainHttp);
        }
    }
    match (url, username, password) {
        (Some((url, _)), Some(username), Some(password)) => Ok(Setup::Ready(Connection {
            url,
            credentials: Credentials {
                username,
                password,
                totp,
            },
            tls,
            auth,
        })),
        (url, username, password) => {
            let missing: Vec<_> = [
                (URL, url.is_none()),
                (USERNAME, username.is_none()),
                (PASSWORD, password.is_none()),
            ]
            .into_iter()
            .filter_map(|(name, is_missing)| is_missing.then_some(name))
            .collect();
            warnings.push(Warning::Missing(missing.clone()));
            Ok(Setup::Missing(missing))
        }
    }
}

fn elicitation(reader: &Reader<'_>) -> Result<bool, ConfigError> {
    let Some(text) = reader.text(ELICITATION)? else {
        return Ok(true);
    };
    match text.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(ConfigError::elicitation(text)),
    }
}

impl Setup {
    /// The TCP port that is connected to, if any is.
    pub fn port(&self) -> Option<u16> {
        match self {
            Self::Ready(connection) => Some(connection.url.port()),
            Self::Missing(_) => None,
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").finish_non_exhaustive()
    }
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(connection) => f.debug_tuple("Ready").field(connection).finish(),
            Self::Missing(names) => f.debug_tuple("Missing").field(names).finish(),
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
