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

/// Whether `name` is a test that runs by itself: a Rust module's path and the function, or a Python
/// file below `tests`, the class and the method.
fn exists(name: &str) -> bool {
    if let Some((file, test)) = name.split_once(".py::") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{file}.py"));
        let source = std::fs::read_to_string(path).unwrap_or_default();
        return file.starts_with("tests/") && has_python_test(&source, test);
    }
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

fn has_python_test(source: &str, test: &str) -> bool {
    let Some((class, method)) = test.split_once("::") else {
        return false;
    };
    let class = format!("class {class}(");
    let lines = source.lines().skip_while(|line| !line.starts_with(&class));
    // What is in a class is indented.
    let body = lines
        .skip(1)
        .take_while(|line| line.is_empty() || line.starts_with(' '));
    let definition = format!("    def {method}(self");
    let mut above = "";
    method.starts_with("test_")
        && body.into_iter().any(|line| {
            let is_left_out = above.starts_with("    @unittest.skip(");
            above = line;
            line.starts_with(&definition) && !is_left_out
        })
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
    assert!(exists(
        "tests/policy/test_deny.py::Deny::test_the_dependencies_keep_to_the_rules"
    ));
    for wrong in [
        "it::security_md::claims",
        "it::security_md::no_such_test",
        "it::nowhere::what_is_not_a_test_is_not_taken_for_one",
        "it::sandbox::probe::probe",
        "what_is_not_a_test_is_not_taken_for_one",
        "tests/policy/test_deny.py::Deny::test_no_such_test",
        "tests/policy/test_deny.py::Admission::test_kyverno",
        "tests/policy/test_deny.py::cargo_deny",
        "tests/policy/test_nothing.py::Deny::test_the_dependencies_keep_to_the_rules",
        "tests/container/test_image.py::Image::session",
        "tests/container/test_image.py::Image::test_print_the_figures",
        "policy/test_deny.py::Deny::test_the_dependencies_keep_to_the_rules",
    ] {
        assert!(!exists(wrong), "{wrong}");
    }
    for skipped in ["", "    @unittest.skip(\"later\")\n"] {
        let source = format!("class One(T):\n{skipped}    def test_it(self):\n        pass\n");
        assert_eq!(has_python_test(&source, "One::test_it"), skipped.is_empty());
    }
}

/// The architecture page says what must stay true of the code; each of that is a claim as well.
#[test]
fn every_invariant_of_the_architecture_is_among_the_claims() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, section) = text.split_once("\n## Invariants\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let claims = claims();
    let claimed: Vec<_> = claims.iter().flat_map(|(_, tests)| tests).collect();
    let mut invariants = 0;
    for invariant in section.split("\n- **").skip(1) {
        invariants += 1;
        let Some((_, tests)) = invariant.split_once("Test:") else {
            continue;
        };
        for test in tests.split('`').skip(1).step_by(2) {
            let ending = format!("::{test}");
            let is_claimed = claimed.iter().any(|name| name.ends_with(&ending));
            assert!(is_claimed, "no claim names {test}");
        }
    }
    assert!(invariants > 10, "only {invariants} invariants were found");
}
