//! The way to wg-easy: the name, the port, TLS.

use super::*;

#[test]
fn a_host_without_an_address_is_a_matter_of_dns() {
    let checked = Checked::at("https://nowhere.invalid", &[]);
    checked.assert_fails("dns", "nowhere.invalid:443");
    checked.assert_skipped(&["tcp", "tls", "pins", "version", "login"]);
}

#[test]
fn a_port_where_nothing_listens_is_a_matter_of_tcp() {
    let gone = simulator(Settings::default());
    let url = gone.url();
    gone.stop();
    let checked = Checked::at(&url, &[]);
    checked.assert_fails("tcp", "nothing listens there");
    checked.assert_skipped(&["tls", "version", "login"]);
}

#[test]
fn each_fault_of_a_certificate_has_its_own_words_and_shows_the_pins_that_were_seen() {
    for (tls, words) in [
        (Tls::Expired, "expired on"),
        (Tls::NotYetValid, "is not valid before"),
        (Tls::WrongName, "is for another host"),
        (Tls::UnknownIssuer, "no trusted authority"),
        (Tls::SelfSigned, "no trusted authority"),
    ] {
        let (simulator, roots) = encrypted(tls);
        let trusted = [("WG_EASY_CA_FILE", roots.path())];
        let trusted = if tls == Tls::SelfSigned {
            &[][..]
        } else {
            &trusted
        };
        let checked = Checked::of(&simulator, trusted);
        checked.assert_fails("tls", words);
        checked.assert_skipped(&["version", "login"]);
        let pins = checked.check("pins");
        assert_eq!(pins["status"], "warn");
        assert!(
            pins["detail"]
                .as_str()
                .unwrap()
                .contains(simulator.leaf_pin()),
            "{pins}"
        );
        assert_eq!(simulator.requests().len(), 0, "nothing was sent");
    }
}

#[test]
fn a_pin_that_does_not_match_is_a_matter_of_tls() {
    let (simulator, roots) = encrypted(Tls::Valid);
    let (other, _roots) = encrypted(Tls::Valid);
    let variables = [
        ("WG_EASY_CA_FILE", roots.path()),
        ("WG_EASY_TLS_PINS", other.leaf_pin()),
    ];
    Checked::of(&simulator, &variables).assert_fails("tls", "no key matches WG_EASY_TLS_PINS");
    let variables = [
        ("WG_EASY_INSECURE_TLS", "true"),
        ("WG_EASY_TLS_PINS", other.leaf_pin()),
    ];
    Checked::of(&simulator, &variables).assert_fails("tls", "no key matches WG_EASY_TLS_PINS");
    assert_eq!(simulator.requests().len(), 0, "nothing was sent");
}

#[test]
fn validation_that_is_off_works_with_warnings() {
    let (simulator, _roots) = encrypted(Tls::SelfSigned);
    let checked = Checked::of(&simulator, &[("WG_EASY_INSECURE_TLS", "true")]);
    assert_eq!(checked.json["ok"], true);
    assert_eq!(checked.status("tls"), "warn");
    let warned = checked
        .all("configuration")
        .iter()
        .any(|check| check["status"] == "warn");
    assert!(warned, "{}", checked.json);
}

#[test]
fn plain_http_where_tls_is_expected_is_a_matter_of_tls() {
    let simulator = simulator(Settings::default());
    let url = format!("https://127.0.0.1:{}", simulator.port());
    let checked = Checked::at(&url, &[]);
    checked.assert_fails("tls", "does not speak TLS");
    checked.assert_skipped(&["pins", "version", "login"]);
}

#[test]
fn tls_where_plain_http_is_expected_is_named() {
    let (simulator, _roots) = encrypted(Tls::Valid);
    let url = format!("http://127.0.0.1:{}", simulator.port());
    let checked = Checked::at(&url, &[]);
    checked.assert_fails("version", "speaks TLS");
    checked.assert_fails("version", "begin with https:");
    checked.assert_skipped(&["tls", "pins", "login"]);
    assert_eq!(simulator.requests().len(), 0, "nothing was sent");
    // The same answer as of a web server that wants TLS, from one that has none.
    let sim = self::simulator(Settings::default());
    let refused = Matcher::new("GET", "/api/information").always();
    sim.fault(refused, Fault::status(400));
    Checked::of(&sim, &[]).assert_fails("version", "HTTP 400");
}
