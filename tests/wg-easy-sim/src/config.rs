//! The text of a client's configuration and its file name.

use std::fmt::Write as _;

use crate::{client::Client, json::js_float, state::Instance};

/// The configuration: LF, no newline at the end.
pub(crate) fn text(client: &Client, instance: &Instance) -> String {
    let mut out = format!(
        "[Interface]\nPrivateKey = {}\nAddress = {}/32, {}/128\nMTU = {}\n",
        client.private_key,
        client.ipv4_address,
        client.ipv6_address,
        js_float(client.mtu)
    );
    let dns = client.dns.as_ref().unwrap_or(&instance.default_dns);
    if !dns.is_empty() {
        let _ = writeln!(out, "DNS = {}", dns.join(", "));
    }
    let hooks = [
        ("PreUp", &client.pre_up),
        ("PostUp", &client.post_up),
        ("PreDown", &client.pre_down),
        ("PostDown", &client.post_down),
    ];
    for (name, script) in hooks.into_iter().filter(|(_, script)| !script.is_empty()) {
        let _ = writeln!(out, "{name} = {script}");
    }
    let allowed = client
        .allowed_ips
        .as_ref()
        .unwrap_or(&instance.default_allowed_ips);
    let _ = write!(
        out,
        "\n[Peer]\nPublicKey = {}\nPresharedKey = {}\nAllowedIPs = {}\nPersistentKeepalive = {}\nEndpoint = {}:{}",
        instance.keys.public,
        client.pre_shared_key,
        allowed.join(", "),
        js_float(client.persistent_keepalive),
        instance.host,
        instance.port
    );
    out
}

/// The name a browser would save the configuration under.
pub(crate) fn file_name(client: &Client) -> String {
    let mut name = String::new();
    // wg-easy replaces per UTF-16 unit, but runs of dashes become one, so characters do as well.
    for c in client.name.chars() {
        let kept = c.is_ascii_alphanumeric() || matches!(c, '_' | '=' | '+' | '.' | '-');
        let c = if kept { c } else { '-' };
        if c != '-' || !name.ends_with('-') {
            name.push(c);
        }
    }
    let name: String = name.trim_end_matches('-').chars().take(32).collect();
    if name.is_empty() {
        client.id.to_string()
    } else {
        name
    }
}
