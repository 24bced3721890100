//! The login routes of both eras, and the session.

use crate::{
    call::Call,
    cookie::{self, Session},
    json::{Object, quote},
    reply::{Reply, Thrown},
    settings::{Era, Role},
    state::State,
    totp,
    validation::{Issues, object},
};

const PENDING_SECONDS: i64 = 300;

/// `POST /api/auth/password`, or the older `POST /api/session` with the code in the same body.
pub(crate) fn password(state: &mut State, call: &Call) -> Result<Reply, Thrown> {
    if state.settings.password_login_disabled {
        return Err(Thrown::new(403, "Password authentication is disabled"));
    }
    let body = object(call)?;
    let mut issues = Issues::new(&body, call.language());
    let username = issues.text("username", "Username", 2);
    let password = issues.text("password", "Password", 12);
    let remember = issues.flag("remember");
    issues.finish()?;
    state.logins += 1;
    state.password_checks += 1;
    let account = &state.account;
    if !state.settings.setup_done || username != account.username || password != account.password {
        return Err(Thrown::new(401, "Invalid username or password"));
    }
    if account.disabled {
        return Err(Thrown::new(401, "User disabled"));
    }
    let code = body.get("totpCode").and_then(serde_json::Value::as_str);
    let older = state.settings.era == Era::SessionRoute;
    match (&account.totp_secret, code.filter(|_| older)) {
        (Some(secret), Some(code)) if !totp::accepts(secret, state.now().as_second(), code) => {
            Ok(status("INVALID_TOTP_CODE"))
        }
        (Some(_), None) => {
            let until = state.now().as_second() + PENDING_SECONDS;
            let pending = if older {
                Session::Anonymous
            } else {
                Session::Pending { until, remember }
            };
            Ok(with_cookie(
                state,
                status("TOTP_REQUIRED"),
                &pending,
                remember,
            ))
        }
        _ => Ok(with_cookie(
            state,
            status("success"),
            &Session::User,
            remember,
        )),
    }
}

/// `POST /api/auth/verify-2fa`, with the cookie of the first step.
pub(crate) fn verify(state: &mut State, call: &Call) -> Result<Reply, Thrown> {
    let body = object(call)?;
    let mut issues = Issues::new(&body, call.language());
    let code = issues.text("totpCode", "TOTP Code", 6);
    issues.finish()?;
    state.logins += 1;
    let now = state.now().as_second();
    let pending = cookie::of_call(call, &state.cookie_key);
    let Some(Session::Pending { remember, .. }) = pending
        .filter(|session| !matches!(session, Session::Pending { until, .. } if *until < now))
    else {
        return Err(Thrown::new(401, "No pending authentication"));
    };
    if state.account.disabled {
        return Err(Thrown::new(401, "User disabled"));
    }
    match &state.account.totp_secret {
        Some(secret) if totp::accepts(secret, now, &code) => Ok(with_cookie(
            state,
            status("success"),
            &Session::User,
            remember,
        )),
        _ => Ok(status("INVALID_TOTP_CODE")),
    }
}

/// `GET /api/session`: cookies only, Basic counts for nothing here.
pub(crate) fn session(state: &State, call: &Call) -> Result<Reply, Thrown> {
    if cookie::of_call(call, &state.cookie_key) != Some(Session::User) {
        return Err(Thrown::new(401, "Not authenticated"));
    }
    let account = &state.account;
    let mut out = String::new();
    let mut fields = Object::open(&mut out);
    let (id, role) = if account.role == Role::Admin {
        ("1", "1")
    } else {
        ("2", "2")
    };
    fields
        .raw("id", id)
        .raw("role", role)
        .text("username", &account.username)
        .text("name", "Administrator");
    fields
        .raw("email", "null")
        .flag("totpVerified", account.totp_secret.is_some());
    fields
        .raw("oauthProvider", "null")
        .flag("hasPassword", true);
    fields.close();
    Ok(Reply::json(out))
}

/// `DELETE /api/session`: the browser gets an empty cookie, the old one stays as good as it was.
pub(crate) fn logout(state: &State) -> Reply {
    with_cookie(state, Reply::success(), &Session::Anonymous, false)
}

/// `GET /api/auth/methods`.
pub(crate) fn methods(state: &State) -> Reply {
    let disabled = state.settings.password_login_disabled;
    Reply::json(format!(
        r#"{{"oauthEnabled":false,"passwordDisabled":{disabled},"autoLaunchProvider":null}}"#
    ))
}

/// A `Set-Cookie` on an answer.
pub(crate) fn with_cookie(state: &State, reply: Reply, session: &Session, remember: bool) -> Reply {
    reply.with_header(
        "set-cookie",
        cookie::line(session, &state.cookie_key, remember, state.insecure()),
    )
}

fn status(word: &str) -> Reply {
    Reply::json(format!(r#"{{"status":{}}}"#, quote(word)))
}
