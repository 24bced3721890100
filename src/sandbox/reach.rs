//! Landlock: the files and ports that stay within reach.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, LandlockStatus, NetPort, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope,
};

use super::{Plan, State};

/// DNS answers that do not fit a datagram are asked for again over TCP.
const DNS: u16 = 53;

/// The newest rights that are asked for. Those of later kernels (UNIX sockets by path, UDP) are not
/// until they have been tried on such a kernel: name resolution uses both.
const NEWEST: ABI = ABI::V6;

/// What came with which ABI, as far as it is asked for here.
const SINCE: [(i32, &str); 4] = [
    (3, "truncating files"),
    (4, "TCP ports"),
    (5, "device control calls"),
    (6, "signals and abstract UNIX sockets"),
];

/// What `/etc/resolv.conf` may be a symbolic link into now, or become one into later.
const RESOLVER_DIRECTORIES: [&str; 4] = [
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager",
    "/run/connman",
];

/// glibc loads the name services of `/etc/nsswitch.conf` when the first name is resolved.
const LIBRARY_DIRECTORIES: &[&str] = if cfg!(target_env = "gnu") {
    &["/lib", "/lib64", "/usr/lib", "/usr/lib64"]
} else {
    &[]
};

pub(super) fn restrict(plan: &Plan) -> State {
    match try_restrict(plan) {
        Ok(status) => State::of_landlock(&status.ruleset, status.landlock),
        Err(error) => State::Unavailable(format!("the kernel refused it: {error}")),
    }
}

fn try_restrict(plan: &Plan) -> Result<RestrictionStatus, RulesetError> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    if let Some(port) = plan.port {
        for directory in readable_directories() {
            // One that is not there cannot be read, so there is nothing to allow.
            if let Ok(directory) = PathFd::new(directory) {
                // Files can be opened, directories not listed. A rule on a directory holds for files
                // that come later, too: `resolv.conf` is replaced, not written to.
                ruleset = ruleset.add_rule(PathBeneath::new(directory, AccessFs::ReadFile))?;
            }
        }
        for port in [port, DNS] {
            ruleset = ruleset.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
        }
    }
    ruleset.restrict_self()
}

fn readable_directories() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = ["/etc"]
        .iter()
        .chain(&RESOLVER_DIRECTORIES)
        .chain(LIBRARY_DIRECTORIES)
        .map(PathBuf::from)
        .collect();
    directories.extend(resolver_configuration());
    directories
}

/// Where `/etc/resolv.conf` really is.
fn resolver_configuration() -> Option<PathBuf> {
    let file = std::fs::canonicalize("/etc/resolv.conf").ok()?;
    Some(readable_for(&file).to_owned())
}

/// The directory of a file, so that the file may be replaced. Of one that is right below the root
/// directory, such as `/run`, everything would be readable: there it is the file alone.
fn readable_for(file: &Path) -> &Path {
    match file.parent() {
        Some(directory) if directory.components().count() > 2 => directory,
        _ => file,
    }
}

impl State {
    fn of_landlock(ruleset: &RulesetStatus, landlock: LandlockStatus) -> Self {
        let abi = match landlock {
            LandlockStatus::NotImplemented => {
                return Self::Unavailable(
                    "this kernel does not have it, or a container's seccomp profile hides it"
                        .to_owned(),
                );
            }
            LandlockStatus::NotEnabled => {
                return Self::Unavailable("this kernel was started without it".to_owned());
            }
            LandlockStatus::Available {
                effective_abi,
                kernel_abi,
            } => kernel_abi.unwrap_or(effective_abi as i32),
        };
        let missing: Vec<_> = SINCE
            .into_iter()
            .filter_map(|(since, what)| (abi < since).then_some(what))
            .collect();
        match (ruleset, missing.is_empty()) {
            (RulesetStatus::FullyEnforced, true) => Self::InForce(Some(format!("ABI {abi}"))),
            (RulesetStatus::NotEnforced, _) => {
                Self::Unavailable(format!("the kernel did not enforce it, ABI {abi}"))
            }
            (_, true) => Self::Partly(format!("ABI {abi}")),
            (_, false) => Self::Partly(format!("ABI {abi}, without {}", missing.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn available(effective_abi: ABI) -> LandlockStatus {
        LandlockStatus::Available {
            effective_abi,
            kernel_abi: None,
        }
    }

    #[test]
    fn an_older_kernel_is_said_to_lack_what_it_lacks() {
        assert_eq!(
            State::of_landlock(&RulesetStatus::PartiallyEnforced, available(ABI::V3)),
            State::Partly(
                "ABI 3, without TCP ports, device control calls, signals and abstract UNIX sockets"
                    .to_owned()
            )
        );
        assert_eq!(
            State::of_landlock(&RulesetStatus::FullyEnforced, available(ABI::V6)),
            State::InForce(Some("ABI 6".to_owned()))
        );
        for (status, enforced) in [
            (LandlockStatus::NotImplemented, RulesetStatus::NotEnforced),
            (LandlockStatus::NotEnabled, RulesetStatus::NotEnforced),
            (available(ABI::V6), RulesetStatus::NotEnforced),
        ] {
            let state = State::of_landlock(&enforced, status);
            assert!(matches!(state, State::Unavailable(_)));
        }
    }

    #[test]
    fn a_link_to_a_large_directory_opens_a_file_alone() {
        for (file, readable) in [
            (
                "/run/systemd/resolve/stub-resolv.conf",
                "/run/systemd/resolve",
            ),
            ("/mnt/wsl/resolv.conf", "/mnt/wsl"),
            ("/run/resolv.conf", "/run/resolv.conf"),
            ("/resolv.conf", "/resolv.conf"),
        ] {
            assert_eq!(readable_for(Path::new(file)), Path::new(readable));
        }
    }

    #[test]
    fn the_root_directory_is_never_readable() {
        let directories = readable_directories();
        assert!(directories.contains(&PathBuf::from("/etc")));
        assert!(
            directories
                .iter()
                .all(|directory| directory != Path::new("/"))
        );
    }
}
