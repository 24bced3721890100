//! The certificates that a server presents.

use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme};
use webpki::{EndEntityCert, KeyUsage};

use super::tls;
use crate::config::TlsSettings;
use crate::untrusted::Line;

/// A later date than any certificate has, in seconds.
const END_OF_TIME: u64 = 1 << 40;

/// The chain that a server presented, from its own certificate upwards.
#[derive(Clone, Debug)]
pub struct Presented {
    /// The version of TLS.
    pub version: String,
    /// The server's own certificate, then those of its issuers as far as each names the next.
    pub chain: Vec<Certificate>,
}

/// What a person needs to know of a certificate.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The names that it is for, on one line.
    pub names: String,
    /// When it expires, in seconds since 1970.
    pub expires: Option<u64>,
    /// Whether it names itself as its issuer.
    pub is_root: bool,
    /// Its pin, as `WG_EASY_TLS_PINS` takes it.
    pub pin: String,
}

/// Makes handshakes that accept any certificate and remember it. No secret is ever sent after one.
pub(super) struct Recorder {
    config: Option<Arc<ClientConfig>>,
    seen: Arc<Mutex<Vec<CertificateDer<'static>>>>,
    /// Roots that may end a chain without being sent along.
    roots: Vec<CertificateDer<'static>>,
}

impl Recorder {
    pub(super) fn new(settings: &TlsSettings, encrypted: bool) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Accept {
            seen: Arc::clone(&seen),
            algorithms: provider.signature_verification_algorithms,
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])
            .map(|builder| {
                let config = builder
                    .dangerous()
                    .with_custom_certificate_verifier(Arc::new(verifier))
                    .with_no_client_auth();
                Arc::new(config)
            });
        let roots = match &settings.roots {
            _ if !encrypted => Vec::new(),
            Some(roots) => roots.clone(),
            None => rustls_native_certs::load_native_certs().certs,
        };
        Self {
            config: config.ok(),
            seen,
            roots,
        }
    }

    pub(super) fn handshake(
        &self,
        address: SocketAddr,
        host: &str,
        patience: Duration,
    ) -> Option<Presented> {
        let config = Arc::clone(self.config.as_ref()?);
        let name = ServerName::try_from(host.to_owned()).ok()?;
        let mut tcp = TcpStream::connect_timeout(&address, patience).ok()?;
        tcp.set_read_timeout(Some(patience)).ok()?;
        tcp.set_write_timeout(Some(patience)).ok()?;
        let mut connection = ClientConnection::new(config, name).ok()?;
        while connection.is_handshaking() {
            connection.complete_io(&mut tcp).ok()?;
        }
        let version = match connection.protocol_version()? {
            rustls::ProtocolVersion::TLSv1_3 => "TLS 1.3",
            _ => "TLS 1.2",
        };
        connection.send_close_notify();
        // The handshake is over; whether the other side hears of the end does not matter.
        let _ = connection.complete_io(&mut tcp);
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Presented {
            version: version.to_owned(),
            chain: self.ordered(&seen),
        })
    }

    /// Servers send certificates that belong to no chain, and leave out the root. What counts is
    /// whom each certificate names as its issuer.
    fn ordered(&self, sent: &[CertificateDer<'_>]) -> Vec<Certificate> {
        let Some((leaf, others)) = sent.split_first() else {
            return Vec::new();
        };
        let mut others: Vec<_> = others.iter().chain(&self.roots).collect();
        let mut chain = Vec::new();
        let mut next = EndEntityCert::try_from(leaf).ok();
        while let Some(certificate) = next {
            chain.push(Certificate::read(&certificate));
            next = match certificate.issuer() == certificate.subject() {
                true => None,
                false => take_issuer(&mut others, certificate.issuer()),
            };
        }
        chain
    }
}

/// Takes out the first certificate of that name, so that no two that name each other go on for ever.
fn take_issuer<'a>(
    candidates: &mut Vec<&'a CertificateDer<'a>>,
    name: &[u8],
) -> Option<EndEntityCert<'a>> {
    let position = candidates.iter().position(|candidate| {
        EndEntityCert::try_from(*candidate).is_ok_and(|issuer| issuer.subject() == name)
    })?;
    EndEntityCert::try_from(candidates.swap_remove(position)).ok()
}

impl Certificate {
    fn read(certificate: &EndEntityCert<'_>) -> Self {
        let names: Vec<&str> = certificate.valid_dns_names().collect();
        let der = certificate.der();
        Self {
            names: Line::new(&names.join(", ")).as_str().to_owned(),
            expires: expiry(certificate),
            is_root: certificate.issuer() == certificate.subject(),
            pin: tls::spki_pin(&der).map_or_else(String::new, |pin| tls::pin_text(&pin)),
        }
    }
}

/// The library that verifies certificates looks at the dates first and names the one that a
/// certificate missed: so it is asked about a day that every certificate misses.
fn expiry(certificate: &EndEntityCert<'_>) -> Option<u64> {
    let verified = certificate.verify_for_usage(
        rustls::crypto::ring::default_provider()
            .signature_verification_algorithms
            .all,
        &[],
        &[],
        UnixTime::since_unix_epoch(Duration::from_secs(END_OF_TIME)),
        KeyUsage::server_auth(),
        None,
        None,
    );
    match verified {
        Err(webpki::Error::CertExpired { not_after, .. }) => Some(not_after.as_secs()),
        _ => None,
    }
}

/// Accepts any certificate, as long as the server proves that it holds the key.
#[derive(Debug)]
struct Accept {
    seen: Arc<Mutex<Vec<CertificateDer<'static>>>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Accept {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let sent = std::iter::once(end_entity).chain(intermediates);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = sent
            .map(|certificate| certificate.clone().into_owned())
            .collect();
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
