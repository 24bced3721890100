//! The certificates, as a strict client sees them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::{io, sync::Arc};

use support::{Answer, authorization, connect, exchange};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use wg_easy_sim::{Settings, Simulator, Tls};

fn sim(tls: Tls) -> Simulator {
    Simulator::start(Settings {
        tls,
        ..Settings::default()
    })
}

/// Asks over TLS, trusting the simulator's root; the status and how many certificates were sent.
fn ask(sim: &Simulator) -> io::Result<(u16, usize)> {
    let (answer, sent) = ask_for(sim, "/api/information", &[])?;
    Ok((answer.status, sent))
}

fn ask_for(sim: &Simulator, target: &str, headers: &[(&str, &str)]) -> io::Result<(Answer, usize)> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(sim.ca_pem().as_bytes()).unwrap())
        .unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connection =
        ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap())
            .unwrap();
    let mut stream = StreamOwned::new(connection, connect(sim));
    let answer = exchange(&mut stream, "GET", target, headers, "", true)?;
    Ok((
        answer,
        stream.conn.peer_certificates().map_or(0, <[_]>::len),
    ))
}

#[test]
fn good_chains_are_accepted() {
    for (tls, sent) in [
        (Tls::Valid, 1),
        (Tls::WithIntermediate, 2),
        (Tls::WithUnrelated, 2),
    ] {
        let sim = sim(tls);
        assert!(sim.url().starts_with("https://localhost:"));
        assert_eq!(ask(&sim).unwrap(), (200, sent), "{tls:?}");
    }
}

#[test]
fn bad_certificates_are_refused_for_their_own_reason() {
    for (tls, reason) in [
        (Tls::Expired, "Expired"),
        (Tls::NotYetValid, "NotValidYet"),
        (Tls::WrongName, "NotValidForName"),
        (Tls::UnknownIssuer, "UnknownIssuer"),
    ] {
        let error = format!("{:?}", ask(&sim(tls)).unwrap_err());
        assert!(error.contains(reason), "{tls:?}: {error}");
    }
}

#[test]
fn a_self_signed_certificate_has_no_root() {
    let own = sim(Tls::SelfSigned);
    let other = sim(Tls::Valid);
    assert!(own.ca_pem() != other.ca_pem());
    // Trusted by itself it is either accepted or refused for being no authority, never unknown.
    match ask(&own) {
        Ok((status, _)) => assert_eq!(status, 200),
        Err(error) => assert!(!format!("{error:?}").contains("UnknownIssuer"), "{error:?}"),
    }
}

#[test]
fn pins_are_distinct_and_well_formed() {
    let sim = sim(Tls::WithIntermediate);
    let pins = [
        sim.leaf_pin(),
        sim.root_pin(),
        sim.intermediate_pin(),
        sim.unrelated_pin(),
    ];
    for (index, pin) in pins.iter().enumerate() {
        assert!(pin.starts_with("sha256/") && pin.len() == 51, "{pin}");
        assert!(!pins[index + 1..].contains(pin));
    }
    let plain = self::sim(Tls::Off);
    assert_eq!((plain.leaf_pin(), plain.ca_pem()), ("", ""));
}

#[test]
fn cookies_over_tls_are_secure() {
    for (tls, secure) in [(Tls::Valid, true), (Tls::Off, false)] {
        let sim = sim(tls);
        let login = authorization(&sim);
        let headers = [("Authorization", login.as_str())];
        let answer = if secure {
            ask_for(&sim, "/api/client", &headers).unwrap().0
        } else {
            support::ask(&sim, "GET", "/api/client", &headers, "").unwrap()
        };
        assert_eq!(
            answer
                .header("set-cookie")
                .unwrap()
                .ends_with("; HttpOnly; Secure"),
            secure
        );
    }
}
