//! What went wrong between here and wg-easy, and what the operator can do about it.

use std::fmt;
use std::time::Duration;

use super::tls::TlsFault;

mod refusal;
mod upstream;

pub use refusal::{NoSession, Refusal};
pub use upstream::UpstreamText;
pub(super) use upstream::{is_html, status_message};

/// Why a call of the wg-easy API did not succeed.
///
/// Its text is made to be acted on. It may name the host and port of the instance, never a path, a
/// query or a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The login was refused, just now.
    Refused(Refusal),
    /// It was refused a moment ago, which is remembered: nothing was sent.
    RefusedFromMemory {
        /// Why it was.
        refusal: Refusal,
        /// When the next call will be sent.
        next_try_in: Duration,
    },
    /// 403: wg-easy accepts no passwords.
    PasswordLoginOff,
    /// Nothing but a session is allowed, and there is none to be had.
    NoSession(NoSession),
    /// The login did not come to an answer, and so the request itself was not sent.
    NotLoggedIn(Box<Error>),
    /// 403: the account may not do this, or may not log in like this.
    Forbidden,
    /// 404, in wg-easy's own words.
    NotFound,
    /// 404, in somebody else's: there is no wg-easy behind this address, or not at this moment.
    NoSuchPath,
    /// 422: the client's expiry date is in the past, so wg-easy does not enable it.
    ExpiredClient,
    /// Another status from 400 to 499.
    BadRequest {
        /// The HTTP status.
        status: u16,
        /// What the instance said.
        said: UpstreamText,
    },
    /// A status from 500 to 599.
    ServerError {
        /// The HTTP status.
        status: u16,
        /// What the instance said.
        said: UpstreamText,
    },
    /// A status from 300 to 399. It was not followed.
    Redirect,
    /// No complete answer in time.
    Timeout {
        /// Where.
        at: Authority,
        /// What took too long.
        phase: Phase,
    },
    /// The host name has no address.
    Dns {
        /// Where.
        at: Authority,
    },
    /// There is no TCP connection.
    Connect {
        /// Where.
        at: Authority,
        /// Why.
        fault: ConnectFault,
    },
    /// There is no TLS connection.
    Tls {
        /// Where.
        at: Authority,
        /// Why.
        fault: TlsFault,
    },
    /// The success body is larger than is accepted; it was not read to its end.
    BodyTooLarge {
        /// The most bytes that are accepted.
        limit: usize,
    },
    /// The connection ended before the answer was complete.
    BrokenOff {
        /// Where.
        at: Authority,
    },
    /// What answers does not speak HTTP.
    NotHttp {
        /// Where.
        at: Authority,
    },
    /// A success that is not what wg-easy answers: a web page, say.
    NotAnApi,
    /// This server is about to end and sends nothing more.
    Stopping,
}

/// The part of an exchange that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Name resolution, TCP and TLS. The request was not sent.
    Connecting,
    /// Waiting for the response headers.
    Headers,
    /// Reading the body.
    Body,
}

/// Why there is no TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectFault {
    /// Nothing listens there.
    Refused,
    /// No route to the host or its network.
    Unreachable,
    /// This machine does not allow it (a sandbox or a firewall).
    NotPermitted,
    /// Something else.
    Other,
}

impl Error {
    /// Whether a write that ended so may have been applied all the same. wg-easy writes its database
    /// before it does what can fail, so only what ended before the request was sent, or was turned
    /// down with a 4xx, is certain.
    pub fn may_have_been_applied(&self) -> bool {
        match self {
            Self::ServerError { .. }
            | Self::Timeout {
                phase: Phase::Headers | Phase::Body,
                ..
            }
            | Self::BodyTooLarge { .. }
            | Self::BrokenOff { .. }
            | Self::NotHttp { .. }
            | Self::NotAnApi => true,
            Self::Refused(_)
            | Self::RefusedFromMemory { .. }
            | Self::PasswordLoginOff
            | Self::NoSession(_)
            | Self::NotLoggedIn(_)
            | Self::Forbidden
            | Self::NotFound
            | Self::NoSuchPath
            | Self::ExpiredClient
            | Self::BadRequest { .. }
            // wg-easy redirects no API route; something before it did, and kept the request.
            | Self::Redirect
            | Self::Timeout {
                phase: Phase::Connecting,
                ..
            }
            | Self::Dns { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Stopping => false,
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::RefusedFromMemory {
                refusal,
                next_try_in,
            } => write!(
                f,
                "{refusal} This is the remembered answer of a moment ago, and nothing was sent; \
                 the next try is possible in {} s.",
                // Rounded up: who waits as long as this says must not be refused again.
                next_try_in.as_millis().div_ceil(1000).max(1)
            ),
            Self::PasswordLoginOff => f.write_str(
                "wg-easy accepts no passwords (HTTP 403): password login is switched off. Switch it on \
                 again (DISABLE_PASSWORD_AUTH in wg-easy's environment); this server has no other way \
                 to log in.",
            ),
            Self::NoSession(why) => why.fmt(f),
            Self::NotLoggedIn(error) => write!(
                f,
                "The login did not come to an answer, so the request itself was not sent. {error}"
            ),
            Self::Forbidden => f.write_str(
                "wg-easy knows the account but does not let it do this (HTTP 403): the user is \
                 disabled, or password login is switched off, or the user is not an admin. Look at the \
                 user in wg-easy's admin panel, or configure another one.",
            ),
            Self::NotFound => f.write_str(
                "wg-easy does not have that (HTTP 404). Check the client id with list_clients. If \
                 every call ends like this, WG_EASY_URL points to something else than wg-easy v15.",
            ),
            Self::NoSuchPath => f.write_str(
                "What answers at WG_EASY_URL does not know wg-easy's API (HTTP 404), and the answer is not \
                 wg-easy's own. Check that wg-easy is running, the path prefix of WG_EASY_URL, and the \
                 proxy before it if there is one.",
            ),
            Self::ExpiredClient => f.write_str(
                "wg-easy does not enable this client because its expiry date has passed (HTTP 422). \
                 Set a later date, or none, with update_client first.",
            ),
            Self::BadRequest { status, said } => write!(
                f,
                "wg-easy did not accept the request (HTTP {status}){said}. Correct the values and try \
                 again; if there is nothing to correct, check that the instance is wg-easy v15 and \
                 that user name and password are not empty.",
            ),
            Self::ServerError {
                status: status @ 502..=504,
                said,
            } => write!(
                f,
                "A proxy before wg-easy had no answer from it (HTTP {status}){said}. Check that wg-easy \
                 is running, and the log of the proxy."
            ),
            Self::ServerError { status, said } => write!(
                f,
                "wg-easy failed to do this (HTTP {status}){said}. The cause is in wg-easy's own log. \
                 Check that its tunnel is up and that no client has an invalid Server Allowed IPs or \
                 endpoint value."
            ),
            Self::Redirect => f.write_str(
                "What answers at WG_EASY_URL redirects instead of answering, so wg-easy's API is \
                 probably not below that URL. Redirects are not followed. Check the scheme, the host \
                 and the path prefix: they must be those of wg-easy's web UI.",
            ),
            Self::Timeout { at, phase } => match phase {
                Phase::Connecting => write!(
                    f,
                    "Connecting to {at} took too long. Check that the host is up, that the port is \
                     right and that no firewall drops the packets."
                ),
                Phase::Headers => write!(
                    f,
                    "{at} took the request but did not answer in time. Check the load and the log of \
                     wg-easy."
                ),
                Phase::Body => write!(
                    f,
                    "{at} began to answer but did not finish in time. Check the network between here \
                     and there, and the load of wg-easy."
                ),
            },
            Self::Dns { at } => write!(
                f,
                "The host name of {at} has no address. Check WG_EASY_URL, and that name resolution \
                 works where this server runs (in a container: its network)."
            ),
            Self::Connect { at, fault } => match fault {
                ConnectFault::Refused => write!(
                    f,
                    "{at} refuses the connection: nothing listens there. Check the port in \
                     WG_EASY_URL and that wg-easy is running; from inside a container, localhost is \
                     the container itself."
                ),
                ConnectFault::Unreachable => write!(
                    f,
                    "{at} cannot be reached: there is no route to it. Check the address in \
                     WG_EASY_URL and the network where this server runs."
                ),
                ConnectFault::NotPermitted => write!(
                    f,
                    "The system does not permit a connection to {at}. Check the firewall and the \
                     sandbox in which this server runs."
                ),
                ConnectFault::Other => write!(
                    f,
                    "There is no connection to {at}. Check WG_EASY_URL and the network where this \
                     server runs."
                ),
            },
            Self::Tls { at, fault } => write!(f, "There is no TLS connection to {at}: {fault}"),
            Self::BodyTooLarge { limit } => write!(
                f,
                "The answer is larger than {} MiB and was not read. Check that WG_EASY_URL points to \
                 wg-easy; a list of some 10,000 clients is as large.",
                limit >> 20
            ),
            Self::BrokenOff { at } => write!(
                f,
                "{at} ended the connection before the answer was complete. Check the log of wg-easy, \
                 and of the proxy before it if there is one."
            ),
            Self::NotHttp { at } => write!(
                f,
                "What answers at {at} does not speak HTTP. Check the scheme and the port in \
                 WG_EASY_URL: the web UI's port, not the one of WireGuard."
            ),
            Self::NotAnApi => f.write_str(
                "The answer is not what wg-easy's API sends. Check that WG_EASY_URL points to wg-easy \
                 v15 and that no login page or other proxy answers in its place.",
            ),
            Self::Stopping => f.write_str(
                "This server is stopping and sends nothing more to wg-easy. Start it again.",
            ),
        }
    }
}

/// The host and port of the instance, which errors may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authority(std::sync::Arc<str>);

impl Authority {
    /// `host` is in the spelling of a URL.
    pub(super) fn new(host: &str, port: u16) -> Self {
        Self(format!("{host}:{port}").into())
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
