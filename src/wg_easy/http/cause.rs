//! Why no response came, out of the errors of three libraries.

use std::error::Error as StdError;
use std::io;

use crate::wg_easy::error::{Authority, ConnectFault, Error, Phase};
use crate::wg_easy::tls::TlsFault;

/// Why no response came. Nothing of the HTTP library's error is kept: its text has the URL in it.
pub(super) fn cause(error: &reqwest::Error, at: &Authority) -> Error {
    let at = at.clone();
    let fault = causes::<rustls::Error>(error).next();
    if !error.is_connect() {
        return match (
            fault.map(TlsFault::of),
            causes::<hyper::Error>(error).next(),
        ) {
            // In TLS 1.3 this comes after the handshake, and before the request is looked at.
            (Some(fault @ TlsFault::ClientCertificateWanted), _) => Error::Tls { at, fault },
            (None, Some(hyper)) if hyper.is_parse() => Error::NotHttp { at },
            _ => Error::BrokenOff { at },
        };
    }
    if error.is_timeout() {
        return Error::Timeout {
            at,
            phase: Phase::Connecting,
        };
    }
    if error.is_dns() {
        return Error::Dns { at };
    }
    if let Some(fault) = fault {
        let fault = TlsFault::of(fault);
        return Error::Tls { at, fault };
    }
    use io::ErrorKind as K;
    // The innermost one has the system's word for it; those around it say `Other`.
    let fault = match causes::<io::Error>(error).last().map(io::Error::kind) {
        Some(K::ConnectionRefused) => ConnectFault::Refused,
        Some(K::HostUnreachable | K::NetworkUnreachable | K::NetworkDown) => {
            ConnectFault::Unreachable
        }
        Some(K::PermissionDenied) => ConnectFault::NotPermitted,
        Some(K::TimedOut) => {
            return Error::Timeout {
                at,
                phase: Phase::Connecting,
            };
        }
        // Connecting over TCP alone does not end like this.
        Some(K::UnexpectedEof | K::ConnectionReset | K::BrokenPipe) => {
            let fault = TlsFault::Ended;
            return Error::Tls { at, fault };
        }
        _ => ConnectFault::Other,
    };
    Error::Connect { at, fault }
}

/// The causes of an error that are of type `T`, outermost first. An [`io::Error`] does not name what it
/// wraps as its source, so it is looked into.
fn causes<'a, T: StdError + 'static>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a T> {
    std::iter::successors(Some(error), |&error: &&'a (dyn StdError + 'static)| {
        let wrapped = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        match wrapped {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        }
    })
    .filter_map(|error| error.downcast_ref())
}
