//! WireGuard keys. A seeded instance of thousands of clients must start at once, also in a debug
//! build, so a series of key pairs is derived by adding a point to the previous public key instead
//! of multiplying anew; every pair in it is a valid one.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use curve25519_dalek::{EdwardsPoint, MontgomeryPoint, Scalar};

/// A key pair in WireGuard's base64 spelling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPair {
    /// The private key.
    pub private: String,
    /// The public key that belongs to it.
    pub public: String,
}

/// The kernel's randomness.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the kernel has randomness");
    bytes
}

/// A random pre-shared key.
pub(crate) fn pre_shared() -> String {
    STANDARD.encode(random::<32>())
}

/// The public key that belongs to a private key; `None` if that is not 32 bytes in base64.
#[must_use]
pub fn public_of(private: &str) -> Option<String> {
    let bytes: [u8; 32] = STANDARD.decode(private).ok()?.try_into().ok()?;
    Some(STANDARD.encode(MontgomeryPoint::mul_base_clamped(bytes).0))
}

/// One random key pair.
pub(crate) fn pair() -> KeyPair {
    series(1).remove(0)
}

/// `count` key pairs, from one random start.
pub(crate) fn series(count: usize) -> Vec<KeyPair> {
    // X25519 clamps private keys to multiples of eight with bit 254 set. The start leaves room below
    // the next bit, so that adding eight again and again keeps that shape.
    let mut private: [u8; 32] = random();
    private[0] &= 0b1111_1000;
    private[31] = (private[31] & 0b0000_1111) | 0b0100_0000;
    let step = EdwardsPoint::mul_base(&Scalar::from(8_u8));
    let mut point = EdwardsPoint::mul_base_clamped(private);
    let mut pairs = Vec::with_capacity(count);
    for _ in 0..count {
        let public = STANDARD.encode(point.to_montgomery().0);
        pairs.push(KeyPair {
            private: STANDARD.encode(private),
            public,
        });
        add_eight(&mut private);
        point += step;
    }
    pairs
}

fn add_eight(number: &mut [u8; 32]) {
    let mut carry = 8_u16;
    for byte in number {
        let sum = u16::from(*byte) + carry;
        *byte = (sum & 0xff) as u8;
        carry = sum >> 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_a_series_is_valid() {
        // Long enough for the lowest byte to overflow.
        for pair in series(70) {
            assert_eq!(
                public_of(&pair.private).as_deref(),
                Some(pair.public.as_str())
            );
            let private = STANDARD.decode(&pair.private).unwrap();
            assert_eq!((private[0] & 7, private[31] >> 6), (0, 1), "clamped");
        }
    }

    #[test]
    fn keys_agree_with_rfc_7748() {
        let private = "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=";
        assert_eq!(
            public_of(private).as_deref(),
            Some("hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=")
        );
    }
}
