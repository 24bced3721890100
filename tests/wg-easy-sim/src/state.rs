//! What a simulated instance knows: clients, account, tunnel.

use std::{
    collections::{BTreeMap, HashSet},
    net::IpAddr,
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    client::Client,
    keys::{self, KeyPair},
    pool::{self, Cidr},
    settings::{Account, Settings, Tls},
};

/// What the server side of the tunnel is set to.
pub(crate) struct Instance {
    pub(crate) keys: KeyPair,
    pub(crate) ipv4: Cidr,
    pub(crate) ipv4_text: String,
    pub(crate) ipv6: Cidr,
    pub(crate) ipv6_text: String,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) default_dns: Vec<String>,
    pub(crate) default_allowed_ips: Vec<String>,
    pub(crate) created_at: Timestamp,
}

/// Everything that requests read and change.
pub(crate) struct State {
    pub(crate) clients: BTreeMap<u64, Client>,
    last_id: u64,
    pub(crate) instance: Instance,
    pub(crate) account: Account,
    pub(crate) settings: Settings,
    pub(crate) cookie_key: [u8; 32],
    pub(crate) tunnel_down: bool,
    pub(crate) reload_fails: bool,
    pub(crate) release_check_fails: bool,
    pub(crate) clock_offset: SignedDuration,
    /// Changes that were written to the database.
    pub(crate) applied: usize,
    /// Attempts on the login routes.
    pub(crate) logins: usize,
    /// Times a password was hashed, Basic included.
    pub(crate) password_checks: usize,
}

impl State {
    pub(crate) fn new(settings: Settings) -> Self {
        let default_pool = if settings.clients > 200 {
            "10.8.0.0/16"
        } else {
            "10.8.0.0/24"
        };
        let ipv4_text = settings
            .ipv4_cidr
            .clone()
            .unwrap_or_else(|| default_pool.to_owned());
        let ipv6_text = settings.ipv6_cidr.clone();
        let instance = Instance {
            keys: keys::pair(),
            ipv4: Cidr::parse(&ipv4_text).expect("ipv4_cidr is a network"),
            ipv4_text,
            ipv6: Cidr::parse(&ipv6_text).expect("ipv6_cidr is a network"),
            ipv6_text,
            host: settings.host.clone(),
            port: 51820,
            default_dns: vec!["1.1.1.1".to_owned(), "2606:4700:4700::1111".to_owned()],
            default_allowed_ips: vec!["0.0.0.0/0".to_owned(), "::/0".to_owned()],
            created_at: whole_second(Timestamp::now()),
        };
        let mut state = Self {
            clients: BTreeMap::new(),
            last_id: 0,
            instance,
            account: settings.account.clone(),
            cookie_key: keys::random(),
            tunnel_down: false,
            reload_fails: false,
            release_check_fails: false,
            clock_offset: SignedDuration::ZERO,
            applied: 0,
            logins: 0,
            password_checks: 0,
            settings,
        };
        state.seed(state.settings.clients);
        state
    }

    /// Adds many clients at once, numbered from where the ids are.
    pub(crate) fn seed(&mut self, count: usize) {
        let start = self.clients.len() as u128 + 2;
        for (index, pair) in keys::series(count).into_iter().enumerate() {
            let offset = start + index as u128;
            let (v4, v6) = (
                self.instance.ipv4.nth(offset),
                self.instance.ipv6.nth(offset),
            );
            let name = format!("client-{}", self.last_id + 1);
            self.insert(name, None, (v4.to_string(), v6.to_string()), pair);
        }
    }

    /// Creates a client with the lowest free addresses; `None` when a pool is full.
    pub(crate) fn create(&mut self, name: String, expires_at: Option<String>) -> Option<u64> {
        let used_v4: HashSet<&str> = self
            .clients
            .values()
            .map(|c| c.ipv4_address.as_str())
            .collect();
        let v4 = self.instance.ipv4.lowest_free(&used_v4)?;
        let used_v6: HashSet<&str> = self
            .clients
            .values()
            .map(|c| c.ipv6_address.as_str())
            .collect();
        let v6 = self.instance.ipv6.lowest_free(&used_v6)?;
        Some(self.insert(name, expires_at, (v4, v6), keys::pair()))
    }

    fn insert(
        &mut self,
        name: String,
        expires_at: Option<String>,
        addresses: (String, String),
        keys: KeyPair,
    ) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        let now = whole_second(self.now());
        let client = Client::new(id, name, expires_at, addresses, keys, now);
        self.clients.insert(id, client);
        id
    }

    /// A client that is in no database, for checking the update of an id that does not exist.
    pub(crate) fn blank_client(&self) -> Client {
        let nothing = (String::new(), String::new());
        let keys = KeyPair {
            private: String::new(),
            public: String::new(),
        };
        Client::new(0, String::new(), None, nothing, keys, self.now())
    }

    /// Whether the database would refuse these addresses for this client.
    pub(crate) fn refuses_addresses(&self, changed: &Client) -> bool {
        let inside = |network: Cidr, text: &str| {
            text.parse::<IpAddr>()
                .is_ok_and(|address| network.contains(address))
        };
        // Uniqueness is textual: another spelling of an IPv6 address passes.
        let taken = self.clients.values().any(|other| {
            let same = other.ipv4_address == changed.ipv4_address
                || other.ipv6_address == changed.ipv6_address;
            other.id != changed.id && self.clients.contains_key(&changed.id) && same
        });
        let fits = inside(self.instance.ipv4, &changed.ipv4_address)
            && inside(self.instance.ipv6, &changed.ipv6_address);
        !fits || taken
    }

    /// Whether the tunnel can take over what the database says. One bad value anywhere stops it.
    pub(crate) fn reloads(&self) -> bool {
        let poisoned = |client: &Client| {
            let bad_route = client
                .server_allowed_ips
                .iter()
                .any(|entry| !pool::is_allowed_ip(entry));
            bad_route
                || client
                    .server_endpoint
                    .as_deref()
                    .is_some_and(|endpoint| !pool::is_endpoint(endpoint))
        };
        let stopped = self.tunnel_down || self.reload_fails;
        !stopped
            && !self
                .clients
                .values()
                .any(|client| client.enabled && poisoned(client))
    }

    /// What wg-easy does every minute: disable expired clients, drop expired links.
    pub(crate) fn run_minute_job(&mut self) {
        let now = self.now();
        for client in self.clients.values_mut() {
            if client.enabled && client.is_expired(now) {
                client.enabled = false;
                client.updated_at = whole_second(now);
            }
            client.one_time_link.take_if(|link| now > link.expires_at);
        }
    }

    /// The simulator's time.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::now() + self.clock_offset
    }

    /// Whether cookies come without `Secure`.
    pub(crate) fn insecure(&self) -> bool {
        self.settings
            .insecure
            .unwrap_or(self.settings.tls == Tls::Off)
    }
}

/// The database keeps whole seconds.
pub(crate) fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).expect("a second of a valid time is valid")
}
