//! The secrets this room makes for itself.

use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret as _, SecretBox};
use sha2::Sha256;

/// A key that never leaves the process: made when the server starts, wiped when it is dropped.
///
/// It stays in the place on the heap where it was made. A value that is moved leaves its bytes behind
/// wherever it has been, and those nobody wipes.
pub(super) struct Key(SecretBox<[u8; Self::BYTES]>);

impl Key {
    /// As long as the output of the hash: a longer key would not make HMAC-SHA-256 any stronger.
    const BYTES: usize = 32;

    pub(super) fn random() -> Result<Self, getrandom::Error> {
        let mut filled = Ok(());
        let key = SecretBox::init_with_mut(|key: &mut [u8; Self::BYTES]| {
            filled = getrandom::fill(key);
        });
        filled.map(|()| Self(key))
    }

    /// HMAC-SHA-256 over the concatenation of `parts`, to be verified in constant time or finished.
    ///
    /// The parts are not separated: all but the last must be of a fixed length.
    pub(super) fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.expose_secret()).expect("a key of any length");
        for part in parts {
            mac.update(part);
        }
        mac
    }
}

/// Bytes that nobody can guess, from the kernel.
pub(super) fn random<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
