//! Certificates: a good chain, and each way for one to be bad.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData as _,
};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use time::{Duration, OffsetDateTime};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer},
};

use crate::settings::Tls;

/// What tests need to know about the certificates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identity {
    pub(crate) ca_pem: String,
    pub(crate) leaf_pin: String,
    pub(crate) root_pin: String,
    pub(crate) intermediate_pin: String,
    pub(crate) unrelated_pin: String,
}

struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
    pin: String,
}

/// The acceptor for a mode, and its identity. `None` for plain HTTP.
pub(crate) fn acceptor(mode: Tls) -> Option<(TlsAcceptor, Identity)> {
    if mode == Tls::Off {
        return None;
    }
    let root = authority("wg-easy simulator root", None);
    let intermediate = authority("wg-easy simulator intermediate", Some(&root));
    let unrelated = authority("unrelated root", None);
    let key = KeyPair::generate().expect("ring makes keys");
    let params = leaf_params(mode);
    let leaf = match mode {
        Tls::SelfSigned => params.self_signed(&key),
        Tls::WithIntermediate => params.signed_by(&key, &intermediate.issuer),
        Tls::UnknownIssuer => params.signed_by(&key, &unrelated.issuer),
        _ => params.signed_by(&key, &root.issuer),
    }
    .expect("the leaf is well formed");
    let mut chain = vec![leaf.der().clone()];
    match mode {
        Tls::WithIntermediate => chain.push(intermediate.certificate.der().clone()),
        Tls::WithUnrelated => chain.push(unrelated.certificate.der().clone()),
        _ => {}
    }
    let identity = Identity {
        ca_pem: if mode == Tls::SelfSigned {
            leaf.pem()
        } else {
            root.certificate.pem()
        },
        leaf_pin: pin(&key),
        root_pin: root.pin,
        intermediate_pin: intermediate.pin,
        unrelated_pin: unrelated.pin,
    };
    let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring speaks TLS 1.2 and 1.3")
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .expect("key and certificate belong together");
    Some((TlsAcceptor::from(Arc::new(config)), identity))
}

fn authority(name: &str, parent: Option<&Authority>) -> Authority {
    let key = KeyPair::generate().expect("ring makes keys");
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let certificate = match parent {
        None => params.self_signed(&key),
        Some(parent) => params.signed_by(&key, &parent.issuer),
    }
    .expect("the authority is well formed");
    let pin = pin(&key);
    Authority {
        certificate,
        issuer: Issuer::new(params, key),
        pin,
    }
}

fn leaf_params(mode: Tls) -> CertificateParams {
    let names: &[&str] = if mode == Tls::WrongName {
        &["other.example.test"]
    } else {
        &["localhost", "127.0.0.1"]
    };
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("the names are valid");
    params
        .distinguished_name
        .push(DnType::CommonName, "wg-easy simulator");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let now = OffsetDateTime::now_utc();
    let day = Duration::DAY;
    (params.not_before, params.not_after) = match mode {
        Tls::Expired => (now - day * 30, now - day),
        Tls::NotYetValid => (now + day, now + day * 30),
        _ => (now - day, now + day * 90),
    };
    params
}

/// `sha256/BASE64` of the SubjectPublicKeyInfo.
fn pin(key: &KeyPair) -> String {
    format!(
        "sha256/{}",
        STANDARD.encode(Sha256::digest(key.subject_public_key_info()))
    )
}
