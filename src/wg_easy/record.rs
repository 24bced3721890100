//! Typed readers of what wg-easy sends.
//!
//! One table names the fields of each record and their types. It is read here, at the boundary, with a
//! check of exactly that type, and the tools' output schemas are made from it, so the two cannot drift
//! apart. A field that fails its check is left out: never the whole record, never the whole list. A
//! field that no table names (a newer release has it) is passed on whatever its type.

use crate::untrusted::{Line, Untrusted, json};
use serde_json::{Map, Value};

/// A record that wg-easy sent, every field of the table exactly of its type.
pub type Record = Untrusted<Map<String, Value>>;

/// A field of a record.
#[derive(Debug)]
pub struct Field {
    /// Its name, as wg-easy spells it.
    pub name: &'static str,
    /// What its value must be.
    pub kind: Kind,
    /// Whether it may be `null` as well.
    pub nullable: bool,
    /// What it means, for whoever reads the schema.
    pub about: &'static str,
}

/// The type of a field.
#[derive(Debug)]
pub enum Kind {
    /// A string.
    Text,
    /// A number without a fraction.
    Integer,
    /// A finite number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An array of strings.
    Texts,
    /// An object with these fields, and perhaps others.
    Object(&'static [Field]),
    /// A one-time link: the row that the list joins on, or its bare value.
    Link(&'static [Field]),
}

const fn field(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field {
        name,
        kind,
        nullable: false,
        about,
    }
}

const fn nullable(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field {
        name,
        kind,
        nullable: true,
        about,
    }
}

/// A client (WireGuard calls it a peer), in the list or by id. wg-easy has some fields in one place
/// and not in the other.
pub const CLIENT: &[Field] = &[
    field(
        "id",
        Kind::Integer,
        "The id that the other tools take as clientId",
    ),
    field(
        "userId",
        Kind::Integer,
        "The wg-easy user who owns the client",
    ),
    field(
        "interfaceId",
        Kind::Text,
        "The WireGuard interface it belongs to",
    ),
    field("name", Kind::Text, "Its display name; names are not unique"),
    field("ipv4Address", Kind::Text, "Its address inside the VPN"),
    field("ipv6Address", Kind::Text, "Its IPv6 address inside the VPN"),
    field(
        "preUp",
        Kind::Text,
        "A shell hook; cannot be set through this server",
    ),
    field(
        "postUp",
        Kind::Text,
        "A shell hook; cannot be set through this server",
    ),
    field(
        "preDown",
        Kind::Text,
        "A shell hook; cannot be set through this server",
    ),
    field(
        "postDown",
        Kind::Text,
        "A shell hook; cannot be set through this server",
    ),
    field("privateKey", Kind::Text, "Always redacted"),
    field(
        "publicKey",
        Kind::Text,
        "Its public key, which identifies the peer",
    ),
    field("preSharedKey", Kind::Text, "Always redacted"),
    nullable(
        "expiresAt",
        Kind::Text,
        "When wg-easy disables it; null for never",
    ),
    nullable(
        "allowedIps",
        Kind::Texts,
        "What the client routes into the tunnel; null for the server's default",
    ),
    field(
        "serverAllowedIps",
        Kind::Texts,
        "What the server routes to the client besides its own addresses",
    ),
    nullable(
        "firewallIps",
        Kind::Texts,
        "What the firewall lets it reach; null for the default",
    ),
    field(
        "persistentKeepalive",
        Kind::Number,
        "Seconds between keepalive packets; 0 for none",
    ),
    field("mtu", Kind::Number, "The tunnel's MTU in bytes"),
    nullable("jC", Kind::Number, "AmneziaWG: number of junk packets"),
    nullable(
        "jMin",
        Kind::Number,
        "AmneziaWG: smallest junk packet in bytes",
    ),
    nullable(
        "jMax",
        Kind::Number,
        "AmneziaWG: largest junk packet in bytes",
    ),
    nullable("i1", Kind::Text, "AmneziaWG: signature packet"),
    nullable("i2", Kind::Text, "AmneziaWG: signature packet"),
    nullable("i3", Kind::Text, "AmneziaWG: signature packet"),
    nullable("i4", Kind::Text, "AmneziaWG: signature packet"),
    nullable("i5", Kind::Text, "AmneziaWG: signature packet"),
    nullable(
        "dns",
        Kind::Texts,
        "Its DNS servers; null for the server's default",
    ),
    nullable(
        "serverEndpoint",
        Kind::Text,
        "The endpoint in its configuration; null for the server's default",
    ),
    field("enabled", Kind::Boolean, "Whether it may connect"),
    field("createdAt", Kind::Text, "When it was created, UTC"),
    field("updatedAt", Kind::Text, "When it was last changed, UTC"),
    nullable(
        "endpoint",
        Kind::Text,
        "The address it was last seen at; null before its first handshake",
    ),
    nullable(
        "latestHandshakeAt",
        Kind::Text,
        "Its last handshake, UTC; null for none",
    ),
    nullable(
        "transferRx",
        Kind::Number,
        "Bytes received from it; null when disabled",
    ),
    nullable(
        "transferTx",
        Kind::Number,
        "Bytes sent to it; null when disabled",
    ),
    nullable(
        "oneTimeLink",
        Kind::Link(ONE_TIME_LINK),
        "A live one-time link; its value is always redacted",
    ),
];

/// What wg-easy wants of a client when it is changed: all of it, or as much of it as its release knows.
pub const UPDATABLE: [&str; 24] = [
    "name",
    "enabled",
    "expiresAt",
    "ipv4Address",
    "ipv6Address",
    "preUp",
    "postUp",
    "preDown",
    "postDown",
    "allowedIps",
    "serverAllowedIps",
    "firewallIps",
    "mtu",
    "jC",
    "jMin",
    "jMax",
    "i1",
    "i2",
    "i3",
    "i4",
    "i5",
    "persistentKeepalive",
    "serverEndpoint",
    "dns",
];

/// The row that the list joins onto a client that has a one-time link.
const ONE_TIME_LINK: &[Field] = &[
    field("id", Kind::Integer, "The client's id"),
    field("oneTimeLink", Kind::Text, "Always redacted"),
    field("expiresAt", Kind::Text, "Until when the link works, UTC"),
    field("createdAt", Kind::Text, "When it was made, UTC"),
    field("updatedAt", Kind::Text, "When it was last renewed, UTC"),
];

/// wg-easy's release.
pub const INFORMATION: &[Field] = &[
    field("currentRelease", Kind::Text, "The release that is running"),
    field(
        "latestRelease",
        Kind::Object(LATEST_RELEASE),
        "The newest release",
    ),
    field(
        "updateAvailable",
        Kind::Boolean,
        "Whether the newest release is newer",
    ),
    field(
        "insecure",
        Kind::Boolean,
        "Whether wg-easy serves its UI without TLS",
    ),
    field("isAwg", Kind::Boolean, "Whether it runs AmneziaWG"),
    field(
        "firewallEnabled",
        Kind::Boolean,
        "Whether per-client firewall rules are in force",
    ),
];

const LATEST_RELEASE: &[Field] = &[
    field("version", Kind::Text, "Its version"),
    field("changelog", Kind::Text, "What it changes"),
];

/// wg-easy's general settings.
pub const GENERAL: &[Field] = &[
    field(
        "sessionTimeout",
        Kind::Number,
        "Seconds until a login to the UI ends",
    ),
    field(
        "metricsPrometheus",
        Kind::Boolean,
        "Whether Prometheus metrics are served",
    ),
    field(
        "metricsJson",
        Kind::Boolean,
        "Whether JSON metrics are served",
    ),
    nullable(
        "metricsPassword",
        Kind::Text,
        "Always redacted; null when there is none",
    ),
];

/// The WireGuard interface.
pub const INTERFACE: &[Field] = &[
    field("name", Kind::Text, "The interface's name"),
    field(
        "device",
        Kind::Text,
        "The network device that traffic leaves by",
    ),
    field("port", Kind::Integer, "The UDP port WireGuard listens on"),
    field("privateKey", Kind::Text, "Always redacted"),
    field("publicKey", Kind::Text, "The server's public key"),
    field("ipv4Cidr", Kind::Text, "The clients' IPv4 network"),
    field("ipv6Cidr", Kind::Text, "The clients' IPv6 network"),
    field("mtu", Kind::Number, "The interface's MTU in bytes"),
    field("routingTable", Kind::Text, "The routing table it uses"),
    field("enabled", Kind::Boolean, "Whether it is up"),
    field(
        "firewallEnabled",
        Kind::Boolean,
        "Whether per-client firewall rules are in force",
    ),
    field("createdAt", Kind::Text, "When it was created, UTC"),
    field("updatedAt", Kind::Text, "When it was last changed, UTC"),
];

/// Why a body is not the record or the list that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// A client as it has to be sent back when some of it changes.
#[derive(Debug)]
pub struct Updatable {
    fields: Untrusted<Map<String, Value>>,
    created: Option<Line>,
}

/// Why a client cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotUpdatable {
    /// What was read is not a client.
    Malformed,
    /// This field of what was read does not have its type. Sending the rest would lose it, or break
    /// the instance.
    WrongType(&'static str),
    /// This field is to be changed, and this release of wg-easy does not have it.
    NoSuchField(&'static str),
}

impl Updatable {
    /// Reads a client for a change. Keys, links and everything else that wg-easy does not take back
    /// stay behind; a field that an older release does not have is not made up.
    pub fn from_body(body: &Untrusted<Vec<u8>>) -> Result<Self, NotUpdatable> {
        let body = text(body.as_sent());
        let members = json::members(&body).ok_or(NotUpdatable::Malformed)?;
        let mut fields = Map::new();
        for field in CLIENT
            .iter()
            .filter(|field| UPDATABLE.contains(&field.name))
        {
            let found = members.iter().rev().find(|(name, _)| name == field.name);
            if let Some((_, raw)) = found {
                let value = typed(raw, field).ok_or(NotUpdatable::WrongType(field.name))?;
                fields.insert(field.name.to_owned(), value);
            }
        }
        let created = members.iter().rev().find(|(name, _)| name == "createdAt");
        let created = created.and_then(|(_, raw)| serde_json::from_str::<String>(raw).ok());
        Ok(Self {
            fields: Untrusted::new(fields),
            created: created.map(|created| Line::new(&created)),
        })
    }

    /// What to send: everything as it was, save what `changes` names.
    pub fn with(
        &self,
        changes: &[(&'static str, Value)],
    ) -> Result<Map<String, Value>, NotUpdatable> {
        let mut fields = self.fields.as_sent().clone();
        for (name, value) in changes {
            match fields.get_mut(*name) {
                Some(field) => *field = value.clone(),
                None => return Err(NotUpdatable::NoSuchField(name)),
            }
        }
        Ok(fields)
    }

    /// Whether a field has this value.
    pub fn has(&self, name: &str, value: &Value) -> bool {
        self.fields.as_sent().get(name) == Some(value)
    }

    /// Whether a field has the same value in both.
    pub fn same(&self, other: &Self, name: &str) -> bool {
        self.fields.as_sent().get(name) == other.fields.as_sent().get(name)
    }

    /// When the client, and with it its key pair, was created; not sent back.
    pub fn created(&self) -> Option<&Line> {
        self.created.as_ref()
    }

    /// A field as people read it: a text as it is, a list with commas, nothing for `null`.
    pub fn line(&self, name: &str) -> Option<Line> {
        let shown = match self.fields.as_sent().get(name)? {
            Value::String(text) => text.clone(),
            Value::Array(texts) => {
                let texts: Vec<_> = texts.iter().filter_map(Value::as_str).collect();
                texts.join(", ")
            }
            Value::Null => return None,
            value => value.to_string(),
        };
        Some(Line::new(&shown))
    }

    /// Reads the entries of a list of texts, without handing one out.
    pub fn texts<T>(
        &self,
        name: &str,
        read: impl FnOnce(&mut dyn Iterator<Item = &str>) -> T,
    ) -> T {
        let texts = self.fields.as_sent().get(name).and_then(Value::as_array);
        read(&mut texts.into_iter().flatten().filter_map(Value::as_str))
    }
}

/// A one-time link's value. Whoever has it fetches a configuration without a login.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkToken(String);

impl LinkToken {
    /// The value, for the one tool that was asked for it by name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A live one-time link.
#[derive(Clone, PartialEq, Eq)]
pub struct OneTimeLink {
    /// Its value.
    pub token: LinkToken,
    /// Until when it works; in a form that can stand in an answer.
    pub expires_at: Option<String>,
}

impl Record {
    /// The client's one-time link, if it has one whose value looks like one: letters and digits, which
    /// need no escaping in a URL.
    pub fn one_time_link(&self) -> Option<OneTimeLink> {
        let row = self.as_sent().get("oneTimeLink")?.as_object()?;
        let token = row.get("oneTimeLink")?.as_str()?;
        let is_token =
            (1..=128).contains(&token.len()) && token.bytes().all(|b| b.is_ascii_alphanumeric());
        is_token.then(|| OneTimeLink {
            token: LinkToken(token.to_owned()),
            expires_at: row
                .get("expiresAt")
                .and_then(Value::as_str)
                .map(|text| Line::new(text).as_str().to_owned()),
        })
    }

    /// Whether the text field `name` is exactly `text`.
    pub fn is_text(&self, name: &str, text: &str) -> bool {
        self.as_sent().get(name).and_then(Value::as_str) == Some(text)
    }
}

impl Record {
    /// Reads one object.
    pub fn read(raw: &str, table: &'static [Field]) -> Result<Self, Malformed> {
        object(raw, table).map(Untrusted::new).ok_or(Malformed)
    }

    /// Reads a whole body that is one object.
    pub fn from_body(
        body: &Untrusted<Vec<u8>>,
        table: &'static [Field],
    ) -> Result<Self, Malformed> {
        Self::read(&text(body.as_sent()), table)
    }
}

/// The list of clients: the body, split into its rows, each read when it is asked for, so that no tree
/// of the whole document is ever built.
pub struct ClientList {
    body: String,
    rows: Vec<std::ops::Range<usize>>,
    skipped: usize,
}

impl ClientList {
    /// Splits a list's body into its rows.
    pub fn from_body(body: Untrusted<Vec<u8>>) -> Result<Self, Malformed> {
        // Without a copy, if it is text.
        let body = match String::from_utf8(body.into_sent()) {
            Ok(mut body) => {
                if body.starts_with('\u{feff}') {
                    body.remove(0);
                }
                body
            }
            Err(error) => text(error.as_bytes()).into_owned(),
        };
        let start = body.as_ptr().addr();
        let elements = json::elements(&body).ok_or(Malformed)?;
        let total = elements.len();
        let rows: Vec<_> = elements
            .into_iter()
            .filter(|row| row.starts_with('{'))
            .map(|row| {
                // A row is a slice of the body, so its address tells where it stands.
                let from = row.as_ptr().addr() - start;
                from..from + row.len()
            })
            .collect();
        let skipped = total - rows.len();
        Ok(Self {
            body,
            rows,
            skipped,
        })
    }

    /// How many entries were not objects, and are left out.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// The rows, in wg-easy's order.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows
            .iter()
            .filter_map(|range| self.body.get(range.clone()).map(Row))
    }

    /// The row of one client.
    pub fn client(&self, id: u64) -> Option<Record> {
        self.rows()
            .filter_map(|row| row.record().ok())
            .find(|record| record.integer("id") == Some(id))
    }
}

/// One row of the list, not yet read.
#[derive(Clone, Copy)]
pub struct Row<'a>(&'a str);

impl Row<'_> {
    /// Reads the row.
    pub fn record(&self) -> Result<Record, Malformed> {
        Record::read(self.0, CLIENT)
    }

    /// What the name is compared by: cleaned, in lower case. Empty where there is no name.
    pub fn folded_name(&self) -> String {
        json::member(self.0, "name")
            .and_then(|raw| serde_json::from_str::<String>(raw).ok())
            .map(|name| crate::untrusted::clean(&name).to_lowercase())
            .unwrap_or_default()
    }
}

/// A byte that is not UTF-8 costs the text it stands in, not the document.
fn text(body: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body))
}

fn object(raw: &str, table: &'static [Field]) -> Option<Map<String, Value>> {
    let members = json::members(raw)?;
    let mut fields = Map::with_capacity(members.len());
    for (name, raw) in members {
        let value = match table.iter().find(|field| field.name == name) {
            Some(field) => typed(raw, field),
            None => Some(json::lenient(raw)),
        };
        match value {
            Some(value) => fields.insert(name.into_owned(), value),
            // Of two members the last one counts, also when it is no good.
            None => fields.shift_remove(name.as_ref()),
        };
    }
    Some(fields)
}

fn typed(raw: &str, field: &'static Field) -> Option<Value> {
    if field.nullable && raw == "null" {
        return Some(Value::Null);
    }
    let scalar = || serde_json::from_str::<Value>(raw).ok();
    match &field.kind {
        Kind::Text => scalar().filter(Value::is_string),
        Kind::Boolean => scalar().filter(Value::is_boolean),
        Kind::Number => scalar().filter(Value::is_number),
        Kind::Integer => scalar().filter(|value| {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }),
        Kind::Texts => json::elements(raw)?
            .into_iter()
            .map(|raw| serde_json::from_str::<String>(raw).ok().map(Value::String))
            .collect::<Option<Vec<_>>>()
            .map(Value::Array),
        Kind::Object(table) => object(raw, table).map(Value::Object),
        Kind::Link(table) => scalar()
            .filter(Value::is_string)
            .or_else(|| object(raw, table).map(Value::Object)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn client(raw: &str) -> Value {
        Value::Object(Record::read(raw, CLIENT).unwrap().as_sent().clone())
    }

    #[test]
    fn a_field_of_the_wrong_type_is_left_out_alone() {
        assert_eq!(
            client(
                r#"{"id":"1","name":7,"enabled":1,"mtu":1e999,"transferRx":12,"dns":["1.1.1.1",2],"allowedIps":null,
                    "ipv4Address":"\ud800","ipv6Address":"::1","expiresAt":null,"publicKey":null,"serverAllowedIps":["10.0.0.0/8"],
                    "oneTimeLink":{"id":1,"expiresAt":5},"newField":{"x":1e999}}"#
            ),
            json!({
                "transferRx": 12, "allowedIps": null, "ipv6Address": "::1", "expiresAt": null,
                "serverAllowedIps": ["10.0.0.0/8"], "oneTimeLink": {"id": 1}, "newField": {"x": null},
            })
        );
    }

    #[test]
    fn the_last_of_two_members_counts_even_when_it_is_no_good() {
        assert_eq!(client(r#"{"id":1,"id":"x"}"#), json!({}));
        assert_eq!(client(r#"{"id":"x","id":1}"#), json!({"id": 1}));
    }

    #[test]
    fn entries_that_are_no_objects_are_counted() {
        let body =
            Untrusted::new(br#"[{"id":1,"name":"A"},null,5,"x",[],{"id":2,"name":"B"}]"#.to_vec());
        let list = ClientList::from_body(body).unwrap();
        assert_eq!(list.skipped(), 4);
        let names: Vec<_> = list.rows().map(|row| row.folded_name()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(list.client(2).is_some() && list.client(3).is_none());
    }

    #[test]
    fn a_body_that_is_no_list_is_malformed() {
        for body in ["", "{}", "null", "[", "[1,]", "<html>"] {
            assert!(ClientList::from_body(Untrusted::new(body.as_bytes().to_vec())).is_err());
        }
    }

    proptest! {
        #[test]
        fn whatever_a_row_holds_every_typed_field_has_its_type(raws in prop::collection::vec((0..CLIENT.len(), prop::sample::select(vec![
            "null", "1", "1.5", "-1", "1e999", "true", "\"x\"", "\"\\ud800\"", "[]", "[\"a\"]", "[1]", "{}", "{\"id\":1}", "[[[[]]]]",
        ])), 0..40)) {
            let raw = format!("{{{}}}", raws.iter().map(|(at, raw)| format!("\"{}\":{raw}", CLIENT[*at].name)).collect::<Vec<_>>().join(","));
            let record = client(&raw);
            for (name, value) in record.as_object().unwrap() {
                let field = CLIENT.iter().find(|field| field.name == name).unwrap();
                let right = match &field.kind {
                    Kind::Text => value.is_string(),
                    Kind::Boolean => value.is_boolean(),
                    Kind::Number => value.is_number(),
                    Kind::Integer => value.as_f64().is_some_and(|n| n.fract() == 0.0),
                    Kind::Texts => value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string)),
                    Kind::Object(_) => value.is_object(),
                    Kind::Link(_) => value.is_object() || value.is_string(),
                };
                prop_assert!(right || (field.nullable && value.is_null()), "{name}: {value}");
            }
        }

        #[test]
        fn no_body_makes_it_panic(body in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = ClientList::from_body(Untrusted::new(body.clone()));
            let _ = Record::from_body(&Untrusted::new(body), CLIENT);
        }
    }
}
