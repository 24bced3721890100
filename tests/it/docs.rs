//! The texts beside the code say what the code does.

use crate::support::{Capabilities, Era, PATIENCE, Server, is_error, text, token, with_clients};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use wg_easy_mcp::config::VARIABLES;
use wg_easy_mcp::tools::{Run, TOOLS};

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// A file that is made from the program is what it makes `now`. With `variable` set it is written anew.
pub fn assert_current(path: &str, now: &str, variable: &str) {
    if std::env::var_os(variable).is_some() {
        std::fs::write(root().join(path), now).unwrap();
    }
    assert!(
        read(path) == now,
        "{path} is stale: {variable}=1 cargo test --test it writes it anew"
    );
}

/// Files below a directory whose name ends in `ending`; what is built, downloaded or hidden is not ours.
fn files(directory: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "node_modules", "corpus"].contains(&name) {
                files(&path, ending, found);
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

/// The cells of every table row that begins with a name in code.
fn rows(text: &str) -> Vec<Vec<String>> {
    let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
    text.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(cell).collect())
        .collect()
}

/// Words that are written like a variable of ours.
fn variables_in(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))
        .filter(|word| word.starts_with("WG_EASY_") || *word == "ELICITATION")
        .collect()
}

#[test]
fn configuration_says_of_each_variable_what_help_says() {
    let page = read("docs/configuration.md");
    let (table, rest) = page.split_once("\n## ").unwrap();
    let expected: Vec<Vec<String>> = VARIABLES
        .iter()
        .map(|variable| {
            [
                variable.name,
                variable.default.unwrap_or(""),
                variable.meaning,
            ]
            .map(str::to_owned)
            .to_vec()
        })
        .collect();
    assert_eq!(rows(table), expected);
    for variable in VARIABLES {
        let heading = rest
            .lines()
            .any(|line| line.starts_with("### ") && line.contains(&format!("`{}`", variable.name)));
        assert!(heading, "{} has no section", variable.name);
    }
}

/// The examples are rows of "`NAME=value NAME=value` | what the server does".
#[test]
fn each_example_of_a_setting_does_what_the_page_says() {
    let page = read("docs/configuration.md");
    let examples: Vec<_> = rows(&page)
        .into_iter()
        .filter(|row| row[0].contains('='))
        .collect();
    assert!(examples.len() > 40, "only {} examples", examples.len());
    for example in examples {
        let mut server = Server::unconfigured().without_handshake();
        let set: Vec<_> = example[0]
            .split(' ')
            .map(|set| set.split_once('=').unwrap())
            .collect();
        let is_set = |name: &str| {
            set.iter()
                .any(|(set, _)| set.strip_suffix("_FILE").unwrap_or(set) == name)
        };
        // What an example leaves out is there, so that its own warnings are all there are.
        for (name, value) in [
            ("WG_EASY_URL", "https://vpn.example.org"),
            ("WG_EASY_USERNAME", "admin"),
            ("WG_EASY_PASSWORD", "a password"),
        ] {
            if !is_set(name) {
                server = server.with(name, value);
            }
        }
        for (name, value) in set {
            server = server.with(name, value);
        }
        let mut server = server.start();
        server.close_stdin();
        let status = server.expect_exit(PATIENCE);
        let said = server.finish().1;
        let does = match (
            status.code(),
            said.contains("warning: ") || said.contains("\"level\":\"warn\""),
        ) {
            (Some(0), false) => "starts",
            (Some(0), true) => "starts with a warning",
            (Some(1), _) => "does not start",
            _ => "ends strangely",
        };
        assert_eq!(
            example[1].split(':').next().unwrap(),
            does,
            "{}\n{said}",
            example[0]
        );
    }
}

/// What people read here: everything but what is built, downloaded or hidden.
pub fn pages() -> Vec<(PathBuf, String)> {
    let mut pages = Vec::new();
    files(root(), ".md", &mut pages);
    pages
        .into_iter()
        .map(|page| {
            let text = std::fs::read_to_string(&page).unwrap();
            (page, text)
        })
        .collect()
}

/// Names of others that begin like ours, and beginnings of names.
const NO_VARIABLES: &[&str] = &["WG_EASY_", "WG_EASY_READONLY"];

#[test]
fn every_variable_and_tool_that_a_page_names_exists() {
    let known: BTreeSet<&str> = VARIABLES.iter().map(|variable| variable.name).collect();
    let tools: BTreeSet<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    let verbs = [
        "list_",
        "get_",
        "create_",
        "update_",
        "enable_",
        "disable_",
        "delete_",
        "generate_",
    ];
    let mut named = BTreeSet::new();
    for (page, text) in pages() {
        for name in variables_in(&text) {
            assert!(
                known.contains(name) || NO_VARIABLES.contains(&name),
                "{}: {name}",
                page.display()
            );
        }
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        for word in words.filter(|word| verbs.iter().any(|verb| word.starts_with(verb))) {
            // A test, or an example of what is wrong.
            let is_other = word.matches('_').count() > 3
                || ["list_", "list_client", "list_body"].contains(&word);
            assert!(
                tools.contains(word) || is_other,
                "{}: {word}",
                page.display()
            );
            named.insert(word.to_owned());
        }
    }
    assert!(named.len() > tools.len());
}

#[test]
fn the_readme_lists_every_tool_and_says_which_ask() {
    let readme = read("README.md");
    let (_, section) = readme.split_once("\n## Tools\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = rows(section);
    let said: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row[0].as_str(), row[2].split(':').next().unwrap()))
        .collect();
    let expected: Vec<(&str, &str)> = TOOLS
        .iter()
        .map(|tool| {
            let does = match tool.run {
                Run::Read(_) => "",
                Run::Withdraw(_) => "acts at once",
                Run::Guarded(_) => "asks a person",
            };
            (tool.name, does)
        })
        .collect();
    assert_eq!(said, expected);
}

/// The names that a page's headings can be linked by, made as the forge makes them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut in_code = false;
    let mut anchors = BTreeSet::new();
    for line in page.lines() {
        if line.starts_with("```") {
            in_code = !in_code;
        }
        if let Some(heading) = line.strip_prefix('#').filter(|_| !in_code) {
            let kept = heading.trim_start_matches('#').trim().to_lowercase();
            let kept: String = kept
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
                .collect();
            anchors.insert(kept.replace(' ', "-"));
        }
    }
    anchors
}

#[test]
fn the_simulated_wg_easy_lets_in_whom_the_page_names() {
    let account = wg_easy_sim::Settings::default().account;
    let login = format!(
        "WG_EASY_USERNAME={} WG_EASY_PASSWORD={} wg-easy-mcp check",
        account.username, account.password
    );
    assert!(read("docs/getting-started.md").contains(&login), "{login}");
}

/// What is shown as an example is what comes: a question, an answer with a token, an audit line.
#[test]
fn what_asking_shows_is_what_comes() {
    let page = words(&read("docs/asking.md"));
    let sim = with_clients(3);
    let mut server = Server::of(&sim).era(Era::V2025_11_25).start();
    let arguments = json!({"name": "my phone"});
    let first = server.call("create_client", arguments.clone());
    let given = token(&first);
    let shown = text(&first).replace(given, "e7ccdcaf6a6508b0e7be4739704c5d4b");
    assert!(page.contains(&words(&shown)), "{shown}");

    let mut again = arguments;
    again["confirm_token"] = given.into();
    assert!(!is_error(&server.call("create_client", again)));
    let line = server.wait_for_audit(1).remove(0);
    let (_, said) = line.split_once(" tool=").unwrap();
    assert!(page.contains(&format!("Z tool={}", said.trim())), "{line}");

    let mut asked = Server::of(&sim)
        .era(Era::V2025_11_25)
        .capabilities(Capabilities::Form)
        .start();
    let question = asked.question("delete_client", json!({"clientId": 1}));
    let shown = question.message.replace("client 1", "client 5");
    let (question, _) = shown.rsplit_once(": ").unwrap();
    assert!(page.contains(&words(question)), "{shown}");
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_link_leads_somewhere() {
    let pages = pages();
    assert!(pages.len() > 10, "{}", pages.len());
    let mut checked = 0;
    for (page, text) in &pages {
        let targets = text
            .split("](")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap());
        for target in targets.filter(|target| !target.contains("://")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let leads_to = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            assert!(leads_to.exists(), "{}: {target}", page.display());
            if !anchor.is_empty() {
                let there = std::fs::read_to_string(&leads_to).unwrap();
                assert!(
                    anchors(&there).contains(anchor),
                    "{}: {target}",
                    page.display()
                );
            }
            checked += 1;
        }
    }
    assert!(checked > 60, "only {checked} links were found");
}

#[test]
fn every_document_is_linked_from_the_readme() {
    let readme = read("README.md");
    let mut documents = Vec::new();
    files(&root().join("docs"), ".md", &mut documents);
    for document in documents {
        let name = document.file_name().unwrap().to_str().unwrap();
        assert!(readme.contains(&format!("](docs/{name})")), "{name}");
    }
}

#[test]
fn every_file_that_the_architecture_names_exists() {
    let text = read("docs/architecture.md");
    let in_code = text.split('`').skip(1).step_by(2);
    let mut checked = 0;
    for path in in_code.filter(|code| code.contains('/') && !code.contains([' ', ':', '<'])) {
        let exists = |base: &str| root().join(base).join(path).exists();
        assert!(exists("") || exists("src"), "{path}");
        checked += 1;
    }
    assert!(checked > 20, "only {checked} names were found");
}

/// A page names the proof of what it claims as "Test: `name`", several separated by commas.
#[test]
fn every_test_that_a_page_names_exists() {
    let mut sources = Vec::new();
    for directory in ["src", "tests"] {
        files(&root().join(directory), ".rs", &mut sources);
    }
    let sources: String = sources
        .iter()
        .map(|source| std::fs::read_to_string(source).unwrap())
        .collect();
    let mut checked = 0;
    for (page, text) in pages() {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for claim in text.split("Test: `").skip(1) {
            let mut rest = Some(claim);
            while let Some((name, after)) = rest.and_then(|rest| rest.split_once('`')) {
                let test = format!("fn {name}(");
                assert!(sources.contains(&test), "{}: {name}", page.display());
                checked += 1;
                rest = after.strip_prefix(", `");
            }
        }
    }
    assert!(checked > 15, "only {checked} names were found");
}
