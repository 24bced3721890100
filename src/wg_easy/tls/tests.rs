use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, PublicKeyData as _, date_time_ymd,
};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};

use super::*;
use crate::wg_easy::tests::connection;
use crate::wg_easy::{Error, WgEasy};

type Issuer = CertifiedIssuer<'static, KeyPair>;

/// An authority with an intermediate one below it.
struct Pki {
    root: Issuer,
    intermediate: Issuer,
}

/// A certificate and its key.
struct Leaf {
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

fn host(name: &str) -> CertificateParams {
    CertificateParams::new(vec![name.to_owned()]).unwrap()
}

impl Pki {
    fn new() -> Self {
        let key = || KeyPair::generate().unwrap();
        let root = Issuer::self_signed(authority("root"), key()).unwrap();
        let intermediate = Issuer::signed_by(authority("intermediate"), key(), &root).unwrap();
        Self { root, intermediate }
    }

    fn leaf(&self, params: CertificateParams) -> Leaf {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.intermediate).unwrap();
        let certificate = certificate.der().clone();
        Leaf { certificate, key }
    }

    /// Only this root is trusted, and only chains with one of `pins`.
    fn trusted(&self, pins: &[Pin]) -> TlsSettings {
        TlsSettings {
            insecure: false,
            roots: Some(vec![self.root.der().clone()]),
            pins: pins.to_vec(),
            ..TlsSettings::default()
        }
    }
}

fn self_signed(params: CertificateParams) -> Leaf {
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap().der().clone();
    Leaf { certificate, key }
}

fn insecure(pins: &[Pin]) -> TlsSettings {
    TlsSettings {
        insecure: true,
        roots: None,
        pins: pins.to_vec(),
        ..TlsSettings::default()
    }
}

fn pin(certificate: &CertificateDer<'_>) -> Pin {
    spki_pin(certificate).unwrap()
}

/// Connects to a server on `localhost` that sends `leaf` and `others`.
async fn connect(
    leaf: &Leaf,
    others: &[&CertificateDer<'static>],
    tls: TlsSettings,
) -> Result<(), TlsFault> {
    connect_with(leaf, others, tls, rustls::ALL_VERSIONS).await
}

async fn connect_with(
    leaf: &Leaf,
    others: &[&CertificateDer<'static>],
    tls: TlsSettings,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<(), TlsFault> {
    let mut chain = vec![leaf.certificate.clone()];
    chain.extend(others.iter().map(|&other| other.clone()));
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf.key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    ask(config, tls).await
}

/// One call to a server that answers one request.
async fn ask(config: ServerConfig, tls: TlsSettings) -> Result<(), TlsFault> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let mut buffer = [0; 4096];
        // A client that turns the certificate down does not get this far.
        if stream.read(&mut buffer).is_ok_and(|n| n > 0) {
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]",
            );
        }
    });
    let mut connection = connection(&format!("https://localhost:{port}"));
    connection.tls = tls;
    match WgEasy::new(&connection).unwrap().clients().await {
        Ok(_) => Ok(()),
        Err(error @ Error::Tls { .. }) => {
            assert!(!error.may_have_been_applied());
            assert!(error.to_string().contains(&format!("localhost:{port}: ")));
            match error {
                Error::Tls { fault, .. } => Err(fault),
                _ => unreachable!(),
            }
        }
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_good_chain_is_accepted_on_both_versions() {
    let pki = Pki::new();
    let leaf = pki.leaf(host("localhost"));
    let chain = [pki.intermediate.der()];
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        for tls in [pki.trusted(&[]), insecure(&[])] {
            assert_eq!(connect_with(&leaf, &chain, tls, &[version]).await, Ok(()));
        }
    }
}

#[tokio::test]
async fn a_certificate_is_called_by_what_is_wrong_with_it() {
    let pki = Pki::new();
    let chain = [pki.intermediate.der()];

    let mut params = host("localhost");
    params.not_after = date_time_ymd(2024, 2, 29);
    let not_after = "2024-02-29T00:00:00Z".to_owned();
    let expired = connect(&pki.leaf(params), &chain, pki.trusted(&[])).await;
    assert_eq!(expired, Err(TlsFault::Expired { not_after }));

    let mut params = host("localhost");
    params.not_before = date_time_ymd(2999, 1, 1);
    params.not_after = date_time_ymd(3000, 1, 1);
    let not_before = "2999-01-01T00:00:00Z".to_owned();
    let early = connect(&pki.leaf(params), &chain, pki.trusted(&[])).await;
    assert_eq!(early, Err(TlsFault::NotYetValid { not_before }));

    let names = vec![
        "vpn.example".to_owned(),
        "*.b.example".to_owned(),
        "192.0.2.7".to_owned(),
    ];
    let leaf = pki.leaf(CertificateParams::new(names).unwrap());
    let names = "vpn.example, *.b.example, 192.0.2.7".to_owned();
    let elsewhere = connect(&leaf, &chain, pki.trusted(&[])).await;
    assert_eq!(elsewhere, Err(TlsFault::WrongHost { names }));

    let unknown = connect(
        &pki.leaf(host("localhost")),
        &chain,
        Pki::new().trusted(&[]),
    )
    .await;
    assert_eq!(unknown, Err(TlsFault::UnknownIssuer));

    let incomplete = connect(&pki.leaf(host("localhost")), &[], pki.trusted(&[])).await;
    assert_eq!(incomplete, Err(TlsFault::UnknownIssuer));
}

#[tokio::test]
async fn an_issuer_in_between_has_dates_as_well_and_a_certificate_a_purpose() {
    let pki = Pki::new();
    let mut params = authority("intermediate");
    params.not_after = date_time_ymd(2024, 2, 29);
    let key = KeyPair::generate().unwrap();
    let expired = Issuer::signed_by(params, key, &pki.root).unwrap();
    let key = KeyPair::generate().unwrap();
    let signed = host("localhost").signed_by(&key, &expired).unwrap();
    let certificate = signed.der().clone();
    let leaf = Leaf { certificate, key };
    let not_after = "2024-02-29T00:00:00Z".to_owned();
    let result = connect(&leaf, &[expired.der()], pki.trusted(&[])).await;
    assert_eq!(result, Err(TlsFault::Expired { not_after }));

    let mut params = host("localhost");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let leaf = pki.leaf(params);
    let result = connect(&leaf, &[pki.intermediate.der()], pki.trusted(&[])).await;
    assert_eq!(result, Err(TlsFault::NotForServers));
}

#[tokio::test]
async fn without_configured_roots_a_private_authority_is_unknown() {
    let pki = Pki::new();
    let leaf = pki.leaf(host("localhost"));
    let result = connect(&leaf, &[pki.intermediate.der()], TlsSettings::default()).await;
    assert_eq!(result, Err(TlsFault::UnknownIssuer));
}

#[tokio::test]
async fn a_self_signed_certificate_is_accepted_as_its_own_root_or_insecurely() {
    let leaf = self_signed(host("localhost"));
    assert_eq!(connect(&leaf, &[], insecure(&[])).await, Ok(()));
    let own = TlsSettings {
        roots: Some(vec![leaf.certificate.clone()]),
        ..TlsSettings::default()
    };
    assert_eq!(connect(&leaf, &[], own).await, Ok(()));

    let mut params = host("localhost");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let leaf = self_signed(params);
    let own = TlsSettings {
        roots: Some(vec![leaf.certificate.clone()]),
        ..TlsSettings::default()
    };
    assert_eq!(
        connect(&leaf, &[], own).await,
        Err(TlsFault::AuthorityAsServer)
    );
    assert_eq!(
        connect(&leaf, &[], insecure(&[pin(&leaf.certificate)])).await,
        Ok(())
    );
}

#[tokio::test]
async fn insecure_accepts_what_is_expired_and_for_another_host() {
    let mut params = host("elsewhere.example");
    params.not_after = date_time_ymd(2024, 2, 29);
    assert_eq!(
        connect(&self_signed(params), &[], insecure(&[])).await,
        Ok(())
    );
}

#[tokio::test]
async fn a_pin_matches_any_key_of_the_verified_chain() {
    let pki = Pki::new();
    let leaf = pki.leaf(host("localhost"));
    let chain = [pki.intermediate.der()];
    for certificate in [&leaf.certificate, pki.intermediate.der(), pki.root.der()] {
        // The first one is nobody's: one match is enough.
        let pins = [Pin([7; 32]), pin(certificate)];
        assert_eq!(connect(&leaf, &chain, pki.trusted(&pins)).await, Ok(()));
    }
}

#[tokio::test]
async fn with_two_pins_a_server_may_change_its_key() {
    let pki = Pki::new();
    let (old, new) = (pki.leaf(host("localhost")), pki.leaf(host("localhost")));
    let pins = [pin(&old.certificate), pin(&new.certificate)];
    let chain = [pki.intermediate.der()];
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        for leaf in [&old, &new] {
            for tls in [pki.trusted(&pins), insecure(&pins)] {
                assert_eq!(connect_with(leaf, &chain, tls, &[version]).await, Ok(()));
            }
        }
        // With one of them it is cut off on the day of the change.
        let tls = pki.trusted(&pins[..1]);
        let seen = pin_text(&pins[1]);
        let result = connect_with(&new, &chain, tls, &[version]).await;
        assert_eq!(result, Err(TlsFault::PinMismatch { seen }));
    }
}

#[tokio::test]
async fn a_pin_does_not_match_what_is_sent_beside_the_chain() {
    let (pki, pinned) = (Pki::new(), Pki::new());
    let leaf = pki.leaf(host("localhost"));
    let beside = pinned.leaf(host("localhost")).certificate;
    let sent = [
        pki.intermediate.der(),
        pinned.intermediate.der(),
        pinned.root.der(),
        &beside,
    ];
    let pins = [
        pin(pinned.intermediate.der()),
        pin(pinned.root.der()),
        pin(&beside),
    ];
    let seen = pin_text(&pin(&leaf.certificate));
    let result = connect(&leaf, &sent, pki.trusted(&pins)).await;
    assert_eq!(result, Err(TlsFault::PinMismatch { seen }));
}

#[tokio::test]
async fn a_root_counts_only_where_it_ends_the_chain() {
    let (pki, other) = (Pki::new(), Pki::new());
    let leaf = pki.leaf(host("localhost"));
    let mut tls = pki.trusted(&[pin(other.root.der())]);
    tls.roots = Some(vec![pki.root.der().clone(), other.root.der().clone()]);
    let result = connect(&leaf, &[pki.intermediate.der()], tls).await;
    assert!(matches!(result, Err(TlsFault::PinMismatch { .. })));
}

#[tokio::test]
async fn a_pin_is_found_on_the_second_of_two_chains() {
    let (pki, other) = (Pki::new(), Pki::new());
    let leaf = pki.leaf(host("localhost"));
    // The same intermediate authority, vouched for by another root as well.
    let crossed = authority("intermediate")
        .signed_by(pki.intermediate.key(), &other.root)
        .unwrap();
    for sent in [
        [pki.intermediate.der(), crossed.der()],
        [crossed.der(), pki.intermediate.der()],
    ] {
        for root in [&pki.root, &other.root] {
            let mut tls = pki.trusted(&[pin(root.der())]);
            tls.roots = Some(vec![pki.root.der().clone(), other.root.der().clone()]);
            assert_eq!(connect(&leaf, &sent, tls).await, Ok(()));
        }
    }
}

#[tokio::test]
async fn a_pin_excuses_nothing_else() {
    let pki = Pki::new();
    let chain = [pki.intermediate.der()];
    let leaf = pki.leaf(host("elsewhere.example"));
    let result = connect(&leaf, &chain, pki.trusted(&[pin(&leaf.certificate)])).await;
    assert!(matches!(result, Err(TlsFault::WrongHost { .. })));
    let unknown = Pki::new().trusted(&[pin(&leaf.certificate)]);
    let result = connect(&leaf, &chain, unknown).await;
    assert_eq!(result, Err(TlsFault::UnknownIssuer));
}

#[tokio::test]
async fn insecure_with_pins_looks_at_the_leaf_alone() {
    let pki = Pki::new();
    let leaf = pki.leaf(host("elsewhere.example"));
    let chain = [pki.intermediate.der()];
    let pinned = insecure(&[pin(&leaf.certificate)]);
    assert_eq!(connect(&leaf, &chain, pinned).await, Ok(()));
    let issuer = insecure(&[pin(pki.intermediate.der()), pin(pki.root.der())]);
    let seen = pin_text(&pin(&leaf.certificate));
    let result = connect(&leaf, &chain, issuer).await;
    assert_eq!(result, Err(TlsFault::PinMismatch { seen }));
}

/// A certificate is public: who shows it has not yet shown that it holds the key.
#[tokio::test]
async fn insecure_still_checks_who_holds_the_key() {
    let honest = self_signed(host("localhost"));
    let provider = rustls::crypto::ring::default_provider();
    let thief = Leaf {
        certificate: honest.certificate.clone(),
        key: KeyPair::generate().unwrap(),
    };
    let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(thief.key.serialize_der()));
    let signer = provider.key_provider.load_private_key(der).unwrap();
    let stolen = rustls::sign::CertifiedKey::new(vec![thief.certificate], signer);
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let config = ServerConfig::builder_with_provider(Arc::new(provider.clone()))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(rustls::sign::SingleCertAndKey::from(
                stolen.clone(),
            )));
        let result = ask(config, insecure(&[pin(&honest.certificate)])).await;
        assert!(matches!(result, Err(TlsFault::Other(_))), "{result:?}");
    }
}

#[tokio::test]
async fn what_speaks_no_tls_is_named() {
    for (answer, fault) in [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], TlsFault::NotTls),
        (&b""[..], TlsFault::Ended),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer);
        });
        let error = WgEasy::new(&connection(&url)).unwrap().clients().await;
        assert!(
            matches!(&error, Err(Error::Tls { fault: seen, .. }) if *seen == fault),
            "{error:?}"
        );
    }
}

#[test]
fn roots_that_are_none_are_an_error_before_anything_is_sent() {
    let tls = TlsSettings {
        roots: Some(vec![CertificateDer::from(vec![1, 2, 3])]),
        ..TlsSettings::default()
    };
    assert_eq!(
        client_config(&tls, true).err(),
        Some(SetupError::NoUsableRoot)
    );
}

#[test]
fn roots_that_are_named_are_the_only_ones_or_an_error() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/root.pem");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let named = |file: Option<&str>, directories: &[&str]| {
        let tls = TlsSettings {
            named_roots: NamedRoots {
                file: file.map(Into::into),
                directories: directories.iter().map(Into::into).collect(),
            },
            ..TlsSettings::default()
        };
        roots(&tls).map(|store| store.len())
    };
    assert_eq!(named(Some(root), &[]), Ok(1));
    assert_eq!(
        named(Some("/nowhere"), &[source]),
        Err(SetupError::NoNamedRoot)
    );
    assert_eq!(named(Some("/dev/null"), &[]), Err(SetupError::NoNamedRoot));
    assert_eq!(named(None, &["/nowhere"]), Err(SetupError::NoNamedRoot));
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it");
    assert_eq!(named(Some("/nowhere"), &[source, tests]), Ok(1));
    assert!(named(None, &[]).is_ok_and(|roots| roots > 1));
}

#[test]
fn a_pin_is_the_hash_of_the_whole_subject_public_key_info() {
    let leaf = self_signed(host("localhost"));
    let expected = Pin(Sha256::digest(leaf.key.subject_public_key_info()).into());
    assert!(spki_pin(&leaf.certificate) == Some(expected));
    assert!(spki_pin(&CertificateDer::from(vec![0x30, 0])).is_none());
    assert_eq!(
        pin_text(&Pin([0; 32])),
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    );
}

#[test]
fn a_root_hashes_to_the_same_pin_as_its_certificate() {
    let root = self_signed(authority("root")).certificate;
    let mut store = RootCertStore::empty();
    store.add(root.clone()).unwrap();
    assert!(pin_of(&webpki::spki_for_anchor(&store.roots[0])) == pin(&root));
}
