//! One client of the VPN and its two JSON shapes.

use jiff::Timestamp;

use crate::{
    dates,
    json::{Object, js_float},
    keys::{self, KeyPair},
};

/// One client, as in wg-easy's database and tunnel. Tests may change any of it.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "named as wg-easy's own fields")]
pub struct Client {
    pub id: u64,
    /// The account it belongs to; 1 is the administrator.
    pub user_id: u64,
    pub name: String,
    pub ipv4_address: String,
    pub ipv6_address: String,
    pub pre_up: String,
    pub post_up: String,
    pub pre_down: String,
    pub post_down: String,
    pub private_key: String,
    pub public_key: String,
    pub pre_shared_key: String,
    /// The caller's text, whatever it was.
    pub expires_at: Option<String>,
    pub allowed_ips: Option<Vec<String>>,
    pub server_allowed_ips: Vec<String>,
    pub firewall_ips: Option<Vec<String>>,
    pub persistent_keepalive: f64,
    pub mtu: f64,
    pub j_c: Option<f64>,
    pub j_min: Option<f64>,
    pub j_max: Option<f64>,
    /// `i1` to `i5`.
    pub i: [Option<String>; 5],
    pub dns: Option<Vec<String>>,
    pub server_endpoint: Option<String>,
    pub enabled: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub one_time_link: Option<OneTimeLink>,
    /// From here on: what the tunnel knows. Shown only while the client is enabled.
    pub latest_handshake_at: Option<Timestamp>,
    pub endpoint: Option<String>,
    pub transfer_rx: u64,
    pub transfer_tx: u64,
}

/// A one-time link; a client has at most one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as wg-easy's own fields")]
pub struct OneTimeLink {
    /// The token: `/cnf/{token}`.
    pub token: String,
    pub expires_at: Timestamp,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Client {
    /// A client with the defaults of a fresh instance.
    pub(crate) fn new(
        id: u64,
        name: String,
        expires_at: Option<String>,
        addresses: (String, String),
        keys: KeyPair,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            user_id: 1,
            name,
            ipv4_address: addresses.0,
            ipv6_address: addresses.1,
            pre_up: String::new(),
            post_up: String::new(),
            pre_down: String::new(),
            post_down: String::new(),
            private_key: keys.private,
            public_key: keys.public,
            pre_shared_key: keys::pre_shared(),
            expires_at,
            allowed_ips: None,
            server_allowed_ips: Vec::new(),
            firewall_ips: None,
            persistent_keepalive: 0.0,
            mtu: 1420.0,
            j_c: Some(7.0),
            j_min: Some(10.0),
            j_max: Some(1000.0),
            i: [const { None }; 5],
            dns: None,
            server_endpoint: None,
            enabled: true,
            created_at: now,
            updated_at: now,
            one_time_link: None,
            latest_handshake_at: None,
            endpoint: None,
            transfer_rx: 0,
            transfer_tx: 0,
        }
    }

    /// Whether the expiry has passed. Text that is no date never passes.
    pub(crate) fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at
            .as_deref()
            .and_then(dates::expiry)
            .is_some_and(|at| now > at)
    }

    /// Appends the row of the list: no keys, but the tunnel's figures and the one-time link.
    pub(crate) fn write_row(&self, out: &mut String) {
        let mut object = Object::open(out);
        self.shared_fields(&mut object, false);
        object.text("createdAt", &dates::iso(self.created_at));
        object.text("updatedAt", &dates::iso(self.updated_at));
        match &self.one_time_link {
            None => object.raw("oneTimeLink", "null"),
            Some(link) => object.raw("oneTimeLink", &link.json(self.id)),
        };
        let handshake = self
            .latest_handshake_at
            .filter(|_| self.enabled)
            .map(dates::iso);
        object.maybe_text("latestHandshakeAt", handshake.as_deref());
        object.maybe_text(
            "endpoint",
            self.endpoint.as_deref().filter(|_| self.enabled),
        );
        object.maybe_count("transferRx", self.enabled.then_some(self.transfer_rx));
        object.maybe_count("transferTx", self.enabled.then_some(self.transfer_tx));
        object.close();
    }

    /// The object by id: with keys, without the tunnel's figures.
    pub(crate) fn record(&self) -> String {
        let mut out = String::new();
        let mut object = Object::open(&mut out);
        self.shared_fields(&mut object, true);
        object.text("createdAt", &dates::plain(self.created_at));
        object.text("updatedAt", &dates::plain(self.updated_at));
        if self.enabled {
            object.maybe_text("endpoint", self.endpoint.as_deref());
        }
        object.close();
        out
    }

    fn shared_fields(&self, object: &mut Object<'_>, keys: bool) {
        object
            .raw("id", &self.id.to_string())
            .raw("userId", &self.user_id.to_string());
        object.text("interfaceId", "wg0").text("name", &self.name);
        object
            .text("ipv4Address", &self.ipv4_address)
            .text("ipv6Address", &self.ipv6_address);
        object
            .text("preUp", &self.pre_up)
            .text("postUp", &self.post_up);
        object
            .text("preDown", &self.pre_down)
            .text("postDown", &self.post_down);
        if keys {
            object.text("privateKey", &self.private_key);
        }
        object.text("publicKey", &self.public_key);
        if keys {
            object.text("preSharedKey", &self.pre_shared_key);
        }
        object.maybe_text("expiresAt", self.expires_at.as_deref());
        object.maybe_list("allowedIps", self.allowed_ips.as_deref());
        object.maybe_list("serverAllowedIps", Some(&self.server_allowed_ips));
        object.maybe_list("firewallIps", self.firewall_ips.as_deref());
        object
            .raw("persistentKeepalive", &js_float(self.persistent_keepalive))
            .number("mtu", self.mtu);
        object
            .maybe_number("jC", self.j_c)
            .maybe_number("jMin", self.j_min)
            .maybe_number("jMax", self.j_max);
        for (key, value) in ["i1", "i2", "i3", "i4", "i5"].into_iter().zip(&self.i) {
            object.maybe_text(key, value.as_deref());
        }
        object.maybe_list("dns", self.dns.as_deref());
        object.maybe_text("serverEndpoint", self.server_endpoint.as_deref());
        object.flag("enabled", self.enabled);
    }
}

impl OneTimeLink {
    fn json(&self, client: u64) -> String {
        let mut out = String::new();
        let mut object = Object::open(&mut out);
        object
            .raw("id", &client.to_string())
            .text("oneTimeLink", &self.token);
        object.text("expiresAt", &dates::iso(self.expires_at));
        object.text("createdAt", &dates::plain(self.created_at));
        object.text("updatedAt", &dates::plain(self.updated_at));
        object.close();
        out
    }
}
