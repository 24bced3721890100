//! What must not be in the source: each of these lines is a wall between two rooms of the house.

use std::path::{Path, PathBuf};
use wg_easy_mcp::tools::TOOLS;

/// A file below `src`: its path there, and its text without the tests at its end.
struct Source {
    path: String,
    code: String,
    /// How many lines that are.
    lines: usize,
}

/// All of the program, tests left out.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let mut sources = Vec::new();
    for file in files {
        let path = file
            .strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        if path
            .split('/')
            .any(|part| part == "tests" || part == "tests.rs")
        {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let code = match text.split_once("#[cfg(test)]\nmod tests {") {
            Some((code, _tests)) => code.to_owned(),
            None => text.clone(),
        };
        sources.push(Source {
            path,
            lines: code.lines().count(),
            code,
        });
    }
    assert!(sources.len() > 20, "where is the source?");
    sources
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Whether a file is the module, or in it.
fn is_in(path: &str, module: &str) -> bool {
    path == format!("{module}.rs") || path.starts_with(&format!("{module}/"))
}

/// Fails where one of `words` stands in the code of a file that is not `allowed`. Comments count only
/// where `comments` says so.
fn assert_only(words: &[&str], comments: bool, allowed: impl Fn(&str) -> bool) {
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| !allowed(&source.path)) {
        for (number, line) in source.code.lines().enumerate() {
            let code = match line.split_once("//") {
                Some((code, _)) if !comments => code,
                _ => line,
            };
            for word in words.iter().filter(|word| code.contains(**word)) {
                found.push(format!("src/{}:{}: {word}", source.path, number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_client_of_wg_easy_and_the_door_for_what_it_sends_know_no_mcp() {
    assert_only(&["rmcp"], true, |path| {
        !is_in(path, "wg_easy") && !is_in(path, "untrusted")
    });
}

#[test]
fn the_gate_knows_no_wg_easy() {
    assert_only(&["wg_easy::", "WgEasy"], true, |path| {
        !is_in(path, "approval")
    });
}

#[test]
fn the_server_knows_no_tool_by_name_save_in_what_it_tells_the_model() {
    let sources = sources();
    let server = sources
        .iter()
        .find(|source| source.path == "server.rs")
        .unwrap();
    let (before, rest) = server
        .code
        .split_once("const INSTRUCTIONS")
        .unwrap_or((&server.code, ""));
    let (_, after) = rest.split_once("\";\n").unwrap_or_default();
    for tool in TOOLS {
        for code in [before, after] {
            assert!(!code.contains(tool.name), "{}", tool.name);
        }
    }
}

#[test]
fn only_one_small_file_may_be_unsafe_and_only_it_reads_the_environment() {
    let words = [
        "unsafe {",
        "unsafe fn",
        "unsafe impl",
        "unsafe extern",
        "allow(unsafe_code",
        "env::var",
        "env::vars",
        "env::set_var",
        "env::remove_var",
        "getenv",
        "environ()",
    ];
    assert_only(&words, false, |path| path == "environment.rs");
    let sources = sources();
    let file = sources
        .iter()
        .find(|source| source.path == "environment.rs")
        .unwrap();
    assert!(file.lines < 300);
}

#[test]
fn which_certificates_are_good_is_no_setting_of_the_whole_process() {
    let words = [
        "install_default",
        "danger_accept_invalid",
        "ClientConfig::builder",
    ];
    let tls = ["wg_easy/tls.rs", "wg_easy/probe/chain.rs"];
    assert_only(&words[..2], true, |_| false);
    assert_only(&words[2..], false, |path| tls.contains(&path));
}

#[test]
fn only_diagnostics_write_to_stderr() {
    let words = [
        "eprint!",
        "eprintln!",
        "stderr()",
        "dbg!",
        "/dev/stderr",
        "/fd/2",
    ];
    assert_only(&words, false, |path| path == "diagnostics.rs");
}

#[test]
fn only_the_session_writes_to_stdout_and_the_program_when_it_is_asked_for_help() {
    let words = [" print!", "println!", "stdout()", "/dev/stdout", "/fd/1"];
    // `eprintln!` is somebody else's business, and contains `println!`.
    assert_only(&words, false, |path| {
        matches!(path, "session.rs" | "main.rs" | "diagnostics.rs")
    });
    let sources = sources();
    let main = sources
        .iter()
        .find(|source| source.path == "main.rs")
        .unwrap();
    // It prints in one place, and asks in another how wide the terminal is.
    assert_eq!(main.code.matches("stdout()").count(), 2);
    assert_eq!(main.code.matches("stdout().write_all(").count(), 1);
    assert_eq!(
        main.code.matches("tcgetwinsize(std::io::stdout())").count(),
        1
    );
}

#[test]
fn what_wg_easy_sent_is_taken_as_it_is_only_where_it_goes_back() {
    assert_only(&["as_sent"], false, |path| {
        is_in(path, "wg_easy") || path == "untrusted/mod.rs"
    });
}

#[test]
fn no_redirect_is_followed_and_no_proxy_is_taken_from_the_environment() {
    let sources = sources();
    let builds: Vec<_> = sources
        .iter()
        .filter(|source| source.code.contains("Client::builder()"))
        .collect();
    assert_eq!(builds.len(), 1);
    for needed in [".no_proxy()", "Policy::none()", ".referer(false)"] {
        assert!(builds[0].code.contains(needed), "{needed}");
    }
    let header = sources
        .iter()
        .filter(|source| source.code.contains("set_sensitive(true)"));
    assert!(header.count() >= 1, "the header with the login is marked");
}

#[test]
fn a_file_is_short_enough_to_be_read_in_one_go() {
    let long: Vec<_> = sources()
        .iter()
        .filter(|source| source.lines > 400)
        .map(|source| (source.path.clone(), source.lines))
        .collect();
    assert!(long.is_empty(), "{long:?}");
}
