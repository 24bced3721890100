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
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_native_certs::load_certs_from_paths;
use sha2::{Digest as _, Sha256};
use webpki::{EndEntityCert, KeyUsage, VerifiedPath};

use super::SetupError;
use crate::config::{Pin, TlsSettings};
use crate::environment::NamedRoots;

mod fault;

pub use fault::TlsFault;

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

/// The configured roots; otherwise those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name; otherwise the
/// platform's; otherwise Mozilla's.
fn roots(settings: &TlsSettings) -> Result<RootCertStore, SetupError> {
    let mut store = RootCertStore::empty();
    if let Some(roots) = &settings.roots {
        store.add_parsable_certificates(roots.iter().cloned());
        return match store.is_empty() {
            true => Err(SetupError::NoUsableRoot),
            false => Ok(store),
        };
    }
    if settings.named_roots.are_named() {
        store.add_parsable_certificates(certificates_of(&settings.named_roots));
        // Whoever names roots trusts these and no others, so nothing may take their place.
        return match store.is_empty() {
            true => Err(SetupError::NoNamedRoot),
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

/// What can be read of them; the rest counts as not there.
fn certificates_of(named: &NamedRoots) -> Vec<CertificateDer<'static>> {
    let file = named.file.as_deref().map(|file| (Some(file), None));
    let directories = (named.directories.iter()).map(|directory| (None, Some(directory.as_path())));
    file.into_iter()
        .chain(directories)
        .flat_map(|(file, directory)| load_certs_from_paths(file, directory).certs)
        .collect()
}

#[cfg(test)]
mod tests;
