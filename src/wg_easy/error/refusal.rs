//! Why wg-easy does not let this server in.

use std::fmt;

/// Why a login was refused. Asking again at once would get the same answer, so each of these is
/// remembered for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// 401 to a request with Basic credentials: wrong ones, or right ones of an account with a second
    /// factor.
    Basic,
    /// 401 from the login route: wrong credentials. A second factor is asked for after them.
    Password,
    /// The account is disabled.
    UserDisabled,
    /// The account has a second factor, and there is no secret to make a code from.
    SecondFactorMissing,
    /// The code was not accepted.
    SecondFactorWrong {
        /// How many seconds this machine's clock is ahead of wg-easy's, if wg-easy's answer said.
        ahead: Option<i64>,
    },
    /// The login succeeded, and there is no session all the same: no cookie came, or it was not
    /// accepted.
    NoCookie,
}

/// Why there is no session where nothing but a session is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoSession {
    /// No known login route exists.
    NoRoute,
    /// The login route does not take such a user name or password.
    Unacceptable,
}

/// A code is good for its own 30 seconds and, as most servers have it, for those before and after.
const TOLERATED: u64 = 30;

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Basic => f.write_str(
                "wg-easy refused the login (HTTP 401): the user name or the password is wrong, or the \
                 account has two-factor authentication on; wg-easy does not say which. Check \
                 WG_EASY_USERNAME (upper and lower case differ) and WG_EASY_PASSWORD, or their files, and \
                 start this server again.",
            ),
            Self::Password => f.write_str(
                "wg-easy refused the login (HTTP 401): the user name or the password is wrong. It is \
                 not two-factor authentication: wg-easy asks for a code only after the right password. \
                 Check WG_EASY_USERNAME (upper and lower case differ) and WG_EASY_PASSWORD, or their \
                 files, and start this server again.",
            ),
            Self::UserDisabled => f.write_str(
                "wg-easy refused the login because the user is disabled. Enable the user in wg-easy's \
                 admin panel, or configure another one.",
            ),
            Self::SecondFactorMissing => f.write_str(
                "wg-easy accepted the password and wants the code of a second factor, since two-factor \
                 authentication is on for this account; this server has no secret to make one from. \
                 Set WG_EASY_TOTP_SECRET or WG_EASY_TOTP_SECRET_FILE to the account's base32 secret, or \
                 configure an account without a second factor, and start this server again.",
            ),
            Self::SecondFactorWrong { ahead } => {
                f.write_str(
                    "wg-easy accepted the password and refused the code of the second factor: a clock \
                     is wrong, or the secret is not this account's. ",
                )?;
                match ahead {
                    Some(ahead) if ahead.unsigned_abs() > TOLERATED => write!(
                        f,
                        "This machine's clock is {} s {} wg-easy's, so it is probably a clock: set both \
                         right.",
                        ahead.unsigned_abs(),
                        if *ahead > 0 { "ahead of" } else { "behind" },
                    ),
                    Some(_) => f.write_str(
                        "The clocks of this machine and of wg-easy agree, so it is probably the secret: \
                         check WG_EASY_TOTP_SECRET or its file, and start this server again.",
                    ),
                    None => f.write_str(
                        "Compare the clocks of this machine and of wg-easy, and check \
                         WG_EASY_TOTP_SECRET or its file.",
                    ),
                }
            }
            Self::NoCookie => f.write_str(
                "wg-easy accepted the login, but its session cookie did not come through, so there is \
                 no session. A proxy before wg-easy probably drops or changes cookies: let it pass \
                 Cookie and Set-Cookie. An account without a second factor can do without a session: \
                 set WG_EASY_AUTH to auto or basic.",
            ),
        }
    }
}

impl fmt::Display for NoSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRoute => {
                "There is no login route below WG_EASY_URL (HTTP 404), and WG_EASY_AUTH=session allows \
                 no other way to log in. Check that WG_EASY_URL points to wg-easy v15; if its release is \
                 too old for sessions, update it or set WG_EASY_AUTH to auto."
            }
            Self::Unacceptable => {
                "wg-easy's login route did not take the user name or the password (HTTP 400), and \
                 WG_EASY_AUTH=session allows no other way to log in. That route takes no password of \
                 fewer than 12 characters and no user name of fewer than 2: choose longer ones, or set \
                 WG_EASY_AUTH to auto."
            }
        })
    }
}
