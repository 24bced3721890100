//! The fields of what wg-easy sends, and their types.
//!
//! One table names the fields of each record. It is what a record is [read](super::record) by, and the
//! tools' output schemas are made from it, so the two cannot drift apart.

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
