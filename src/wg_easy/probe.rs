//! Steps towards a connection one at a time, for telling a person which of them fails.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::time::Duration;

use super::error::{Authority, ConnectFault, Error, Phase};
use super::tls;
use crate::config::{BaseUrl, Connection};

mod chain;

pub use chain::{Certificate, Presented};

/// How long a step may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// One instance, step by step. Nothing is sent before a step is taken, and no login ever.
pub struct Probe {
    url: BaseUrl,
    at: Authority,
    recorder: chain::Recorder,
}

impl Probe {
    /// Prepares the steps. For `https` this reads the platform's roots.
    pub fn new(connection: &Connection) -> Self {
        let url = connection.url.clone();
        Self {
            at: Authority::new(url.host(), url.port()),
            recorder: chain::Recorder::new(&connection.tls, url.is_https()),
            url,
        }
    }

    /// The addresses of the host.
    pub async fn resolve(&self) -> Result<Vec<SocketAddr>, Error> {
        let host = without_brackets(self.url.host()).to_owned();
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
        let at = || self.at.clone();
        let mut failed = Err(Error::Dns { at: at() });
        for address in addresses {
            let connecting = tokio::net::TcpStream::connect(address);
            failed = match tokio::time::timeout(PATIENCE, connecting).await {
                Ok(Ok(_)) => return Ok(*address),
                Ok(Err(error)) => Err(Error::Connect {
                    at: at(),
                    fault: fault(error.kind()),
                }),
                Err(_) => Err(Error::Timeout {
                    at: at(),
                    phase: Phase::Connecting,
                }),
            };
        }
        failed
    }

    /// The certificates that are presented at an address, whether or not they would be accepted.
    /// `None` if there is no handshake. Nothing is sent after it.
    pub fn presented(&self, address: SocketAddr) -> Option<Presented> {
        let host = without_brackets(self.url.host());
        self.recorder.handshake(address, host, PATIENCE)
    }
}

/// A host as name resolution takes it: an IPv6 address stands in brackets in a URL alone.
fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host)
}

fn fault(kind: io::ErrorKind) -> ConnectFault {
    use io::ErrorKind as K;
    match kind {
        K::ConnectionRefused => ConnectFault::Refused,
        K::HostUnreachable | K::NetworkUnreachable | K::NetworkDown => ConnectFault::Unreachable,
        K::PermissionDenied => ConnectFault::NotPermitted,
        _ => ConnectFault::Other,
    }
}
