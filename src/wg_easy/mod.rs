//! A client of the wg-easy v15 API. It knows nothing of MCP.
//!
//! - `http`: one exchange, its limits in time and size
//! - `tls`: which certificates are accepted
//! - `auth`: how a request is authenticated, and what is remembered of a refusal
//! - `error`: what went wrong and what to do about it
//! - `probe`: the same steps one at a time, for `check`
//! - `record`: typed readers of what wg-easy sends
//!
//! Invariant: a method that widens access takes an [`Approval`] by value. [`WgEasy::disable`] is the
//! one write that does not, because it only takes access away.

mod auth;
mod error;
mod http;
pub mod probe;
pub mod record;
mod tls;

use std::fmt;
use std::sync::Arc;

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::approval::Approval;
use crate::config::Connection;
use crate::untrusted::Untrusted;
use http::{Expect, Http, Limits, Request};

pub use http::Turn;

pub use error::{Authority, ConnectFault, Error, NoSession, Phase, Refusal, UpstreamText};
pub use tls::{TlsFault, pin_text, spki_pin};

/// The API of one wg-easy instance: one method an endpoint. Clones share connections, queues and what
/// is remembered of a refused login.
///
/// Dropping the future of a call cancels it. Reads are sent four at a time, writes one at a time.
#[derive(Clone)]
pub struct WgEasy {
    http: Arc<Http>,
}

/// The body of a success, as it came.
pub type Body = Untrusted<Vec<u8>>;

/// The number by which wg-easy knows a client: from 1 to 2^53 - 1, the integers that JSON carries
/// exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(u64);

/// Why there can be no connection at all; found before anything is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetupError {
    /// The configured roots have no certificate that can be one.
    NoUsableRoot,
    /// TLS cannot be set up.
    Tls,
}

/// Reads.
impl WgEasy {
    /// Prepares the connection; nothing is sent. For `https` this reads the platform's roots, so it
    /// comes before the file system is closed off.
    pub fn new(connection: &Connection) -> Result<Self, SetupError> {
        Self::with_limits(connection, Limits::default())
    }

    fn with_limits(connection: &Connection, limits: Limits) -> Result<Self, SetupError> {
        let http = Arc::new(Http::new(connection, limits)?);
        Ok(Self { http })
    }

    /// All clients: a JSON array, without keys.
    pub async fn clients(&self) -> Result<Body, Error> {
        self.json("/api/client".into()).await
    }

    /// One client: a JSON object, **with its private and pre-shared keys**.
    pub async fn client(&self, id: ClientId) -> Result<Body, Error> {
        self.json(format!("/api/client/{id}")).await
    }

    /// A client's WireGuard configuration, byte for byte. It contains the private key.
    pub async fn configuration(&self, id: ClientId) -> Result<Body, Error> {
        let path = format!("/api/client/{id}/configuration");
        let request = Request::get(path, Expect::Configuration);
        self.http.read(request).await.map(Untrusted::new)
    }

    /// The QR code of a client's configuration: an SVG image of about 250 KB. It contains the private
    /// key.
    pub async fn qrcode(&self, id: ClientId) -> Result<Body, Error> {
        let path = format!("/api/client/{id}/qrcode.svg");
        let request = Request::get(path, Expect::Svg);
        self.http.read(request).await.map(Untrusted::new)
    }

    /// wg-easy's version and the latest release. Asked without the login, since it needs none: so its
    /// answer says nothing about the login, and comes while a refused one is remembered.
    pub async fn information(&self) -> Result<Body, Error> {
        let request = Request {
            login: false,
            ..Request::get("/api/information".into(), Expect::Json)
        };
        self.http.read(request).await.map(Untrusted::new)
    }

    /// The instance's general settings.
    pub async fn general(&self) -> Result<Body, Error> {
        self.json("/api/admin/general".into()).await
    }

    /// The WireGuard interface's settings.
    pub async fn interface(&self) -> Result<Body, Error> {
        self.json("/api/admin/interface".into()).await
    }

    async fn json(&self, path: String) -> Result<Body, Error> {
        let request = Request::get(path, Expect::Json);
        self.http.read(request).await.map(Untrusted::new)
    }
}

/// Writes. Success means that wg-easy said so; it says so for an id that does not exist, too. What
/// failed may have been applied: see [`Error::may_have_been_applied`].
impl WgEasy {
    /// Waits for the turn to change something. Who holds it from before looking until after changing
    /// knows that no other change of this program came between the two.
    pub async fn turn(&self) -> Result<Turn, Error> {
        self.http.turn().await
    }

    /// Creates a client. `expires` goes to wg-easy verbatim; `None` is never. The answer is the new
    /// client's id, if wg-easy named one.
    pub async fn create(
        &self,
        name: &str,
        expires: Option<&str>,
        _: Approval,
        turn: &Turn,
    ) -> Result<Option<ClientId>, Error> {
        let body = json!({ "name": name, "expiresAt": expires });
        let answer = self
            .write(Method::POST, "/api/client".into(), Some(body), turn)
            .await?;
        Ok(answer.client_id.as_ref().and_then(ClientId::from_json))
    }

    /// Replaces a client's settings: `body` must have all of its fields, or wg-easy answers 400.
    pub async fn update(
        &self,
        id: ClientId,
        body: Map<String, Value>,
        _: Approval,
        turn: &Turn,
    ) -> Result<(), Error> {
        let path = format!("/api/client/{id}");
        let body = Some(Value::Object(body));
        self.write(Method::POST, path, body, turn).await.map(drop)
    }

    /// Lets a client connect.
    pub async fn enable(&self, id: ClientId, _: Approval, turn: &Turn) -> Result<(), Error> {
        let path = format!("/api/client/{id}/enable");
        self.write(Method::POST, path, None, turn).await.map(drop)
    }

    /// Keeps a client from connecting.
    pub async fn disable(&self, id: ClientId, turn: &Turn) -> Result<(), Error> {
        let path = format!("/api/client/{id}/disable");
        self.write(Method::POST, path, None, turn).await.map(drop)
    }

    /// Deletes a client and its keys.
    pub async fn delete(&self, id: ClientId, _: Approval, turn: &Turn) -> Result<(), Error> {
        let path = format!("/api/client/{id}");
        self.write(Method::DELETE, path, None, turn).await.map(drop)
    }

    /// Mints a link from which anybody can fetch the configuration once. wg-easy does not answer with
    /// it: it is in the client's row of the list.
    pub async fn one_time_link(&self, id: ClientId, _: Approval, turn: &Turn) -> Result<(), Error> {
        let path = format!("/api/client/{id}/generateOneTimeLink");
        self.write(Method::POST, path, None, turn).await.map(drop)
    }

    /// The URL from which anybody can fetch a configuration once.
    pub fn link_url(&self, token: &record::LinkToken) -> String {
        self.http.url(&Self::link_path(token)).into()
    }

    /// The path of that URL, below the web UI's.
    pub fn link_path(token: &record::LinkToken) -> String {
        format!("/cnf/{}", token.as_str())
    }

    /// Sends nothing more: reads, and changes that have not been sent, end with [`Error::Stopping`], now
    /// and later. Changes that have been sent go on.
    pub fn close(&self) {
        self.http.close();
    }

    async fn write(
        &self,
        method: Method,
        path: String,
        body: Option<Value>,
        turn: &Turn,
    ) -> Result<Done, Error> {
        let request = Request {
            method,
            body: body.map(|body| body.to_string().into()),
            ..Request::get(path, Expect::Json)
        };
        let body = self.http.write(request, turn).await?;
        match serde_json::from_slice::<Done>(&body) {
            Ok(done) if done.success => Ok(done),
            // It may have been done and said in a way that this client does not know.
            _ => Err(Error::NotAnApi),
        }
    }
}

/// wg-easy's answer to a write.
#[derive(Deserialize)]
struct Done {
    success: bool,
    #[serde(default, rename = "clientId")]
    client_id: Option<Value>,
}

impl Request {
    fn get(path: String, expect: Expect) -> Self {
        Self {
            method: Method::GET,
            path,
            body: None,
            expect,
            login: true,
        }
    }
}

impl fmt::Debug for WgEasy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WgEasy").finish_non_exhaustive()
    }
}

impl ClientId {
    /// The largest id: 2^53 - 1.
    pub const MAX: u64 = (1 << 53) - 1;

    /// `None` if `id` is 0 or above [`ClientId::MAX`].
    pub fn new(id: u64) -> Option<Self> {
        (1..=Self::MAX).contains(&id).then_some(Self(id))
    }

    /// The number.
    pub fn as_u64(self) -> u64 {
        self.0
    }

    fn from_json(id: &Value) -> Option<Self> {
        Self::new(id.as_u64()?)
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for SetupError {}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoUsableRoot => {
                "WG_EASY_CA_FILE has no certificate that can be a root. Put the PEM certificate of \
                 the authority into it."
            }
            Self::Tls => {
                "TLS cannot be set up. Check the TLS settings (WG_EASY_TLS_PINS, WG_EASY_CA_FILE)."
            }
        })
    }
}

#[cfg(test)]
mod tests;
