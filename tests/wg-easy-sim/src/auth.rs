//! Who is calling.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use crate::{
    call::Call,
    cookie::{self, Session},
    log::Login,
    reply::Thrown,
    settings::Role,
    state::State,
};

/// Base64 as Node's `Buffer` reads it: padding or not, trailing bits or not.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The user of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct User {
    pub(crate) role: Role,
    pub(crate) login: Login,
}

impl User {
    /// The id of the account; clients of the administrator belong to 1.
    pub(crate) fn id(self) -> u64 {
        if self.role == Role::Admin { 1 } else { 2 }
    }

    /// Refuses whoever is not an administrator.
    pub(crate) fn must_be_admin(self) -> Result<(), Thrown> {
        if self.role == Role::Admin {
            Ok(())
        } else {
            Err(denied())
        }
    }
}

/// What a role may not do.
pub(crate) fn denied() -> Thrown {
    Thrown::new(403, "Permission denied")
}

/// Whether a call makes the server hash a password (which takes its time).
pub(crate) fn hashes_password(state: &State, call: &Call) -> bool {
    let protected = call.path.starts_with("/api/client")
        || call.path.starts_with("/api/admin/")
        || call.path.starts_with("/api/me/");
    let logged_in = cookie::of_call(call, &state.cookie_key) == Some(Session::User);
    protected
        && !logged_in
        && !state.settings.password_login_disabled
        && basic(call).is_ok_and(|given| given.is_some())
}

/// The user of a call on a protected route. A cookie comes first, then Basic.
pub(crate) fn user(state: &State, call: &Call) -> Result<User, Thrown> {
    let account = &state.account;
    let user = |login| User {
        role: account.role,
        login,
    };
    if cookie::of_call(call, &state.cookie_key) == Some(Session::User) {
        return if account.disabled {
            Err(Thrown::new(403, "User is disabled"))
        } else {
            Ok(user(Login::Cookie))
        };
    }
    let Some((name, password)) = basic(call)? else {
        return Err(Thrown::new(401, "Session failed. No Authorization"));
    };
    if state.settings.password_login_disabled {
        return Err(Thrown::new(403, "Password authentication is disabled"));
    }
    let right =
        state.settings.setup_done && name == account.username && password == account.password;
    if !right {
        return Err(Thrown::new(401, "Session failed"));
    }
    if account.disabled {
        return Err(Thrown::new(403, "User is disabled"));
    }
    if account.totp_secret.is_some() {
        // The same words as for a wrong password.
        return Err(Thrown::new(401, "Session failed"));
    }
    Ok(user(Login::Basic))
}

/// Name and password of the Authorization header; `None` when there is no header.
fn basic(call: &Call) -> Result<Option<(String, String)>, Thrown> {
    let Some(header) = call
        .header("authorization")
        .filter(|header| !header.is_empty())
    else {
        return Ok(None);
    };
    let invalid = || Thrown::new(400, "Invalid Basic Authorization");
    let mut words = header.split(' ');
    let (scheme, value) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    if scheme != "Basic" || value.is_empty() {
        return Err(invalid());
    }
    let text = String::from_utf8_lossy(&LENIENT.decode(value).unwrap_or_default()).into_owned();
    match text.split_once(':') {
        Some((name, password)) if !name.is_empty() && !password.is_empty() => {
            Ok(Some((name.to_owned(), password.to_owned())))
        }
        _ => Err(invalid()),
    }
}
