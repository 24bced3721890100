//! What is about the instance and not about one client.

use crate::{
    dates,
    json::{Object, quote},
    reply::{Reply, Thrown},
    state::State,
};

/// `GET /api/information`, which needs no login.
pub(crate) fn information(state: &State) -> Result<Reply, Thrown> {
    if state.release_check_fails {
        return Err(Thrown::server_error());
    }
    let (insecure, version) = (state.insecure(), quote(&state.settings.version));
    Ok(Reply::json(format!(
        r#"{{"currentRelease":{version},"latestRelease":{{"version":{version},"changelog":""}},"updateAvailable":false,"insecure":{insecure},"isAwg":false,"firewallEnabled":false}}"#
    )))
}

/// `GET /api/admin/general`.
pub(crate) fn general() -> Reply {
    Reply::json(
        r#"{"sessionTimeout":3600,"metricsPrometheus":false,"metricsJson":false,"metricsPassword":null}"#,
    )
}

/// `GET /api/admin/interface`.
pub(crate) fn interface(state: &State) -> Reply {
    let instance = &state.instance;
    let mut out = String::new();
    let mut object = Object::open(&mut out);
    object
        .text("name", "wg0")
        .text("device", "eth0")
        .raw("port", &instance.port.to_string());
    object.text("publicKey", &instance.keys.public);
    object
        .text("ipv4Cidr", &instance.ipv4_text)
        .text("ipv6Cidr", &instance.ipv6_text);
    object
        .raw("mtu", "1420")
        .text("routingTable", "auto")
        .raw("jC", "7")
        .raw("jMin", "10")
        .raw("jMax", "1000");
    object
        .raw("s1", "128")
        .raw("s2", "56")
        .raw("s3", "null")
        .raw("s4", "null");
    object
        .text("h1", "1503343482")
        .text("h2", "2068729441")
        .text("h3", "1801034643")
        .text("h4", "1257286071");
    for key in ["i1", "i2", "i3", "i4", "i5"] {
        object.raw(key, "null");
    }
    object.flag("enabled", true).flag("firewallEnabled", false);
    dated(state, &mut object);
    object.close();
    Reply::json(out)
}

/// `GET /api/admin/userconfig`.
pub(crate) fn userconfig(state: &State) -> Reply {
    let instance = &state.instance;
    let mut out = String::new();
    let mut object = Object::open(&mut out);
    object
        .text("id", "wg0")
        .raw("defaultMtu", "1420")
        .raw("defaultPersistentKeepalive", "0");
    object.maybe_list("defaultDns", Some(&instance.default_dns));
    object.maybe_list("defaultAllowedIps", Some(&instance.default_allowed_ips));
    object
        .raw("defaultJC", "7")
        .raw("defaultJMin", "10")
        .raw("defaultJMax", "1000");
    for key in [
        "defaultI1",
        "defaultI2",
        "defaultI3",
        "defaultI4",
        "defaultI5",
    ] {
        object.raw(key, "null");
    }
    object
        .text("host", &instance.host)
        .raw("port", &instance.port.to_string());
    dated(state, &mut object);
    object.close();
    Reply::json(out)
}

/// `GET /api/admin/hooks`.
pub(crate) fn hooks(state: &State) -> Reply {
    let rules = |flag: char| {
        let family = |tool: &str, cidr: &str| {
            format!(
                "{tool} -t nat -{flag} POSTROUTING -s {{{{{cidr}}}}} -o {{{{device}}}} -j MASQUERADE; \
                 {tool} -{flag} INPUT -p udp -m udp --dport {{{{port}}}} -j ACCEPT; \
                 {tool} -{flag} FORWARD -i wg0 -j ACCEPT; {tool} -{flag} FORWARD -o wg0 -j ACCEPT;"
            )
        };
        format!(
            "{} {}",
            family("iptables", "ipv4Cidr"),
            family("ip6tables", "ipv6Cidr")
        )
    };
    let mut out = String::new();
    let mut object = Object::open(&mut out);
    object
        .text("id", "wg0")
        .text("preUp", "")
        .raw("postUp", &quote(&rules('A')));
    object
        .text("preDown", "")
        .raw("postDown", &quote(&rules('D')));
    dated(state, &mut object);
    object.close();
    Reply::json(out)
}

fn dated(state: &State, object: &mut Object<'_>) {
    let created = dates::plain(state.instance.created_at);
    object
        .text("createdAt", &created)
        .text("updatedAt", &created);
}
