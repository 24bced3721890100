//! A kernel without one of the protections.

use super::*;

#[test]
fn no_file_is_written_where_the_kernel_has_no_landlock_either() {
    let found = Findings::of(&probe(&["1", "without", "landlock"]));
    if !found.is_in_force("system call filter") {
        return;
    }
    for call in ["openat to write", "mkdirat", "unlinkat", "renameat2"] {
        assert_eq!(found.tried(call), "EPERM", "{call}");
    }
    assert_eq!(found.tried("openat2"), "ENOSYS");
}

#[test]
fn a_kernel_without_a_protection_is_reported_and_the_others_are_in_force() {
    for (hidden, name) in [("landlock", "Landlock"), ("seccomp", "system call filter")] {
        let Findings(found) = Findings::of(&probe(&["1", "without", hidden]));
        for (protection, state) in found["report"].as_object().unwrap() {
            let missing = !state["unavailable"].is_null();
            if protection == name {
                assert!(missing, "{protection}: {state}");
            } else if missing {
                not_tested(protection);
            }
        }
        let line = found["line"].as_str().unwrap();
        let (_, missing) = line.split_once("; not in force: ").unwrap();
        assert!(missing.contains(name), "{line}");
    }
}

#[test]
fn a_check_on_a_kernel_without_a_protection_says_which_and_does_not_fail_for_it() {
    for (hidden, name) in [("landlock", "Landlock"), ("seccomp", "system call filter")] {
        let output = probe(&["1", "check", hidden]);
        // The harness of the probe writes a line or two before what it becomes does.
        let text = String::from_utf8(output.stdout).unwrap();
        let json: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
        let checks = json["checks"].as_array().unwrap();
        let named = |name: &str| checks.iter().find(|check| check["name"] == name).unwrap();
        let check = named(name);
        assert_eq!(check["status"], "warn", "{check}");
        let detail = check["detail"].as_str().unwrap();
        assert!(detail.starts_with("not in force: "), "{detail}");
        let advice = check["advice"].as_str().unwrap();
        assert!(advice.starts_with("The server works without."), "{advice}");
        assert_eq!(named("no new privileges")["status"], "ok");
        if hidden == "landlock" {
            assert!(detail.contains("this kernel does not have it"), "{detail}");
        }
    }
}
