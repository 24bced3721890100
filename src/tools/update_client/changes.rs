//! What an update changes, and the question about it.

use crate::approval::Question;
use crate::tools::arguments::{Arguments, Wrong, listed};
use crate::tools::enable_client;
use crate::tools::networks::{Family, Reach};
use crate::tools::schema::{self, Schema};
use crate::tools::values::{self, Expiry};
use crate::untrusted::Line;
use crate::wg_easy::ClientId;
use crate::wg_easy::updatable::Updatable;
use jiff::Timestamp;
use serde_json::{Value, json};

/// The arguments that are fields of the client, in the order in which a question names them.
const FIELDS: [(&str, &str); 10] = [
    ("name", "Name"),
    ("enabled", "Enabled"),
    ("expiresAt", "Expires"),
    ("ipv4Address", "IPv4 address"),
    ("ipv6Address", "IPv6 address"),
    ("allowedIps", "Routes in the client's configuration"),
    ("serverAllowedIps", "Routes on the server"),
    ("dns", "DNS"),
    ("mtu", "MTU"),
    ("persistentKeepalive", "Keepalive"),
];

/// The schema of the arguments. Others are let through, so that they can be named in the answer.
pub(super) fn input() -> Schema {
    let texts = |about: &str| schema::list(json!({"type": "string"}), about);
    schema::object(
        &[
            ("clientId", schema::client_id()),
            ("name", schema::text(values::NAME_RULE)),
            ("enabled", schema::boolean("Whether it may connect")),
            (
                "expiresAt",
                schema::nullable(schema::expiry("When wg-easy disables it; null for never")),
            ),
            ("ipv4Address", schema::text("Its address inside the VPN")),
            (
                "ipv6Address",
                schema::text("Its IPv6 address inside the VPN"),
            ),
            (
                "allowedIps",
                schema::nullable(texts(
                    "IPs or CIDRs the client routes into the tunnel, the whole list, at least one; null for the \
                     server's default",
                )),
            ),
            (
                "serverAllowedIps",
                texts(
                    "IPs or CIDRs the server routes to this client besides its own addresses, the whole list; empty \
                     for none",
                ),
            ),
            (
                "dns",
                schema::nullable(texts(
                    "DNS servers, as IPs or host names, the whole list; null for the server's default",
                )),
            ),
            (
                "mtu",
                schema::integer_within(MTU.0, MTU.1, "The tunnel's MTU in bytes"),
            ),
            (
                "persistentKeepalive",
                schema::integer_within(
                    KEEPALIVE.0,
                    KEEPALIVE.1,
                    "Seconds between keepalive packets; 0 for none",
                ),
            ),
            ("confirm_token", schema::confirm_token()),
        ],
        &["clientId"],
    )
}

/// The bounds that wg-easy sets.
const MTU: (u64, u64) = (1024, 9000);
const KEEPALIVE: (u64, u64) = (0, 65_535);

/// The fields that a call sets, each checked.
pub(super) struct Changes {
    fields: Vec<(&'static str, Value)>,
    expiry: Option<Expiry>,
    ignored: Vec<String>,
}

impl Changes {
    /// Reads and checks the arguments.
    pub(super) fn read(arguments: &Arguments) -> Result<Self, Wrong> {
        let mut expiry = None;
        let mut fields = Vec::new();
        for (field, _) in FIELDS {
            if let Some(value) = arguments.value(field) {
                fields.push((field, checked(field, value, arguments, &mut expiry)?));
            }
        }
        let known: Vec<_> = FIELDS
            .iter()
            .map(|(field, _)| *field)
            .chain(["clientId", "confirm_token"])
            .collect();
        let ignored = arguments.others(&known);
        if fields.is_empty() {
            let names: Vec<_> = FIELDS.iter().map(|(field, _)| *field).collect();
            return Err(Wrong(format!(
                "There is nothing to change: give at least one of {}.{}",
                names.join(", "),
                if ignored.is_empty() {
                    String::new()
                } else {
                    format!(
                        " Not among them, and not to be set through this server: {}.",
                        listed(&ignored)
                    )
                }
            )));
        }
        Ok(Self {
            fields,
            expiry,
            ignored,
        })
    }

    /// The fields and their new values.
    pub(super) fn fields(&self) -> &[(&'static str, Value)] {
        &self.fields
    }

    /// The names of arguments that are not sent.
    pub(super) fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// The question about these changes of the client as it is.
    pub(super) fn question(&self, id: ClientId, client: &Updatable) -> Question {
        let names: Vec<_> = self.fields.iter().map(|(field, _)| *field).collect();
        let mut question = Question::new(
            format!("Change client {id}?"),
            format!(
                "This will change WireGuard client {id}: {}.",
                names.join(", ")
            ),
        )
        .hint("Tick to make exactly these changes.");
        for paragraph in self.consequences(client) {
            question = question.cost(paragraph);
        }
        let no_name = Line::new("");
        question = question.value("Client", &client.line("name").unwrap_or(no_name));
        for (field, label) in FIELDS {
            let Some((_, value)) = self.fields.iter().find(|(name, _)| *name == field) else {
                continue;
            };
            let old = client.line(field).unwrap_or_else(|| unset(field));
            // What is not shown is not approved, so nothing of the new value is cut away.
            let (first, rest) = shown(field, value);
            question = question.change(label, &old, &first).more(&rest);
        }
        if self.enables(client) {
            question = enable_client::keys(question, client.created());
            if self.expiry.is_none() && !self.sets("expiresAt") {
                let expires = client.line("expiresAt");
                question =
                    question.value("Expires", &expires.unwrap_or_else(|| unset("expiresAt")));
            }
        }
        question
    }

    fn sets(&self, field: &str) -> bool {
        self.fields.iter().any(|(name, _)| *name == field)
    }

    /// Whether a client that is disabled is enabled by this.
    fn enables(&self, client: &Updatable) -> bool {
        let on = Value::Bool(true);
        let asked = self
            .fields
            .iter()
            .any(|(name, value)| *name == "enabled" && *value == on);
        asked && !client.has("enabled", &on)
    }

    /// What the changes mean, in the server's own words: nothing in them comes from the caller or from
    /// wg-easy, save numbers that this server counted.
    fn consequences(&self, client: &Updatable) -> Vec<String> {
        let mut said = Vec::new();
        let same: Vec<_> = self
            .fields
            .iter()
            .filter(|(name, value)| client.has(name, value))
            .map(|(name, _)| *name)
            .collect();
        if same.len() == self.fields.len() {
            said.push(
                "As things are this changes nothing: every field has this value already."
                    .to_owned(),
            );
        } else if !same.is_empty() {
            said.push(format!(
                "These have the given value already: {}.",
                same.join(", ")
            ));
        }
        // A value that is there already has no consequences.
        let new = (self.fields.iter()).filter(|(field, value)| !client.has(field, value));
        for (field, value) in new {
            match (*field, value) {
                ("enabled", Value::Bool(true)) => {
                    said.push(format!("It lets the client connect. {}", enable_client::COST));
                }
                ("enabled", Value::Bool(false)) => said.push("It blocks the client.".to_owned()),
                ("expiresAt", Value::Null) => said.push("The client will never expire.".to_owned()),
                ("expiresAt", _) => said.extend(
                    self.expiry
                        .as_ref()
                        .map(|expiry| expiry.meaning(Timestamp::now())),
                ),
                ("ipv4Address" | "ipv6Address", _) => said.push(format!(
                    "It gives the client another {field}: rules elsewhere that name the old address no longer fit it, and \
                     the configuration that is installed on the peer stops working until it is replaced."
                )),
                ("serverAllowedIps", Value::Array(networks)) => said.extend(widened(networks, client)),
                ("allowedIps", value) => {
                    match value.as_array() {
                        Some(networks) => said.extend(everything(
                            networks,
                            "INTO THE TUNNEL",
                            |family| format!("the client's configuration then sends all its {family} traffic through the VPN"),
                        )),
                        None => said.push(SERVERS_DEFAULT.to_owned()),
                    }
                    said.push(
                        "allowedIps stands in the client's own configuration: it limits nothing on the server, and \
                         takes effect once the peer has installed its configuration anew."
                            .to_owned(),
                    );
                }
                _ => {}
            }
        }
        said
    }
}

/// What it means to leave the client's routes to the server.
const SERVERS_DEFAULT: &str = "allowedIps then is the server's default, WHICH MAY BE EVERY ADDRESS (0.0.0.0/0, ::/0) and is \
    so unless somebody has changed it: the client's configuration then sends all its traffic through the VPN.";

/// Whether the server's routes to the client reach further than before.
fn widened(networks: &[Value], client: &Updatable) -> Vec<String> {
    let new: Vec<String> = texts(networks).map(str::to_owned).collect();
    let before = client.texts("serverAllowedIps", |texts| Reach::of(texts));
    let beyond = before.beyond(&new).len();
    let mut said = everything(networks, "TO THIS CLIENT", |family| {
        format!(
            "the server then sends it the {family} traffic of everyone in the VPN, and takes any {family} source address \
             from it"
        )
    });
    if beyond > 0 {
        let which = match (beyond, new.len()) {
            (1, 1) => "the one network in it reaches".to_owned(),
            (1, all) => format!("1 of the {all} networks in it reaches"),
            (some, all) if some == all => format!("all {all} networks in it reach"),
            (some, all) => format!("{some} of the {all} networks in it reach"),
        };
        said.push(format!(
            "THIS WIDENS serverAllowedIps: {which} beyond what the client has now. The server sends the traffic for every \
             address in serverAllowedIps to this client, and the client can act as each of them.",
        ));
    }
    said
}

/// Whether networks cover every address there is, whichever way that is written.
fn everything(networks: &[Value], whereto: &str, means: impl Fn(&str) -> String) -> Vec<String> {
    let reach = Reach::of(texts(networks));
    [
        (Family::V4, "IPv4", "0.0.0.0/0"),
        (Family::V6, "IPv6", "::/0"),
    ]
    .into_iter()
    .filter(|(family, ..)| reach.is_everything(*family))
    .map(|(_, name, all)| {
        format!(
            "THIS ROUTES EVERY {name} ADDRESS ({all}) {whereto}: {}.",
            means(name)
        )
    })
    .collect()
}

fn texts(values: &[Value]) -> impl Iterator<Item = &str> {
    values.iter().filter_map(Value::as_str)
}

/// What it means that a field is `null`.
fn unset(field: &str) -> Line {
    Line::in_place_of_a_value(match field {
        "expiresAt" => "never",
        "allowedIps" | "dns" => "the server's default",
        _ => "none",
    })
}

/// A new value as people read it: its first line, and the others.
fn shown(field: &str, value: &Value) -> (Line, Vec<Line>) {
    match value {
        Value::String(text) => Line::whole(text),
        Value::Null => (unset(field), Vec::new()),
        Value::Array(list) => entries(list),
        value => Line::whole(&value.to_string()),
    }
}

/// A list on as many lines as it needs. A line ends between two entries, or in one that is too long for it.
fn entries(values: &[Value]) -> (Line, Vec<Line>) {
    let mut parts: Vec<String> = Vec::new();
    for text in texts(values) {
        match parts.last_mut() {
            Some(part) if part.chars().count() + 2 + text.chars().count() <= Line::MAX => {
                part.push_str(", ");
                part.push_str(text);
            }
            _ => parts.push(text.to_owned()),
        }
    }
    let mut lines = parts.iter().flat_map(|part| {
        let (first, rest) = Line::whole(part);
        std::iter::once(first).chain(rest)
    });
    let first = lines.next().unwrap_or_else(|| Line::new(""));
    (first, lines.collect())
}

fn checked(
    field: &'static str,
    value: &Value,
    arguments: &Arguments,
    expiry: &mut Option<Expiry>,
) -> Result<Value, Wrong> {
    let text = || {
        value
            .as_str()
            .ok_or_else(|| Wrong(format!("{field} has to be a string.")))
    };
    Ok(match field {
        "name" => values::name(text()?)?.into(),
        "enabled" if value.is_boolean() => value.clone(),
        "enabled" => return Err(Wrong("enabled has to be true or false.".to_owned())),
        "expiresAt" | "allowedIps" | "dns" if value.is_null() => Value::Null,
        "expiresAt" => {
            let date = Expiry::parse(text()?)?;
            let sent = date.as_str().into();
            *expiry = Some(date);
            sent
        }
        "ipv4Address" => {
            values::ipv4(field, text()?)?;
            value.clone()
        }
        "ipv6Address" => {
            values::ipv6(field, text()?)?;
            value.clone()
        }
        "allowedIps" => {
            let networks = values::networks(field, value)?;
            if networks.is_empty() {
                return Err(Wrong(
                    "allowedIps must not be an empty list; null stands for the server's default."
                        .to_owned(),
                ));
            }
            networks.into()
        }
        "serverAllowedIps" => values::networks(field, value)?.into(),
        "dns" => values::dns(field, value)?.into(),
        "mtu" => arguments.integer(field, MTU.0, MTU.1)?.into(),
        _ => arguments.integer(field, KEEPALIVE.0, KEEPALIVE.1)?.into(),
    })
}
