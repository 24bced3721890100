//! Which certificates are accepted on the wg-easy connection.
//!
//! The verifier belongs to this one connection: nothing here touches a process-wide default.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, OtherError,
    RootCertStore, SignatureScheme,
};
use sha2::{Digest as _, Sha256};
use webpki::{EndEntityCert, KeyUsage, VerifiedPath};

use super::SetupError;
use crate::config::{Pin, TlsSettings};
use crate::untrusted::Line;

/// The TLS side of the connection. TLS 1.2 and 1.3, no client certificate, no key log; no resumption,
/// so that every connection has its certificate checked.
///
/// With `encrypted` false (an `http` URL) no roots are loaded.
pub(super) fn client_config(
    settings: &TlsSettings,
    encrypted: bool,
) -> Result<ClientConfig, SetupError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Verifier::new(settings, encrypted, &provider)?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
        .map_err(|_| SetupError::Tls)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// The pin of a certificate: SHA-256 of its DER-encoded SubjectPublicKeyInfo. `None` if `certificate`
/// is not an X.509 v3 certificate.
pub fn spki_pin(certificate: &CertificateDer<'_>) -> Option<Pin> {
    let certificate = EndEntityCert::try_from(certificate).ok()?;
    Some(pin_of(&certificate.subject_public_key_info()))
}

/// A pin as `WG_EASY_TLS_PINS` takes it: `sha256/` and Base64.
pub fn pin_text(pin: &Pin) -> String {
    format!("sha256/{}", STANDARD.encode(pin.0))
}

fn pin_of(spki: &SubjectPublicKeyInfoDer<'_>) -> Pin {
    Pin(Sha256::digest(spki.as_ref()).into())
}

/// What makes a certificate acceptable, ready to be used on every handshake.
struct Verifier {
    /// `None`: any certificate, as long as the server proves that it holds the key.
    roots: Option<RootCertStore>,
    /// When not empty, one must match.
    pins: Vec<Pin>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    fn new(
        settings: &TlsSettings,
        encrypted: bool,
        provider: &CryptoProvider,
    ) -> Result<Self, SetupError> {
        let roots = match (settings.insecure, encrypted) {
            (true, _) => None,
            (false, true) => Some(roots(settings)?),
            (false, false) => Some(RootCertStore::empty()),
        };
        Ok(Self {
            roots,
            pins: settings.pins.clone(),
            algorithms: provider.signature_verification_algorithms,
        })
    }

    fn is_pinned(&self, spki: &SubjectPublicKeyInfoDer<'_>) -> bool {
        self.pins.contains(&pin_of(spki))
    }

    /// Whether a certificate of the verified chain matches a pin: the leaf, an issuer, or the root
    /// that ends the chain. What else the server sent is not in `path`.
    fn is_pinned_path(&self, path: &VerifiedPath<'_>) -> bool {
        self.is_pinned(&path.end_entity().subject_public_key_info())
            || path
                .intermediate_certificates()
                .any(|issuer| self.is_pinned(&issuer.subject_public_key_info()))
            || self.is_pinned(&webpki::spki_for_anchor(path.anchor()))
    }

    fn verify_chain(
        &self,
        leaf: &EndEntityCert<'_>,
        roots: &RootCertStore,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), TlsFault> {
        let verify = |accept: Option<Accept<'_>>| {
            leaf.verify_for_usage(
                self.algorithms.all,
                &roots.roots,
                intermediates,
                now,
                KeyUsage::server_auth(),
                None,
                accept,
            )
            .map(|_| ())
        };
        // First without pins: an expired certificate must be called expired, not unpinned.
        verify(None).map_err(|error| TlsFault::of_chain(&error))?;
        leaf.verify_is_valid_for_subject_name(server_name)
            .map_err(|error| TlsFault::of_name(&error, leaf))?;
        if self.pins.is_empty() {
            return Ok(());
        }
        // Then with them, since a certificate may have more than one chain to a root (cross-signing):
        // the search goes on past those without a pinned key.
        let pinned = |path: &VerifiedPath<'_>| match self.is_pinned_path(path) {
            true => Ok(()),
            false => Err(webpki::Error::UnknownIssuer),
        };
        verify(Some(&pinned)).map_err(|_| TlsFault::pin_mismatch(leaf))
    }
}

/// Whether a chain that has been verified will do.
type Accept<'a> = &'a dyn Fn(&VerifiedPath<'_>) -> Result<(), webpki::Error>;

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verified = match (EndEntityCert::try_from(end_entity), &self.roots) {
            (Ok(leaf), Some(roots)) => {
                self.verify_chain(&leaf, roots, intermediates, server_name, now)
            }
            (Ok(leaf), None)
                if !self.pins.is_empty() && !self.is_pinned(&leaf.subject_public_key_info()) =>
            {
                Err(TlsFault::pin_mismatch(&leaf))
            }
            (Ok(_), None) => Ok(()),
            (Err(_), _) => Err(TlsFault::Unreadable),
        };
        verified.map_err(TlsFault::into_rustls)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").finish_non_exhaustive()
    }
}

/// The configured roots; otherwise the platform's (`SSL_CERT_FILE` is honoured); otherwise Mozilla's.
fn roots(settings: &TlsSettings) -> Result<RootCertStore, SetupError> {
    let mut store = RootCertStore::empty();
    if let Some(roots) = &settings.roots {
        store.add_parsable_certificates(roots.iter().cloned());
        return match store.is_empty() {
            true => Err(SetupError::NoUsableRoot),
            false => Ok(store),
        };
    }
    // What cannot be read there counts as not there: a container without certificates is normal.
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if store.is_empty() {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    Ok(store)
}

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
    pub(super) fn of(error: &rustls::Error) -> Self {
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

    fn of_chain(error: &webpki::Error) -> Self {
        use webpki::Error as E;
        match error {
            E::CertExpired { not_after, .. } => Self::Expired {
                not_after: date(*not_after),
            },
            E::CertNotValidYet { not_before, .. } => Self::NotYetValid {
                not_before: date(*not_before),
            },
            E::CaUsedAsEndEntity => Self::AuthorityAsServer,
            // A chain that is signed by somebody else with a trusted authority's name ends here, too.
            E::UnknownIssuer | E::InvalidSignatureForPublicKey => Self::UnknownIssuer,
            other => Self::Other(other.to_string()),
        }
    }

    fn of_name(error: &webpki::Error, leaf: &EndEntityCert<'_>) -> Self {
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

    fn pin_mismatch(leaf: &EndEntityCert<'_>) -> Self {
        Self::PinMismatch {
            seen: pin_text(&pin_of(&leaf.subject_public_key_info())),
        }
    }

    /// Carries the fault through rustls; [`TlsFault::of`] takes it out again.
    fn into_rustls(self) -> rustls::Error {
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

#[cfg(test)]
mod tests;
