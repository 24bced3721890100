//! What needs no question: looking.

use crate::Problem;
use crate::screen::{Cell, Look};
use crate::stage::{Stage, value};
use crate::{instance, qr, time};
use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) fn tools(stage: &mut Stage) -> Result<(), Problem> {
    stage.scene(
        "What an AI gets",
        "The tools as the server lists them. A guarded one does nothing until a person has seen what \
         is about to happen and said yes.",
    );
    let tools = stage.tools()?;
    let rows: Vec<Vec<Cell>> = tools
        .iter()
        .map(|tool| {
            let text = |name: &str| tool.get(name).and_then(Value::as_str).unwrap_or_default();
            let hint =
                |name: &str| tool.pointer(&format!("/annotations/{name}")) == Some(&true.into());
            let effect = match (hint("readOnlyHint"), asks(tool)) {
                (true, _) => ("reads", Look::Dim),
                (false, true) => ("asks a person", Look::Yellow),
                (false, false) => ("acts at once", Look::Green),
            };
            vec![
                (text("name").to_owned(), Look::Bold),
                (text("title").to_owned(), Look::Plain),
                (effect.0.to_owned(), effect.1),
            ]
        })
        .collect();
    stage.screen.table(&["tool", "", "when called, it"], &rows);
    stage.screen.gap();
    stage.prove(
        tools.len() == 11 && tools.iter().filter(|tool| asks(tool)).count() == 5,
        "eleven tools, five of which ask",
    )
}

/// A tool that asks has a way to be confirmed where no dialog can be shown.
fn asks(tool: &Value) -> bool {
    tool.pointer("/inputSchema/properties/confirm_token")
        .is_some()
}

pub(crate) fn clients(stage: &mut Stage) -> Result<(), Problem> {
    stage.scene(
        "Who is on the VPN",
        "The AI gets JSON in which keys and links are redacted; here it is as a table.",
    );
    let result = stage.call("Who is on my VPN?", "list_clients", json!({}))?;
    let clients = value(&result, "/clients")?.as_array().cloned();
    let clients = clients.ok_or("the clients are no list")?;
    let now = stage.wg_easy.now();
    let rows: Vec<_> = clients.iter().map(|client| row(client, now)).collect();
    stage.screen.table(
        &[
            "id",
            "name",
            "status",
            "address",
            "last seen",
            "received",
            "sent",
        ],
        &rows,
    );
    stage.screen.gap();
    let mut listed: Vec<_> = clients
        .iter()
        .map(|client| (client.get("id").cloned(), client.get("name").cloned()))
        .collect();
    listed.sort_by_key(|(id, _)| id.as_ref().and_then(Value::as_u64));
    let known = stage.wg_easy.clients();
    let known = known
        .iter()
        .map(|client| (Some(json!(client.id)), Some(json!(client.name))));
    stage.prove(
        listed.into_iter().eq(known),
        "these are the clients that wg-easy has, all of them and no other",
    )?;
    record(stage)
}

/// What a record holds besides what the list shows; its keys stay in the server.
fn record(stage: &mut Stage) -> Result<(), Problem> {
    stage.screen.gap();
    let wish = "What is the key of my laptop?";
    let result = stage.call(wish, "get_client", json!({"clientId": instance::LAPTOP}))?;
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (label, field) in [
        ("public key", "/publicKey"),
        ("private key", "/privateKey"),
        ("pre-shared key", "/preSharedKey"),
    ] {
        let text = value(&result, field)?.as_str().unwrap_or_default();
        let look = match text {
            "[redacted]" => Look::Yellow,
            _ => Look::Plain,
        };
        rows.push(vec![(label.to_owned(), Look::Dim), (text.to_owned(), look)]);
    }
    stage.screen.table(&[], &rows);
    stage.screen.gap();
    let known = stage
        .wg_easy
        .client(instance::LAPTOP)
        .ok_or("the client is gone")?;
    stage.prove(
        value(&result, "/publicKey")? == &json!(known.public_key)
            && value(&result, "/privateKey")? == &json!("[redacted]")
            && value(&result, "/preSharedKey")? == &json!("[redacted]"),
        "the public key is the client's; the secret ones stay in the server",
    )
}

fn row(client: &Value, now: Timestamp) -> Vec<Cell> {
    let text = |name: &str| client.get(name).and_then(Value::as_str).unwrap_or_default();
    let date = |name: &str| time::parsed(text(name));
    let bytes = |name: &str| {
        let count = client.get(name).and_then(Value::as_u64);
        (count.map_or("–".to_owned(), time::bytes), Look::Plain)
    };
    let enabled = client.get("enabled") == Some(&true.into());
    let status = match date("expiresAt") {
        Some(at) if at <= now => ("expired".to_owned(), Look::Red),
        _ if !enabled => ("disabled".to_owned(), Look::Yellow),
        Some(at) => (format!("ends {}", time::relative(at, now)), Look::Green),
        None => ("active".to_owned(), Look::Green),
    };
    let seen = match date("latestHandshakeAt") {
        Some(at) => (time::relative(at, now), Look::Plain),
        None => ("–".to_owned(), Look::Dim),
    };
    let id = client.get("id").map(Value::to_string).unwrap_or_default();
    vec![
        (id, Look::Dim),
        (text("name").to_owned(), Look::Bold),
        status,
        (text("ipv4Address").to_owned(), Look::Plain),
        seen,
        bytes("transferRx"),
        bytes("transferTx"),
    ]
}

pub(crate) fn server(stage: &mut Stage) -> Result<(), Problem> {
    stage.scene(
        "The server behind it",
        "Three parts of wg-easy's administration, read at the same time.",
    );
    let result = stage.call("Is my VPN server up to date?", "get_server_info", json!({}))?;
    let shown = |pointer: &str| {
        value(&result, pointer).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    };
    let update = match value(&result, "/information/updateAvailable")?.as_bool() {
        Some(true) => ("a newer release is out", Look::Yellow),
        _ => ("up to date", Look::Green),
    };
    let release = shown("/information/currentRelease")?;
    let field =
        |label: &str, value: String| vec![(label.to_owned(), Look::Dim), (value, Look::Plain)];
    let rows = [
        vec![
            ("wg-easy".to_owned(), Look::Dim),
            (format!("{release}, {}", update.0), update.1),
        ],
        field(
            "interface",
            format!(
                "{}, UDP port {}",
                shown("/interface/name")?,
                shown("/interface/port")?
            ),
        ),
        field(
            "networks",
            format!(
                "{}  {}",
                shown("/interface/ipv4Cidr")?,
                shown("/interface/ipv6Cidr")?
            ),
        ),
        field("public key", shown("/interface/publicKey")?),
    ];
    stage.screen.table(&[], &rows);
    stage.screen.gap();
    stage.prove(
        shown("/interface/publicKey")? == stage.wg_easy.server_public_key(),
        "the key is the one that wg-easy's interface has",
    )
}

pub(crate) fn qr_code(stage: &mut Stage) -> Result<(), Problem> {
    stage.scene(
        "A key, because you asked for it",
        "A QR code holds a private key. It goes out only when it is asked for by name, and the picture \
         is addressed to you, not to the AI.",
    );
    let result = stage.call(
        "Show me the QR code for my phone.",
        "get_client_qrcode",
        json!({"clientId": instance::PHONE}),
    )?;
    let image = result
        .get("content")
        .and_then(Value::as_array)
        .and_then(|blocks| {
            blocks
                .iter()
                .find(|block| block.get("type") == Some(&"image".into()))
        })
        .ok_or("the answer has no picture")?;
    let png = image
        .get("data")
        .and_then(Value::as_str)
        .unwrap_or_default();
    qr::draw(stage.screen, png)?;
    stage.screen.gap();
    let audience = image.pointer("/annotations/audience");
    stage.prove(
        audience == Some(&json!(["user"])),
        "scan it with a WireGuard app: the profile is real, its VPN is not",
    )
}
