//! The texts beside the code say what the code does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use wg_easy_mcp::config::VARIABLES;
use wg_easy_mcp::tools::{Run, TOOLS};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
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

#[test]
fn the_readme_names_every_variable_and_no_other() {
    let readme = read("README.md");
    let named: BTreeSet<&str> = readme
        .split(|c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_'))
        .filter(|word| word.starts_with("WG_EASY_") || *word == "ELICITATION")
        .collect();
    let known: BTreeSet<&str> = VARIABLES.iter().map(|variable| variable.name).collect();
    assert_eq!(named, known);
}

#[test]
fn the_readme_says_of_each_variable_what_help_says() {
    let readme = read("README.md");
    let (_, section) = readme.split_once("\n## Variables\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
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
    assert_eq!(rows(section), expected);
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

#[test]
fn every_link_to_a_file_leads_to_one() {
    let mut pages = Vec::new();
    files(root(), ".md", &mut pages);
    assert!(pages.len() > 3, "{pages:?}");
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        let targets = text
            .split("](")
            .skip(1)
            .map(|rest| rest.split(')').next().unwrap());
        for target in targets.filter(|target| !target.contains("://")) {
            let file = target.split('#').next().unwrap();
            let leads_to = page.parent().unwrap().join(file);
            assert!(leads_to.exists(), "{}: {target}", page.display());
        }
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
    let mut pages = Vec::new();
    files(root(), ".md", &mut pages);
    let mut checked = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
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
