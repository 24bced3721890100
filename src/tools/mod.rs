//! The tools: what each takes, asks and gives.

pub mod filter;

use filter::Entry;

/// Every tool, in the order in which a client is told of them.
pub const CATALOGUE: &[Entry] = &[
    entry("list_clients", true, true),
    entry("get_client", true, true),
    entry("create_client", true, false),
    entry("update_client", false, false),
    entry("enable_client", true, false),
    entry("disable_client", true, false),
    entry("delete_client", false, false),
    entry("get_client_config", false, false),
    entry("get_client_qrcode", false, false),
    entry("generate_one_time_link", false, false),
    entry("get_server_info", true, true),
];

const fn entry(name: &'static str, essential: bool, read_only: bool) -> Entry {
    Entry {
        name,
        essential,
        read_only,
    }
}
