//! The wg-easy that the demo talks to: simulated, over TLS, with a handful of clients.

use jiff::{SignedDuration, Timestamp};
use wg_easy_sim::{Client, Settings, Simulator, Tls};

/// Starts it. Its clients are those of [`CLIENTS`], numbered from 1.
pub(crate) fn start() -> Simulator {
    let instance = Simulator::start(Settings {
        tls: Tls::Valid,
        host: "vpn.example.org".to_owned(),
        ..Settings::default()
    });
    let now = instance.now();
    for (name, furnish) in CLIENTS {
        let id = instance.add_client(name);
        instance.update_client(id, |client| furnish(client, now));
    }
    instance
}

/// The client that is used every day.
pub(crate) const LAPTOP: u64 = 1;
/// The client that is to be taken off the network.
pub(crate) const PHONE: u64 = 2;
/// The client that nobody wants to lose.
pub(crate) const ROUTER: u64 = 3;
/// The client that reaches the VPN and nothing else.
pub(crate) const NAS: u64 = 4;
/// The client whose time is over.
pub(crate) const CONTRACTOR: u64 = 5;

type Furnish = fn(&mut Client, Timestamp);

const CLIENTS: [(&str, Furnish); 6] = [
    ("anna-laptop", |client, now| {
        client.created_at = now - days(410);
        seen(client, now - seconds(38), "203.0.113.24:51123");
        (client.transfer_rx, client.transfer_tx) = (1_284_551_020, 18_404_113_992);
    }),
    ("anna-phone", |client, now| {
        client.created_at = now - days(409);
        seen(client, now - seconds(760), "198.51.100.7:40512");
        (client.transfer_rx, client.transfer_tx) = (88_410_220, 641_002_118);
    }),
    ("office-router", |client, now| {
        client.created_at = now - days(802);
        client.server_allowed_ips = vec!["192.168.20.0/24".to_owned()];
        client.persistent_keepalive = 25.0;
        seen(client, now - seconds(71), "192.0.2.130:51820");
        (client.transfer_rx, client.transfer_tx) = (412_904_551_030, 96_003_271_804);
    }),
    ("backup-nas", |client, now| {
        client.created_at = now - days(233);
        client.allowed_ips = Some(vec!["10.8.0.0/24".to_owned()]);
        seen(client, now - seconds(9_300), "203.0.113.88:38220");
        (client.transfer_rx, client.transfer_tx) = (7_310_400_118, 20_118_004);
    }),
    ("contractor-mike", |client, now| {
        client.created_at = now - days(93);
        client.expires_at = Some((now - days(3)).to_string());
        client.enabled = false;
    }),
    ("old-tablet", |client, now| {
        client.created_at = now - days(780);
        client.enabled = false;
    }),
];

fn seen(client: &mut Client, at: Timestamp, from: &str) {
    client.latest_handshake_at = Some(at);
    client.endpoint = Some(from.to_owned());
}

fn days(count: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * count)
}

fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}
