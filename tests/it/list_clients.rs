//! `list_clients` through the whole program.

use crate::support::{Server, data, fetch, in_each_era, refusal, structured, text, with_clients};
use serde_json::{Value, json};
use wg_easy_sim::{Fault, Matcher, Simulator};

/// The most code points that the text of an answer may have.
const MAX_CHARS: usize = 60_000;

/// Reads a listing to its end and gives all clients, in order.
fn read_on(server: &mut Server, arguments: Value) -> Vec<Value> {
    let mut clients = Vec::new();
    let mut next = json!(0);
    loop {
        let mut arguments = arguments.clone();
        arguments["offset"] = next;
        let result = server.call("list_clients", arguments);
        assert!(text(&result).chars().count() <= MAX_CHARS);
        assert_eq!(data(&result), *structured(&result));
        let answer = structured(&result);
        let part = answer["clients"].as_array().unwrap();
        assert_eq!(answer["count"], part.len());
        assert!(!part.is_empty());
        clients.extend_from_slice(part);
        next = answer["nextOffset"].clone();
        if next.is_null() {
            assert_eq!(answer["total"], clients.len());
            return clients;
        }
        assert_eq!(next, clients.len());
    }
}

fn ids(clients: &[Value]) -> Vec<u64> {
    clients
        .iter()
        .map(|client| client["id"].as_u64().unwrap())
        .collect()
}

fn names(clients: &[Value]) -> Vec<&str> {
    clients
        .iter()
        .map(|client| client["name"].as_str().unwrap())
        .collect()
}

/// Lets a simulator answer with what its list is now, which costs it nothing any more.
fn freeze(sim: &Simulator) {
    let list = fetch(sim, "/api/client");
    sim.fault(
        Matcher::new("GET", "/api/client").always(),
        Fault::json(list),
    );
}

#[test]
fn seven_thousand_clients_are_read_to_the_last_by_following_the_answers() {
    let sim = with_clients(7_000);
    freeze(&sim);
    let mut server = Server::of(&sim).start();
    let mut ids = ids(&read_on(&mut server, json!({})));
    ids.sort_unstable();
    assert_eq!(ids, (1..=7_000).collect::<Vec<_>>());
}

#[test]
fn two_thousand_clients_are_read_to_the_last_filtered_and_sorted() {
    let sim = with_clients(2_000);
    for id in 1..=2_000 {
        let place = if id % 4 == 0 { "Büro" } else { "Home" };
        sim.update_client(id, |client| {
            client.name = format!("{place} {:04}", 3_000 - id)
        });
    }
    freeze(&sim);
    let mut server = Server::of(&sim).start();
    for (sort, filter, count) in [("asc", "BÜRO", 500), ("desc", "0", 542), ("asc", "", 2_000)] {
        let clients = read_on(&mut server, json!({"sort": sort, "filter": filter}));
        let names = names(&clients);
        let mut expected: Vec<_> = sim
            .clients()
            .into_iter()
            .map(|client| client.name)
            .collect();
        expected.retain(|name| name.to_lowercase().contains(&filter.to_lowercase()));
        expected.sort();
        if sort == "desc" {
            expected.reverse();
        }
        assert_eq!(names, expected);
        assert_eq!(names.len(), count);
    }
}

/// The names that a filter finds.
fn found(server: &mut Server, filter: &str) -> Vec<String> {
    let result = server.call("list_clients", json!({"filter": filter, "sort": "asc"}));
    let answer = structured(&result);
    assert_eq!(answer["total"], answer["count"]);
    names(answer["clients"].as_array().unwrap())
        .into_iter()
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_filter_is_a_literal_part_of_the_name_in_any_case() {
    let sim = with_clients(0);
    for name in [
        "100% wool",
        "a_b",
        "axb",
        "ÉCOLE",
        "straße",
        "10.8.0.9",
        "ΣΟΦΟΣ",
    ] {
        sim.add_client(name);
    }
    let mut server = Server::of(&sim).start();
    for (filter, names) in [
        ("%", &["100% wool"][..]),
        ("_", &["a_b"]),
        ("A_B", &["a_b"]),
        ("école", &["ÉCOLE"]),
        ("É", &["ÉCOLE"]),
        ("STRAßE", &["straße"]),
        // The addresses are 10.8.0.2 and so on: only the name counts.
        ("10.8.0.", &["10.8.0.9"]),
        ("fdcc", &[]),
        ("*", &[]),
        (".", &["10.8.0.9"]),
        (
            "",
            &[
                "10.8.0.9",
                "100% wool",
                "a_b",
                "axb",
                "straße",
                "ÉCOLE",
                "ΣΟΦΟΣ",
            ],
        ),
    ] {
        let mut found = found(&mut server, filter);
        found.sort();
        let mut names = names.to_vec();
        names.sort();
        assert_eq!(found, names, "{filter}");
    }
}

#[test]
fn wg_easy_is_not_asked_to_filter_or_sort() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).with("WG_EASY_AUTH", "basic").start();
    server.call(
        "list_clients",
        json!({"filter": "x", "sort": "desc", "offset": 1, "limit": 1}),
    );
    let requests = sim.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        (requests[0].path.as_str(), requests[0].query.as_str()),
        ("/api/client", "")
    );
}

#[test]
fn limit_and_offset_are_bounds_of_what_is_returned() {
    let sim = with_clients(7);
    let mut server = Server::of(&sim).start();
    let mut part = |arguments: Value| {
        let result = server.call("list_clients", arguments);
        let answer = structured(&result).clone();
        assert_eq!(answer["total"], 7);
        (
            ids(answer["clients"].as_array().unwrap()),
            answer.get("nextOffset").cloned(),
        )
    };
    let all = part(json!({"sort": "asc"})).0;
    assert_eq!(all.len(), 7);
    assert_eq!(
        part(json!({"sort": "asc", "limit": 3})),
        (all[..3].to_vec(), Some(json!(3)))
    );
    assert_eq!(
        part(json!({"sort": "asc", "limit": 3, "offset": 5})),
        (all[5..].to_vec(), None)
    );
    assert_eq!(
        part(json!({"sort": "asc", "limit": 1000, "offset": 0})),
        (all, None)
    );
    for offset in [7, 8, 9_007_199_254_740_991_u64] {
        assert_eq!(part(json!({"offset": offset})), (vec![], None));
    }
}

#[test]
fn wrong_arguments_are_refused_before_anything_is_sent() {
    let sim = with_clients(1);
    let mut server = Server::of(&sim).start();
    for (arguments, said) in [
        (json!({"limit": 0}), "limit"),
        (json!({"limit": 1001}), "limit"),
        (json!({"limit": -1}), "limit"),
        (json!({"limit": 1.5}), "limit"),
        (json!({"limit": "3"}), "limit"),
        (json!({"limit": null}), "limit"),
        (json!({"offset": -1}), "offset"),
        (json!({"offset": 9_007_199_254_740_992_u64}), "offset"),
        (json!({"offset": [0]}), "offset"),
        (json!({"sort": "ASC"}), "sort"),
        (json!({"sort": true}), "sort"),
        (json!({"filter": 5}), "filter"),
        (json!({"name": "x", "Filter": "y"}), "name, Filter"),
    ] {
        let result = server.call("list_clients", arguments);
        assert!(refusal(&result).contains(said), "{result}");
    }
    assert_eq!(sim.requests().len(), 0);
}

#[test]
fn one_client_that_somebody_made_long_does_not_keep_the_others_out() {
    let sim = with_clients(40);
    sim.update_client(7, |client| client.name = "Ж".repeat(70_000));
    let mut server = Server::of(&sim).start();
    let result = server.call("list_clients", json!({}));
    assert!(text(&result).chars().count() <= MAX_CHARS);
    let answer = structured(&result);
    assert_eq!(answer["count"], 40);
    let clients = answer["clients"].as_array().unwrap();
    let at = clients.iter().position(|client| client["id"] == 7).unwrap();
    let kept = clients[at]["name"].as_str().unwrap().chars().count();
    assert!(kept > 1_000, "{kept}");
    assert_eq!(
        answer["truncated"],
        json!([{"field": format!("clients[{at}].name"), "kept": kept, "total": 70_000}])
    );
}

#[test]
fn an_empty_instance_is_an_empty_list() {
    let sim = with_clients(0);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        let result = server.call("list_clients", json!({}));
        assert_eq!(
            *structured(&result),
            json!({"untrusted": true, "source": "wg-easy", "count": 0, "clients": [], "total": 0})
        );
    });
}
