//! The admin login.

use std::fmt;

use secrecy::SecretString;

/// The admin login of wg-easy.
pub struct Credentials {
    /// The user name; not printed either, since people paste passwords into the wrong variable.
    pub username: SecretString,
    /// The password.
    pub password: SecretString,
    /// The base32 secret of the account's second factor: upper case, without blanks or padding, and
    /// known to be acceptable to [`decode_base32`](super::decode_base32).
    pub totp: Option<SecretString>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}
