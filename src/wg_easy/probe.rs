//! Steps of an exchange one at a time, for telling a person which of them fails.
//!
//! The client itself reports what an operator can act on; it cannot say what wg-easy keeps from it.
//! This asks where wg-easy says more: its login route names causes that look the same elsewhere, and
//! a certificate that is not accepted can be looked at all the same.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderValue, SET_COOKIE};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::SetupError;
use super::error::{Authority, ConnectFault, Error, Phase};
use super::tls;
use crate::config::{BaseUrl, Connection};

mod chain;

pub use chain::{Certificate, Presented};

/// How long a step may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// The most that is read of an answer.
const ENOUGH: usize = 64 << 10;

/// The login routes of wg-easy 15: today's, and that of its first releases.
const LOGIN_ROUTES: [&str; 2] = ["/api/auth/password", "/api/session"];

/// A route that only an admin may read.
const ADMIN_ROUTE: &str = "/api/admin/general";

/// One instance, step by step. Nothing is sent before a step is taken.
pub struct Probe {
    url: BaseUrl,
    username: SecretString,
    password: SecretString,
    at: Authority,
    client: Client,
    recorder: chain::Recorder,
}

/// What wg-easy says to the login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Login {
    /// It is the login of an admin.
    Admin,
    /// It is the login of somebody else.
    NotAdmin,
    /// There is no such user, or it has another password.
    Wrong,
    /// Either that, or the account has a second factor: a release without a login route does not say
    /// which.
    WrongOrSecondFactor,
    /// The password is right, and a second factor is wanted.
    SecondFactor,
    /// The password is right, and the user is disabled.
    Disabled,
    /// Nobody can log in with a password.
    PasswordsOff,
    /// wg-easy answered something else.
    Unexpected(u16),
}

impl Probe {
    /// Prepares the steps. For `https` this reads the platform's roots.
    pub fn new(connection: &Connection) -> Result<Self, SetupError> {
        let url = connection.url.clone();
        let client = Client::builder()
            .tls_backend_preconfigured(tls::client_config(&connection.tls, url.is_https())?)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .http1_only()
            .timeout(PATIENCE)
            .build()
            .map_err(|_| SetupError::Tls)?;
        Ok(Self {
            username: connection.credentials.username.clone(),
            password: connection.credentials.password.clone(),
            at: Authority::new(url.host(), url.port()),
            client,
            recorder: chain::Recorder::new(&connection.tls, url.is_https()),
            url,
        })
    }

    /// The addresses of the host.
    pub async fn resolve(&self) -> Result<Vec<SocketAddr>, Error> {
        let host = self.url.host();
        let host = host.strip_prefix('[').unwrap_or(host);
        let host = host.strip_suffix(']').unwrap_or(host).to_owned();
        let port = self.url.port();
        // A thread of its own, so that a resolver that does not answer can be left behind.
        let looking = tokio::task::spawn_blocking(move || (host, port).to_socket_addrs());
        let at = self.at.clone();
        match tokio::time::timeout(PATIENCE, looking).await {
            Ok(Ok(Ok(addresses))) => match addresses.collect::<Vec<_>>() {
                addresses if addresses.is_empty() => Err(Error::Dns { at }),
                addresses => Ok(addresses),
            },
            _ => Err(Error::Dns { at }),
        }
    }

    /// The first of the addresses that takes a connection.
    pub async fn connect(&self, addresses: &[SocketAddr]) -> Result<SocketAddr, Error> {
        let mut failed = Err(Error::Dns {
            at: self.at.clone(),
        });
        for address in addresses {
            let connecting = tokio::net::TcpStream::connect(address);
            match tokio::time::timeout(PATIENCE, connecting).await {
                Ok(Ok(_)) => return Ok(*address),
                Ok(Err(error)) => failed = Err(self.no_connection(error.kind())),
                Err(_) => {
                    failed = Err(Error::Timeout {
                        at: self.at.clone(),
                        phase: Phase::Connecting,
                    });
                }
            }
        }
        failed
    }

    fn no_connection(&self, kind: io::ErrorKind) -> Error {
        use io::ErrorKind as K;
        let fault = match kind {
            K::ConnectionRefused => ConnectFault::Refused,
            K::HostUnreachable | K::NetworkUnreachable | K::NetworkDown => {
                ConnectFault::Unreachable
            }
            K::PermissionDenied => ConnectFault::NotPermitted,
            _ => ConnectFault::Other,
        };
        let at = self.at.clone();
        Error::Connect { at, fault }
    }

    /// The certificates that are presented at an address, whether or not they would be accepted.
    /// `None` if there is no handshake. Nothing is sent after it.
    pub fn presented(&self, address: SocketAddr) -> Option<Presented> {
        self.recorder.handshake(address, self.url.host(), PATIENCE)
    }

    /// Logs in once: on a login route, which says most; where there is none, or where it does not
    /// take a login as short as this one, on a request.
    pub async fn login(&self) -> Result<Login, Error> {
        for route in LOGIN_ROUTES {
            let answer = self.try_route(route).await?;
            match (answer.status.as_u16(), answer.word("status").as_deref()) {
                (404, _) => {}
                // It wants twelve characters of a password and two of a name, and said so before it
                // looked at either.
                (400, _) => break,
                (200, Some("success")) => return self.is_admin(answer.cookie).await,
                (200, Some("TOTP_REQUIRED")) => return Ok(Login::SecondFactor),
                _ => return Ok(answer.refused(Login::Wrong)),
            }
        }
        let request = self.client.get(self.url.join(ADMIN_ROUTE));
        let answer = self
            .send(request.header(AUTHORIZATION, self.basic()))
            .await?;
        Ok(match answer.status.as_u16() {
            200 => Login::Admin,
            _ => answer.refused(Login::WrongOrSecondFactor),
        })
    }

    async fn try_route(&self, route: &str) -> Result<Answer, Error> {
        let body = json!({
            "username": self.username.expose_secret(),
            "password": self.password.expose_secret(),
            "remember": false,
        });
        let request = self.client.post(self.url.join(route));
        let request = request.header(CONTENT_TYPE, "application/json");
        self.send(request.body(body.to_string())).await
    }

    async fn is_admin(&self, cookie: Option<HeaderValue>) -> Result<Login, Error> {
        let mut request = self.client.get(self.url.join(ADMIN_ROUTE));
        if let Some(cookie) = cookie {
            request = request.header(COOKIE, cookie);
        }
        let answer = self.send(request).await?;
        Ok(match answer.status.as_u16() {
            200 => Login::Admin,
            status => match answer.refused(Login::Unexpected(status)) {
                // Only the login that was good a moment ago can be meant.
                Login::Wrong | Login::WrongOrSecondFactor => Login::Unexpected(status),
                other => other,
            },
        })
    }

    fn basic(&self) -> HeaderValue {
        let pair = Zeroizing::new(format!(
            "{}:{}",
            self.username.expose_secret(),
            self.password.expose_secret()
        ));
        let value = Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes())));
        // Base64 is made of characters that a header may hold.
        let mut value =
            HeaderValue::from_str(&value).unwrap_or_else(|_| HeaderValue::from_static(""));
        value.set_sensitive(true);
        value
    }

    async fn send(&self, request: RequestBuilder) -> Result<Answer, Error> {
        let at = || self.at.clone();
        let request = request.header(ACCEPT, "application/json");
        match request.send().await {
            Ok(response) => Ok(Answer::read(response).await),
            Err(error) if error.is_timeout() => Err(Error::Timeout {
                at: at(),
                phase: Phase::Headers,
            }),
            Err(_) => Err(Error::BrokenOff { at: at() }),
        }
    }
}

/// What came back.
struct Answer {
    status: StatusCode,
    body: Value,
    cookie: Option<HeaderValue>,
}

impl Answer {
    async fn read(mut response: Response) -> Self {
        let cookie = response.headers().get(SET_COOKIE).and_then(|line| {
            let pair = line.to_str().ok()?.split(';').next()?;
            let mut cookie = HeaderValue::from_str(pair).ok()?;
            cookie.set_sensitive(true);
            Some(cookie)
        });
        let status = response.status();
        let mut body = Vec::new();
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = ENOUGH - body.len();
            body.extend(chunk.iter().take(room));
            if chunk.len() >= room {
                break;
            }
        }
        Self {
            status,
            body: serde_json::from_slice(&body).unwrap_or_default(),
            cookie,
        }
    }

    fn word(&self, field: &str) -> Option<String> {
        Some(self.body.get(field)?.as_str()?.to_owned())
    }

    /// What a refusal means. These words of wg-easy's are not translated; a proxy may have others.
    fn refused(&self, unknown: Login) -> Login {
        let why = self.word("statusMessage").unwrap_or_default();
        match (self.status.as_u16(), why.as_str()) {
            (401 | 403, "User disabled" | "User is disabled") => Login::Disabled,
            (403, "Password authentication is disabled") => Login::PasswordsOff,
            (403, "Permission denied") => Login::NotAdmin,
            (401, _) => unknown,
            (status, _) => Login::Unexpected(status),
        }
    }
}
