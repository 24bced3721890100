//! How far a list of routes reaches, so that a question can say when it reaches further than before.
//!
//! Networks are compared by the addresses they cover and not by how they are written: `0.0.0.0/1` and
//! `128.0.0.0/1` together are every address there is.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One network, as the addresses from its first to its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Network {
    family: Family,
    first: u128,
    last: u128,
}

/// The two address families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Network {
    /// Reads an address, or an address with a prefix length. Bits beyond the prefix are ignored, as
    /// WireGuard does.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let (family, bits, length) = match address {
            IpAddr::V4(address) => (Family::V4, u128::from(u32::from(address)), Ipv4Addr::BITS),
            IpAddr::V6(address) => (Family::V6, u128::from(address), Ipv6Addr::BITS),
        };
        let prefix = match prefix {
            Some(digits) if digits.len() <= 3 && digits.bytes().all(|b| b.is_ascii_digit()) => {
                digits.parse().ok().filter(|&prefix| prefix <= length)?
            }
            Some(_) => return None,
            None => length,
        };
        let host = match length - prefix {
            128 => u128::MAX,
            host => (1 << host) - 1,
        };
        let first = bits & !host;
        Some(Self {
            family,
            first,
            last: first | host,
        })
    }
}

/// The addresses of a list of networks. What is not a network covers nothing.
#[derive(Debug)]
pub(super) struct Reach(Vec<Network>);

impl Reach {
    /// The reach of `networks`.
    pub(super) fn of<'a>(networks: impl IntoIterator<Item = &'a str>) -> Self {
        Self(networks.into_iter().filter_map(Network::parse).collect())
    }

    /// Whether it covers every address of a family.
    pub(super) fn is_everything(&self, family: Family) -> bool {
        let last = match family {
            Family::V4 => u128::from(u32::MAX),
            Family::V6 => u128::MAX,
        };
        self.covers(Network {
            family,
            first: 0,
            last,
        })
    }

    /// Whether every address of `network` is in it.
    pub(super) fn covers(&self, network: Network) -> bool {
        let mut networks: Vec<_> = self
            .0
            .iter()
            .filter(|other| other.family == network.family && other.last >= network.first)
            .collect();
        networks.sort_by_key(|other| other.first);
        let mut next = network.first;
        for other in networks {
            if other.first > next {
                return false;
            }
            if other.last >= network.last {
                return true;
            }
            next = next.max(other.last + 1);
        }
        false
    }

    /// Those of `networks` that reach beyond it.
    pub(super) fn beyond<'a>(&self, networks: &'a [String]) -> Vec<&'a str> {
        networks
            .iter()
            .filter(|text| Network::parse(text).is_some_and(|network| !self.covers(network)))
            .map(String::as_str)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn beyond(old: &[&str], new: &[&str]) -> Vec<String> {
        let new: Vec<String> = new.iter().map(|text| (*text).to_owned()).collect();
        let beyond = Reach::of(old.iter().copied()).beyond(&new);
        beyond.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn what_was_covered_already_widens_nothing() {
        assert!(beyond(&["10.0.0.0/8"], &["10.1.0.0/16", "10.2.3.4", "10.9.9.9/8"]).is_empty());
        assert!(beyond(&["10.0.0.0/9", "10.128.0.0/9"], &["10.0.0.0/8"]).is_empty());
        assert!(beyond(&["::/0"], &["fd00::/8"]).is_empty());
        assert_eq!(
            beyond(&["10.0.0.0/8"], &["10.0.0.0/7", "fd00::/8"]),
            ["10.0.0.0/7", "fd00::/8"]
        );
        assert_eq!(beyond(&["rubbish"], &["1.1.1.1"]), ["1.1.1.1"]);
        assert_eq!(beyond(&["0.0.0.0/0"], &["::/0"]), ["::/0"]);
    }

    #[test]
    fn everything_is_everything_however_it_is_written() {
        let v4 = |networks: &[&str]| Reach::of(networks.iter().copied()).is_everything(Family::V4);
        assert!(v4(&["0.0.0.0/0"]));
        assert!(v4(&["1.2.3.4/0"]));
        assert!(v4(&["128.0.0.0/1", "0.0.0.0/1"]));
        assert!(v4(&["0.0.0.0/2", "128.0.0.0/1", "64.0.0.0/2"]));
        assert!(!v4(&["0.0.0.0/1", "128.0.0.0/2"]));
        assert!(!v4(&["::/0"]));
        // One network inside another takes nothing away from it.
        assert!(v4(&["0.0.0.0/1", "10.0.0.0/8", "128.0.0.0/1"]));
        assert!(!Reach::of(["::/1"]).is_everything(Family::V6));
        assert!(!Reach::of(["::/96"]).is_everything(Family::V6));
        assert!(Reach::of(["8000::/1", "::/1"]).is_everything(Family::V6));
    }

    #[test]
    fn a_network_is_written_one_way() {
        for wrong in [
            "",
            "/8",
            "10.0.0.0/",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/+8",
            "10.0.0/8",
            "010.0.0.0/8",
            "10.0.0.0/8/8",
            "fe80::1%eth0",
        ] {
            assert_eq!(Network::parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_network_is_covered_by_its_halves_and_not_by_one(bits in any::<u32>(), prefix in 0u32..32) {
            let whole = Network::parse(&format!("{}/{prefix}", Ipv4Addr::from(bits))).unwrap();
            let half = prefix + 1;
            let low = Ipv4Addr::from(u32::try_from(whole.first).unwrap());
            let high = Ipv4Addr::from(u32::try_from(whole.last).unwrap());
            let (low, high) = (format!("{low}/{half}"), format!("{high}/{half}"));
            prop_assert!(Reach::of([low.as_str(), high.as_str()]).covers(whole));
            prop_assert!(!Reach::of([low.as_str()]).covers(whole));
            prop_assert!(!Reach::of([high.as_str()]).covers(whole));
        }
    }
}
