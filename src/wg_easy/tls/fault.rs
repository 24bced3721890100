//! What is wrong with a certificate or a handshake, and what to do about it.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, OtherError};
use webpki::EndEntityCert;

use super::{pin_of, pin_text};
use crate::untrusted::Line;

/// Why there is no TLS connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TlsFault {
    /// The certificate, or one of its issuers, has expired.
    Expired {
        /// The date after which it is not valid, RFC 3339 in UTC.
        not_after: String,
    },
    /// The certificate, or one of its issuers, is not valid yet.
    NotYetValid {
        /// The date from which it is valid, RFC 3339 in UTC.
        not_before: String,
    },
    /// The certificate is for another host.
    WrongHost {
        /// The names that it has, on one line; empty if it has none.
        names: String,
    },
    /// No chain leads to a trusted root.
    UnknownIssuer,
    /// The leaf is the certificate of an authority, which a server may not use: what a plain
    /// `openssl req -x509` makes.
    AuthorityAsServer,
    /// The certificate is for something else than servers.
    NotForServers,
    /// The chain is good, or needs not be, but no pin matches.
    PinMismatch {
        /// The leaf's pin, as `WG_EASY_TLS_PINS` takes it.
        seen: String,
    },
    /// The certificate cannot be parsed.
    Unreadable,
    /// The server wants a certificate from its clients.
    ClientCertificateWanted,
    /// What answers does not speak TLS.
    NotTls,
    /// The connection ended during the handshake.
    Ended,
    /// Both sides have no version, cipher suite or signature algorithm in common; or another cause,
    /// in the words of the TLS library.
    Other(String),
}

impl TlsFault {
    /// The cause of a failed handshake.
    pub(in crate::wg_easy) fn of(error: &rustls::Error) -> Self {
        use rustls::Error as E;
        match error {
            E::InvalidCertificate(CertificateError::Other(OtherError(ours))) => {
                match ours.downcast_ref::<Self>() {
                    Some(fault) => fault.clone(),
                    None => Self::Other(Line::new(&error.to_string()).as_str().to_owned()),
                }
            }
            E::InvalidMessage(_) => Self::NotTls,
            E::AlertReceived(AlertDescription::CertificateRequired) => {
                Self::ClientCertificateWanted
            }
            other => Self::Other(Line::new(&other.to_string()).as_str().to_owned()),
        }
    }

    pub(super) fn of_chain(error: &webpki::Error) -> Self {
        use webpki::Error as E;
        match error {
            E::CertExpired { not_after, .. } => Self::Expired {
                not_after: date(*not_after),
            },
            E::CertNotValidYet { not_before, .. } => Self::NotYetValid {
                not_before: date(*not_before),
            },
            E::CaUsedAsEndEntity => Self::AuthorityAsServer,
            E::RequiredEkuNotFoundContext(_) => Self::NotForServers,
            // A chain that is signed by somebody else with a trusted authority's name ends here, too.
            E::UnknownIssuer | E::InvalidSignatureForPublicKey => Self::UnknownIssuer,
            other => Self::Other(other.to_string()),
        }
    }

    pub(super) fn of_name(error: &webpki::Error, leaf: &EndEntityCert<'_>) -> Self {
        let webpki::Error::CertNotValidForName(context) = error else {
            return Self::Other(error.to_string());
        };
        let addresses = (context.presented.iter())
            .filter_map(|name| name.strip_prefix("IpAddress(")?.strip_suffix(')'));
        // These are the certificate's words: they are cut and cleaned like any other.
        let names: Vec<&str> = leaf.valid_dns_names().chain(addresses).collect();
        Self::WrongHost {
            names: Line::new(&names.join(", ")).as_str().to_owned(),
        }
    }

    pub(super) fn pin_mismatch(leaf: &EndEntityCert<'_>) -> Self {
        Self::PinMismatch {
            seen: pin_text(&pin_of(&leaf.subject_public_key_info())),
        }
    }

    /// Carries the fault through rustls; [`TlsFault::of`] takes it out again.
    pub(super) fn into_rustls(self) -> rustls::Error {
        rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(self))))
    }
}

fn date(time: UnixTime) -> String {
    i64::try_from(time.as_secs())
        .ok()
        .and_then(|seconds| jiff::Timestamp::from_second(seconds).ok())
        .map_or_else(|| "a date out of range".to_owned(), |date| date.to_string())
}

impl std::error::Error for TlsFault {}

impl fmt::Display for TlsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired { not_after } => write!(
                f,
                "the certificate, or one that it depends on, expired on {not_after}. Renew it; if \
                 that date is not in the past, set the clock of this machine."
            ),
            Self::NotYetValid { not_before } => write!(
                f,
                "the certificate, or one that it depends on, is not valid before {not_before}. If that \
                 date is in the past, set the clock of this machine."
            ),
            Self::WrongHost { names } if names.is_empty() => f.write_str(
                "the certificate names no host. Use one with the host of WG_EASY_URL among its \
                 subject alternative names.",
            ),
            Self::WrongHost { names } => write!(
                f,
                "the certificate is for another host. It names: {names}. Use one of these in \
                 WG_EASY_URL, or a certificate for the host that is there."
            ),
            Self::UnknownIssuer => f.write_str(
                "no trusted authority issued the certificate. If it comes from an authority of your \
                 own, put its root into WG_EASY_CA_FILE; if it is self-signed, set \
                 WG_EASY_INSECURE_TLS=true together with WG_EASY_TLS_PINS. If it should be trusted, \
                 somebody may be intercepting the connection, or the server does not send the \
                 certificates of its intermediate authorities.",
            ),
            Self::AuthorityAsServer => f.write_str(
                "the server uses the certificate of an authority as its own. Make one that is not \
                 (basicConstraints CA:FALSE), or accept it by its key: WG_EASY_INSECURE_TLS=true \
                 together with WG_EASY_TLS_PINS.",
            ),
            Self::NotForServers => f.write_str(
                "the certificate is not one for servers. Use one whose extended key usage has \
                 serverAuth, or which has none.",
            ),
            Self::PinMismatch { seen } => write!(
                f,
                "no key matches WG_EASY_TLS_PINS; somebody may be intercepting the connection. The \
                 server's key is {seen}. Put that into WG_EASY_TLS_PINS only if you know, from the \
                 server itself, that it is right."
            ),
            Self::Unreadable => f.write_str(
                "the certificate cannot be read. Use an X.509 version 3 certificate.",
            ),
            Self::ClientCertificateWanted => f.write_str(
                "the server wants a certificate from its clients, which this program does not have. \
                 Exempt it in the proxy before wg-easy.",
            ),
            Self::NotTls => f.write_str(
                "what answers there does not speak TLS. If wg-easy runs without a certificate, the \
                 scheme in WG_EASY_URL is http; check the port, too.",
            ),
            Self::Ended => f.write_str(
                "the connection ended during the handshake. Check the port in WG_EASY_URL and the log \
                 of the proxy before wg-easy.",
            ),
            Self::Other(cause) => write!(
                f,
                "{cause}. Check the certificate and the TLS settings of the server."
            ),
        }
    }
}
