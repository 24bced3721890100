//! Finding the server's binary, which an example is not told of, and building it where it is missing
//! or older than its source.

use crate::Problem;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The binary of the same profile as this example, as new as its source.
pub(crate) fn path() -> Result<PathBuf, Problem> {
    let example = std::env::current_exe()?;
    // target/<profile>/examples/demo
    let directory = example
        .parent()
        .and_then(Path::parent)
        .ok_or("this example is not in a target directory")?;
    let profile = match directory.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    match build(profile) {
        Ok(binary) => Ok(binary),
        // Without cargo, as when both were copied to somewhere: the neighbour has to do.
        Err(problem) => {
            let beside = directory.join(format!("wg-easy-mcp{}", std::env::consts::EXE_SUFFIX));
            if beside.is_file() {
                Ok(beside)
            } else {
                Err(problem)
            }
        }
    }
}

/// Asks cargo, which knows what is stale and does nothing where nothing is.
fn build(profile: &str) -> Result<PathBuf, Problem> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    // `cargo run` has set these for this example. Build scripts (ring's) look at them, and would find
    // everything stale.
    for (name, _) in std::env::vars_os() {
        let of_this_package = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        if (name.to_str()).is_some_and(|n| of_this_package.iter().any(|part| n.starts_with(part))) {
            command.env_remove(name);
        }
    }
    let output = command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        // Named together, so that cargo selects the features that this example was built with and
        // has no dependency to build a second time.
        .args(["build", "--quiet", "--example", "demo"])
        .args(["--bin", "wg-easy-mcp", "--profile", profile])
        .arg("--message-format=json-render-diagnostics")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !output.status.success() {
        return Err("the server could not be built".into());
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message.pointer("/target/name") == Some(&"wg-easy-mcp".into()))
        .find_map(|message| message.get("executable")?.as_str().map(PathBuf::from))
        .ok_or_else(|| "cargo did not say where the server's binary is".into())
}
