//! What a real instance does that one recorded exchange does not show.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::{collections::HashSet, thread};

use serde_json::{Value, json};
use support::{Answer, admin, ask, authorization};
use wg_easy_sim::{Settings, Simulator, public_of};

fn sim() -> Simulator {
    Simulator::start(Settings {
        clients: 3,
        ..Settings::default()
    })
}

/// Reads a client, changes fields and posts the whole back.
fn update(sim: &Simulator, id: u64, changes: &Value) -> Answer {
    let target = format!("/api/client/{id}");
    let mut record = admin(sim, "GET", &target, "").json();
    for (key, value) in changes.as_object().unwrap() {
        record[key] = value.clone();
    }
    admin(sim, "POST", &target, &record.to_string())
}

#[test]
fn one_bad_route_poisons_every_later_change() {
    let sim = sim();
    assert_eq!(
        update(&sim, 1, &json!({"serverAllowedIps": ["not-a-cidr"]})).status,
        500
    );
    assert_eq!(
        sim.client(1).unwrap().server_allowed_ips,
        ["not-a-cidr"],
        "stored all the same"
    );
    assert!(sim.is_poisoned());
    let answer = admin(
        &sim,
        "POST",
        "/api/client",
        r#"{"name":"new","expiresAt":null}"#,
    );
    assert_eq!(
        (answer.status, answer.reason.as_str()),
        (500, "Server Error")
    );
    assert_eq!(sim.client(4).unwrap().name, "new");
    assert_eq!(admin(&sim, "POST", "/api/client/2/disable", "").status, 500);
    assert!(!sim.client(2).unwrap().enabled);
    assert_eq!(admin(&sim, "DELETE", "/api/client/3", "").status, 500);
    assert!(sim.client(3).is_none());
    assert_eq!(
        admin(&sim, "GET", "/api/client", "").status,
        200,
        "reads go on"
    );
    assert_eq!(
        update(&sim, 1, &json!({"serverAllowedIps": ["10.1.0.0/16"]})).status,
        200
    );
    assert!(!sim.is_poisoned());
    assert_eq!(admin(&sim, "POST", "/api/client/2/enable", "").status, 200);
    assert_eq!(
        update(&sim, 1, &json!({"serverEndpoint": "no port"})).status,
        500
    );
    assert!(sim.is_poisoned());
}

#[test]
fn a_tunnel_that_is_down_or_only_cannot_reload() {
    let sim = sim();
    sim.set_tunnel_down(true);
    assert_eq!(admin(&sim, "GET", "/api/client", "").status, 500);
    assert_eq!(admin(&sim, "DELETE", "/api/client/1", "").status, 500);
    assert!(sim.client(1).is_none(), "applied all the same");
    assert_eq!(
        admin(&sim, "GET", "/api/client/2/configuration", "").status,
        200
    );
    sim.set_tunnel_down(false);
    sim.set_reload_fails(true);
    assert_eq!(admin(&sim, "GET", "/api/client", "").status, 200);
    assert_eq!(admin(&sim, "DELETE", "/api/client/2", "").status, 500);
    assert_eq!(sim.client_count(), 1);
    sim.set_release_check_fails(true);
    assert_eq!(
        ask(&sim, "GET", "/api/information", &[], "")
            .unwrap()
            .status,
        500
    );
}

#[test]
fn ids_go_through_number_for_deletes_too() {
    let sim = sim();
    assert_eq!(admin(&sim, "DELETE", "/api/client/0x1", "").status, 200);
    assert_eq!(admin(&sim, "DELETE", "/api/client/2%20", "").status, 200);
    assert_eq!(admin(&sim, "DELETE", "/api/client/+3", "").status, 200);
    assert_eq!(sim.client_count(), 0);
    assert_eq!(sim.add_client("next"), 4, "ids are not used again");
    assert_eq!(
        sim.client(4).unwrap().ipv4_address,
        "10.8.0.2",
        "addresses are"
    );
}

#[test]
fn clients_expire_by_the_minute_job() {
    let sim = sim();
    sim.update_client(1, |client| {
        client.expires_at = Some("2020-01-01".to_owned())
    });
    sim.update_client(2, |client| client.expires_at = Some("garbage".to_owned()));
    assert!(sim.client(1).unwrap().enabled);
    sim.run_minute_job();
    assert!(!sim.client(1).unwrap().enabled && sim.client(2).unwrap().enabled);
    assert_eq!(admin(&sim, "POST", "/api/client/1/enable", "").status, 422);
    assert_eq!(update(&sim, 1, &json!({"expiresAt": null})).status, 200);
    assert!(
        !sim.client(1).unwrap().enabled,
        "a later date alone does not enable"
    );
    assert_eq!(admin(&sim, "POST", "/api/client/1/enable", "").status, 200);
}

#[test]
fn disabled_clients_show_nothing_of_the_tunnel() {
    let sim = sim();
    sim.update_client(1, |client| {
        client.endpoint = Some("192.0.2.1:5".to_owned());
        client.transfer_rx = 7;
    });
    assert_eq!(
        admin(&sim, "GET", "/api/client", "").json()[0]["transferRx"],
        7
    );
    sim.update_client(1, |client| client.enabled = false);
    let row = admin(&sim, "GET", "/api/client", "").json()[0].clone();
    assert_eq!(
        (&row["transferRx"], &row["endpoint"]),
        (&Value::Null, &Value::Null)
    );
    assert!(
        admin(&sim, "GET", "/api/client/1", "")
            .json()
            .get("endpoint")
            .is_none()
    );
}

#[test]
fn parallel_creates_are_all_kept_apart() {
    let sim = Simulator::start(Settings::default());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                admin(
                    &sim,
                    "POST",
                    "/api/client",
                    r#"{"name":"same","expiresAt":null}"#,
                )
            });
        }
    });
    let addresses: HashSet<String> = sim
        .clients()
        .into_iter()
        .map(|client| client.ipv4_address)
        .collect();
    assert_eq!(addresses.len(), 8);
}

#[test]
fn keys_are_real_pairs() {
    let sim = sim();
    sim.add_client("one more");
    let keys: HashSet<String> = sim
        .clients()
        .into_iter()
        .map(|client| client.public_key)
        .collect();
    assert_eq!(keys.len(), 4);
    for client in sim.clients() {
        assert_eq!(public_of(&client.private_key), Some(client.public_key));
    }
}

#[test]
fn ten_thousand_clients_are_listed() {
    let sim = Simulator::start(Settings {
        clients: 10_000,
        ..Settings::default()
    });
    let answer = ask(
        &sim,
        "GET",
        "/api/client",
        &[("Authorization", &authorization(&sim))],
        "",
    )
    .unwrap();
    let rows = answer.json();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 10_000);
    let ids: HashSet<u64> = rows.iter().filter_map(|row| row["id"].as_u64()).collect();
    let keys: HashSet<&str> = rows
        .iter()
        .filter_map(|row| row["publicKey"].as_str())
        .collect();
    let addresses: HashSet<&str> = rows
        .iter()
        .filter_map(|row| row["ipv4Address"].as_str())
        .collect();
    assert_eq!(
        (ids.len(), keys.len(), addresses.len()),
        (10_000, 10_000, 10_000)
    );
    let last = sim.client(10_000).unwrap();
    assert_eq!(public_of(&last.private_key), Some(last.public_key));
    assert!(sim.add_client("one more") == 10_001);
}

#[test]
fn older_releases_know_fewer_fields() {
    let missing_fields = vec!["firewallIps".to_owned(), "i5".to_owned()];
    let sim = Simulator::start(Settings {
        clients: 1,
        missing_fields,
        version: "v15.2.0".to_owned(),
        ..Settings::default()
    });
    sim.update_client(1, |client| {
        client.firewall_ips = Some(vec!["10.0.0.1".to_owned()])
    });
    assert!(
        admin(&sim, "GET", "/api/client", "").json()[0]
            .get("firewallIps")
            .is_none()
    );
    assert!(
        admin(&sim, "GET", "/api/client/1", "")
            .json()
            .get("i5")
            .is_none()
    );
    assert_eq!(
        update(&sim, 1, &json!({"name": "renamed", "firewallIps": null})).status,
        200
    );
    let client = sim.client(1).unwrap();
    assert_eq!(
        (client.name.as_str(), client.firewall_ips.unwrap().len()),
        ("renamed", 1)
    );
    let information = ask(&sim, "GET", "/api/information", &[], "")
        .unwrap()
        .json();
    assert_eq!(information["currentRelease"], "v15.2.0");
}

#[test]
fn a_list_can_be_too_long_for_the_server() {
    let sim = Simulator::start(Settings {
        clients: 3,
        list_limit: Some(3),
        ..Settings::default()
    });
    assert_eq!(admin(&sim, "GET", "/api/client", "").status, 200);
    sim.add_client("one too many");
    assert_eq!(admin(&sim, "GET", "/api/client", "").status, 500);
    assert_eq!(admin(&sim, "GET", "/api/client/4", "").status, 200);
}
