//! The simulator against what a real instance was measured to answer. The steps in
//! `fixtures/exchanges.jsonl` build on each other; `<key>`, `<iso>` and `<plain>` stand for values that
//! differ from run to run.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test"
)]

mod measured;
mod support;

use std::collections::HashMap;

use measured::{cookie_kind, error_body, is_guarded, normal, or};
use serde_json::{Value, json};
use support::{Answer, ask, authorization, basic};
use wg_easy_sim::{Account, Settings, Simulator};

const FIXTURE: &str = include_str!("../fixtures/exchanges.jsonl");

/// The body of an update that changes nothing about client 3.
fn update_body(changes: &Value) -> String {
    let mut body = json!({
        "name": "Clara", "enabled": true, "expiresAt": "2030-06-15", "ipv4Address": "10.8.0.4",
        "ipv6Address": "fdcc:ad94:bacf:61a4::cafe:4", "preUp": "", "postUp": "", "preDown": "", "postDown": "",
        "allowedIps": null, "serverAllowedIps": [], "firewallIps": null, "mtu": 1420, "jC": 7, "jMin": 10,
        "jMax": 1000, "i1": null, "i2": null, "i3": null, "i4": null, "i5": null, "persistentKeepalive": 0,
        "serverEndpoint": null, "dns": null
    });
    for (key, value) in changes.as_object().unwrap() {
        body[key] = value.clone();
    }
    body.to_string()
}

struct Replay {
    sim: Simulator,
    cookies: HashMap<String, String>,
    tokens: HashMap<u64, String>,
}

impl Replay {
    fn start(settings: Settings) -> Self {
        let mut cookies = HashMap::new();
        cookies.insert("stale".to_owned(), "wg-easy=Fe26.2**stale".to_owned());
        Self {
            sim: Simulator::start(settings),
            cookies,
            tokens: HashMap::new(),
        }
    }

    fn prepare(&mut self, step: &Value) {
        let id = step["id"].as_u64().unwrap_or_default();
        match step["do"].as_str().unwrap() {
            "start" => {
                let ipv4_cidr = step["cidr"].as_str().map(str::to_owned);
                *self = Self::start(Settings {
                    ipv4_cidr,
                    ..Settings::default()
                });
            }
            "start without set-up" => {
                *self = Self::start(Settings {
                    setup_done: false,
                    ..Settings::default()
                })
            }
            "add" => _ = self.sim.add_client(step["name"].as_str().unwrap()),
            "remove" => assert!(self.sim.remove_client(id)),
            "minute job" => self.sim.run_minute_job(),
            "advance" => self.sim.advance_clock(std::time::Duration::from_secs(
                step["seconds"].as_u64().unwrap(),
            )),
            "handshake" => {
                let now = self.sim.now();
                let endpoint = step["endpoint"].as_str().map(str::to_owned);
                assert!(self.sim.update_client(id, |client| {
                    (client.latest_handshake_at, client.endpoint) = (Some(now), endpoint);
                    (client.transfer_rx, client.transfer_tx) =
                        (step["received"].as_u64().unwrap_or(276), 92);
                }));
            }
            "mint link" => {
                let target = format!("/api/client/{id}/generateOneTimeLink");
                assert_eq!(support::admin(&self.sim, "POST", &target, "").status, 200);
            }
            "second factor" => {
                let secret = step["secret"].as_str().map(str::to_owned);
                self.sim
                    .update_account(|account| account.totp_secret = secret);
            }
            "basic cookie" => {
                let answer = ask(
                    &self.sim,
                    "GET",
                    "/api/client",
                    &[("Authorization", &authorization(&self.sim))],
                    "",
                );
                self.cookies
                    .insert("basic".to_owned(), answer.unwrap().cookie().unwrap());
            }
            other => panic!("unknown step {other}"),
        }
    }

    /// Remembers every link. One token in forty has no letter, and then upper case would be no change.
    fn note_tokens(&mut self) {
        for client in self.sim.clients() {
            let Some(mut link) = client.one_time_link else {
                continue;
            };
            if link.token.bytes().all(|byte| byte.is_ascii_digit()) {
                link.token.replace_range(..1, "a");
                self.sim.update_client(client.id, |client| {
                    client.one_time_link = Some(link.clone())
                });
            }
            self.tokens.insert(client.id, link.token);
        }
    }

    fn fill(&self, text: &str) -> String {
        let account = self.sim.account();
        let mut text = text.replace("<password>", &account.password);
        text = text.replace(
            "<login>",
            authorization(&self.sim).strip_prefix("Basic ").unwrap(),
        );
        for (id, token) in &self.tokens {
            text = text.replace(&format!("<token {id}>"), token);
            text = text.replace(&format!("<TOKEN {id}>"), &token.to_uppercase());
        }
        text.replace("<code>", &self.sim.totp_code().unwrap_or_default())
    }

    fn send(&mut self, step: &Value) -> Answer {
        self.note_tokens();
        let call = self.fill(step["call"].as_str().unwrap());
        let (method, target) = call.split_once(' ').unwrap();
        let mut headers: Vec<(String, String)> = Vec::new();
        let given = step["headers"].as_object().cloned().unwrap_or_default();
        headers.extend(
            given
                .into_iter()
                .map(|(name, value)| (name, value.as_str().unwrap().to_owned())),
        );
        let account = self.sim.account();
        let login = match step["as"].as_str() {
            Some("admin") => Some(authorization(&self.sim)),
            Some("wrong password") => Some(basic(&account.username, "not-the-password")),
            Some("unknown user") => Some(basic("nobody", &account.password)),
            Some("wrong case") => Some(basic("Admin", &account.password)),
            Some(other) => panic!("nobody called {other}"),
            None => step["authorization"].as_str().map(|text| self.fill(text)),
        };
        headers.extend(login.map(|login| ("Authorization".to_owned(), login)));
        let cookie = step["cookie"]
            .as_str()
            .map(|kind| self.cookies[kind].clone());
        headers.extend(cookie.map(|cookie| ("Cookie".to_owned(), cookie)));
        let mut body = step["send"]
            .as_str()
            .map(|text| self.fill(text))
            .unwrap_or_default();
        if !step["update"].is_null() {
            body = update_body(&step["update"]);
        }
        if let Some(id) = step["echo"].as_u64() {
            let login = authorization(&self.sim);
            body = ask(
                &self.sim,
                "GET",
                &format!("/api/client/{id}"),
                &[("Authorization", &login)],
                "",
            )
            .unwrap()
            .text();
        }
        if !step["update"].is_null() || !step["echo"].is_null() {
            headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        }
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let answer = ask(&self.sim, method, target, &headers, &body).unwrap();
        if let Some(cookie) = answer
            .cookie()
            .filter(|_| target.starts_with("/api/auth/") && answer.status == 200)
        {
            self.cookies.insert("login".to_owned(), cookie);
        }
        answer
    }

    fn check(&self, step: &Value, answer: &Answer) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut compare = |what: &str, expected: &Value, got: Value| {
            if *expected != got {
                wrong.push(format!("{what}: expected {expected}, got {got}"));
            }
        };
        let optional = |value: Option<&str>| value.map_or(Value::Null, Value::from);
        compare("status", &step["status"], json!(answer.status));
        compare("reason", &or(&step["reason"], "OK"), json!(answer.reason));
        compare(
            "type",
            &or(&step["type"], "application/json"),
            optional(answer.header("content-type")),
        );
        compare("cookie", &step["sets"], optional(cookie_kind(answer)));
        compare(
            "location",
            &step["location"],
            optional(answer.header("location")),
        );
        let guarded = if is_guarded(answer) {
            json!(true)
        } else {
            Value::Null
        };
        compare("security headers", &step["guarded"], guarded);
        let file = answer
            .header("content-disposition")
            .and_then(|text| text.split('"').nth(1));
        compare(
            "file",
            &step["file"],
            optional(file.and_then(|name| name.strip_suffix(".conf"))),
        );
        if let Some(ids) = step.get("ids") {
            let rows = answer.json();
            let got: Vec<Value> = rows
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row["id"].clone())
                .collect();
            compare("ids", ids, json!(got));
        } else if let Some(size) = step.get("size") {
            let fits = (size[0].as_u64().unwrap()..size[1].as_u64().unwrap())
                .contains(&(answer.body.len() as u64));
            compare("size fits", &json!(true), json!(fits));
        } else if step["error"] == true {
            compare(
                "body",
                &json!(error_body(step, &self.fill(step["call"].as_str().unwrap()))),
                json!(answer.text()),
            );
        } else if step["configuration"] == true {
            let client = self
                .sim
                .clients()
                .into_iter()
                .find(|client| answer.text().contains(&client.private_key));
            compare(
                "configuration",
                &json!(client.and_then(|client| self.sim.configuration(client.id))),
                json!(answer.text()),
            );
        } else {
            compare(
                "body",
                &or(&step["body"], r#"{"success":true}"#),
                json!(normal(&answer.text())),
            );
        }
        wrong
    }
}

#[test]
fn answers_what_a_real_instance_answered() {
    let mut replay = Replay::start(Settings::default());
    let (mut exchanges, mut failures) = (0, Vec::new());
    for line in FIXTURE.lines() {
        let step: Value = serde_json::from_str(line).unwrap();
        if step.get("do").is_some() {
            replay.prepare(&step);
            continue;
        }
        exchanges += 1;
        let answer = replay.send(&step);
        for wrong in replay.check(&step, &answer) {
            failures.push(format!("{} ({}): {wrong}", step["case"], step["call"]));
        }
    }
    assert!(
        failures.is_empty(),
        "{} differences:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(exchanges >= 220, "only {exchanges} exchanges were replayed");
    assert_eq!(
        Account::default().username,
        "admin",
        "the fixture names this user"
    );
}
