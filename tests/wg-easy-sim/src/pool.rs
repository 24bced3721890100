//! Addresses: the pools clients get theirs from, and what WireGuard accepts in a configuration.

use std::{
    collections::HashSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// A network in CIDR notation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cidr {
    base: IpAddr,
    prefix: u32,
}

impl Cidr {
    /// Reads `10.8.0.0/24`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (base, prefix) = text.split_once('/')?;
        let base: IpAddr = base.parse().ok()?;
        let prefix: u32 = prefix.parse().ok()?;
        (prefix <= bits(base)).then_some(Self { base, prefix })
    }

    fn size(self) -> u128 {
        1_u128
            .checked_shl(bits(self.base) - self.prefix)
            .unwrap_or(u128::MAX)
    }

    fn first(self) -> u128 {
        let offset = bits(self.base) - self.prefix;
        number(self.base)
            .checked_shr(offset)
            .map_or(0, |kept| kept << offset)
    }

    /// The address with this number in the network.
    pub(crate) fn nth(self, index: u128) -> IpAddr {
        let value = self.first() + index;
        match self.base {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from(value as u32)),
            IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from(value)),
        }
    }

    /// Whether an address is in the network.
    pub(crate) fn contains(self, address: IpAddr) -> bool {
        let same_family = address.is_ipv4() == self.base.is_ipv4();
        same_family && number(address).wrapping_sub(self.first()) < self.size()
    }

    /// The lowest address nobody uses; the network's own, the server's and the last are not given out.
    pub(crate) fn lowest_free(self, used: &HashSet<&str>) -> Option<String> {
        let candidates = 2..self.size() - 1;
        candidates
            .map(|index| self.nth(index).to_string())
            .find(|address| !used.contains(address.as_str()))
    }
}

fn bits(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// Whether `wg` takes this as an entry of `AllowedIPs`.
pub(crate) fn is_allowed_ip(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok() || Cidr::parse(text).is_some()
}

/// Whether `wg` takes this as an `Endpoint`: a host and a port. Names are not looked up.
pub(crate) fn is_endpoint(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let host_is_fine = match host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(v6) => v6.parse::<Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        }
    };
    host_is_fine && port.parse::<u16>().is_ok_and(|port| port > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_out_the_lowest_free_address() {
        let pool = Cidr::parse("10.8.0.0/30").unwrap();
        assert_eq!(
            pool.lowest_free(&HashSet::new()).as_deref(),
            Some("10.8.0.2")
        );
        assert_eq!(pool.lowest_free(&HashSet::from(["10.8.0.2"])), None);
        let pool = Cidr::parse("fdcc:ad94:bacf:61a4::cafe:0/112").unwrap();
        assert_eq!(
            pool.lowest_free(&HashSet::new()).as_deref(),
            Some("fdcc:ad94:bacf:61a4::cafe:2")
        );
    }

    #[test]
    fn knows_its_own_addresses() {
        let pool = Cidr::parse("10.8.0.0/24").unwrap();
        assert!(pool.contains("10.8.0.255".parse().unwrap()));
        assert!(!pool.contains("10.8.1.0".parse().unwrap()));
        assert!(!pool.contains("10.7.255.255".parse().unwrap()));
        assert!(!pool.contains("::a08:1".parse().unwrap()));
    }

    #[test]
    fn knows_what_wireguard_takes() {
        assert!(is_allowed_ip("10.0.0.0/8") && is_allowed_ip("::1") && is_allowed_ip("fd00::/8"));
        assert!(!is_allowed_ip("not-a-cidr") && !is_allowed_ip("10.0.0.0/33"));
        assert!(is_endpoint("vpn.example.test:51820") && is_endpoint("[::1]:1"));
        assert!(!is_endpoint("vpn.example.test") && !is_endpoint("host:0") && !is_endpoint(":1"));
    }
}
