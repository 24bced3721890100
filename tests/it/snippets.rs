//! What there is to be copied from the pages works where it is copied to.

use crate::docs::{pages, root};

/// Fenced blocks of a language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    page.split(&fence)
        .skip(1)
        .map(|rest| rest.split("\n```").next().unwrap())
        .collect()
}

#[test]
fn what_is_there_to_be_copied_can_be_read_by_what_it_is_for() {
    let mut checked = [0; 3];
    for (page, text) in pages() {
        for block in blocks(&text, "json") {
            let read: Result<serde_json::Value, _> = serde_json::from_str(block);
            let config =
                read.unwrap_or_else(|error| panic!("{}: {error}\n{block}", page.display()));
            servers_start_ours(&config, block);
            checked[0] += 1;
        }
        for block in blocks(&text, "toml") {
            let read: Result<toml::Table, _> = toml::from_str(block);
            let config =
                read.unwrap_or_else(|error| panic!("{}: {error}\n{block}", page.display()));
            servers_start_ours(&serde_json::to_value(config).unwrap(), block);
            checked[1] += 1;
        }
        for block in blocks(&text, "yaml") {
            let read: Result<serde_json::Value, _> = serde_saphyr::from_str(block);
            assert!(read.is_ok(), "{}: {read:?}\n{block}", page.display());
            checked[2] += 1;
        }
    }
    assert!(
        checked[0] > 8 && checked[1] > 2 && checked[2] > 1,
        "{checked:?}"
    );
}

/// Each server in a client's configuration has a command, and every variable that it passes on without a
/// value is given one beside.
fn servers_start_ours(config: &serde_json::Value, block: &str) {
    let servers = ["mcpServers", "servers", "mcp_servers"]
        .iter()
        .find_map(|key| config.get(key))
        .unwrap_or_else(|| panic!("no server in {block}"));
    for server in servers.as_object().unwrap().values() {
        assert!(server["command"].is_string(), "{block}");
        let args: Vec<&str> = server["args"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|arg| arg.as_str().unwrap())
            .collect();
        for passed in args
            .windows(2)
            .filter(|pair| pair[0] == "-e" && !pair[1].contains('='))
        {
            assert!(
                server["env"][passed[1]].is_string(),
                "{} has no value in {block}",
                passed[1]
            );
        }
        for overrides in args
            .iter()
            .filter_map(|arg| arg.strip_prefix("--overrides="))
        {
            let read: Result<serde_json::Value, _> = serde_json::from_str(overrides);
            assert!(read.is_ok(), "{read:?}");
        }
        if server["command"] == "docker" {
            let image = format!(
                "ghcr.io/wg-easy-mcp/wg-easy-mcp:{}",
                env!("CARGO_PKG_VERSION")
            );
            assert_eq!(args.last(), Some(&image.as_str()), "{block}");
        }
    }
}

#[test]
fn every_image_that_is_named_with_a_version_is_this_version() {
    let name = "ghcr.io/wg-easy-mcp/wg-easy-mcp:";
    let mut checked = 0;
    for (page, text) in pages() {
        for rest in text
            .split(name)
            .skip(1)
            .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        {
            let version: String = rest
                .chars()
                .take_while(|c| c.is_ascii_digit() || *c == '.')
                .collect();
            assert_eq!(
                version.trim_end_matches('.'),
                env!("CARGO_PKG_VERSION"),
                "{}",
                page.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 10, "only {checked} were found");
}

#[test]
fn every_command_of_the_project_that_a_page_names_exists() {
    let cargo = std::fs::read_to_string(root().join(".cargo/config.toml")).unwrap();
    let mut checked = 0;
    for (page, text) in pages() {
        for rest in text.split("scripts/").skip(1) {
            let name: String = rest
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || "-_./".contains(*c))
                .collect();
            let name = name.trim_end_matches(['.', '/']);
            if !name.is_empty() {
                assert!(
                    root().join("scripts").join(name).exists(),
                    "{}: scripts/{name}",
                    page.display()
                );
                checked += 1;
            }
        }
        for rest in text.split("cargo ").skip(1) {
            let name: String = rest
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '-')
                .collect();
            let builtin = [
                "test", "install", "build", "fmt", "clippy", "doc", "bench", "run",
            ]
            .contains(&name.as_str());
            let installed = ["fuzz", "audit", "deny", "auditable"].contains(&name.as_str());
            let ours = !name.is_empty() && cargo.contains(&format!("{name} = "));
            assert!(
                builtin || installed || ours || name.is_empty(),
                "{}: cargo {name}",
                page.display()
            );
            checked += 1;
        }
    }
    assert!(checked > 15, "only {checked} were found");
}
