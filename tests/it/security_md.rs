//! Every claim of `SECURITY.md` names tests, and every test that it names exists and runs.

use std::path::Path;

/// The claims, each with the tests that are named for it.
fn claims() -> Vec<(String, Vec<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("SECURITY.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, section) = text
        .split_once("\n## What is claimed, and what proves it\n")
        .unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    rows.skip(2)
        .map(|row| {
            let (claim, tests) = row
                .trim_matches('|')
                .rsplit_once(" | ")
                .unwrap_or_else(|| panic!("not a row of two cells: {row}"));
            let tests = tests.split('`').skip(1).step_by(2).map(str::to_owned);
            (claim.trim().to_owned(), tests.collect())
        })
        // A row in bold is a heading.
        .filter(|(claim, _)| !claim.starts_with("**"))
        .collect()
}

/// Whether `name` is a test that an ordinary run runs: a module's path, and the function.
fn exists(name: &str) -> bool {
    let Some((module, function)) = name.rsplit_once("::") else {
        return false;
    };
    let (root, module) = match module.strip_prefix("it::") {
        Some(module) => ("tests/it", module),
        None => ("src", module),
    };
    let module = module.replace("::", "/");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
    // A module `tests` may stand at the end of the file of what it tests.
    let parent = module.strip_suffix("/tests").unwrap_or(&module);
    [
        format!("{module}.rs"),
        format!("{module}/mod.rs"),
        format!("{parent}.rs"),
        format!("{parent}/mod.rs"),
    ]
    .iter()
    .filter_map(|file| std::fs::read_to_string(root.join(file)).ok())
    .any(|source| has_test(&source, function))
}

fn has_test(source: &str, function: &str) -> bool {
    let Some((before, _)) = source.split_once(&format!("fn {function}(")) else {
        return false;
    };
    // The attributes right above it, with nothing but them in between.
    let attributes: Vec<&str> = before
        .trim_end_matches("async ")
        .lines()
        .rev()
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .take_while(|line| line.starts_with("#["))
        .collect();
    let is_test = |line: &&str| line.starts_with("#[test]") || line.starts_with("#[tokio::test");
    attributes.iter().any(is_test) && !attributes.iter().any(|line| line.starts_with("#[ignore"))
}

#[test]
fn every_claim_is_proved_by_tests_that_exist() {
    let claims = claims();
    assert!(claims.len() > 50, "only {} claims were found", claims.len());
    let mut missing = Vec::new();
    for (claim, tests) in &claims {
        if tests.is_empty() {
            missing.push(format!("nothing proves: {claim}"));
        }
        for test in tests.iter().filter(|test| !exists(test)) {
            missing.push(format!("{test}, for: {claim}"));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn what_is_not_a_test_is_not_taken_for_one() {
    assert!(exists(
        "it::security_md::what_is_not_a_test_is_not_taken_for_one"
    ));
    assert!(exists("approval::seal::a_state_opens_once"));
    for wrong in [
        "it::security_md::claims",
        "it::security_md::no_such_test",
        "it::nowhere::what_is_not_a_test_is_not_taken_for_one",
        "it::sandbox::probe::probe",
        "what_is_not_a_test_is_not_taken_for_one",
    ] {
        assert!(!exists(wrong), "{wrong}");
    }
}
