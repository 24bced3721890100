//! Which route answers a call.

use crate::{
    admin, auth,
    auth::User,
    call::Call,
    clients,
    cookie::{self, Session},
    links,
    log::Login,
    login,
    reply::{Reply, Thrown},
    settings::Era,
    state::State,
};

/// An answer, and how the caller was known.
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) login: Option<Login>,
}

/// Answers a call, applying what it asks for.
pub(crate) fn answer(state: &mut State, call: &Call) -> Answer {
    let path = call.path.clone();
    let now = state.now();
    if let Some(rest) = path.strip_prefix("/api/") {
        let segments: Vec<&str> = rest.strip_suffix('/').unwrap_or(rest).split('/').collect();
        return api(state, call, &segments);
    }
    let token = path
        .strip_prefix("/cnf/")
        .map(|token| token.trim_end_matches('/'));
    let reply = match token {
        _ if !state.settings.setup_done && !path.starts_with("/setup/") => {
            Reply::to_page(now, "/setup/1", None)
        }
        Some(token) if !token.is_empty() && !token.contains('/') => {
            links::fetch(state, call, token)
        }
        _ if path == "/login" || path.starts_with("/setup/") => Reply::new(
            200,
            "text/html;charset=utf-8",
            "<!DOCTYPE html><html><head><title>wg-easy</title></head></html>",
        ),
        _ => Reply::to_page(now, "/login", None),
    };
    Answer { reply, login: None }
}

fn api(state: &mut State, call: &Call, segments: &[&str]) -> Answer {
    let (current, older) = (
        state.settings.era == Era::Current,
        state.settings.era == Era::SessionRoute,
    );
    let open = |result: Result<Reply, Thrown>| Answer {
        reply: rendered(call, result),
        login: None,
    };
    match (call.method.as_str(), segments) {
        ("GET", ["information"]) => open(admin::information(state)),
        ("GET", ["auth", "methods"]) if current => open(Ok(login::methods(state))),
        ("POST", ["auth", "password"]) if current => login_answer(state, call),
        ("POST", ["session"]) if older => login_answer(state, call),
        ("POST", ["auth", "verify-2fa"]) if current => open(login::verify(state, call)),
        ("DELETE", ["session"]) => open(Ok(login::logout(state))),
        ("GET", ["session"]) => {
            let result = login::session(state, call);
            Answer {
                reply: with_session_cookie(state, call, rendered(call, result)),
                login: None,
            }
        }
        (method, segments) if is_protected(method, segments) => protected(state, call, segments),
        _ => Answer {
            reply: Reply::no_such_route(call, state.now()),
            login: None,
        },
    }
}

fn is_protected(method: &str, segments: &[&str]) -> bool {
    match segments {
        ["client"] => matches!(method, "GET" | "POST"),
        ["client", _] => matches!(method, "GET" | "POST" | "DELETE"),
        ["client", _, "enable" | "disable" | "generateOneTimeLink"] => method == "POST",
        ["client", _, "configuration" | "qrcode.svg"] => method == "GET",
        ["admin", "general" | "interface" | "userconfig" | "hooks"] => method == "GET",
        _ => false,
    }
}

fn protected(state: &mut State, call: &Call, segments: &[&str]) -> Answer {
    if auth::hashes_password(state, call) {
        state.password_checks += 1;
    }
    let user = auth::user(state, call);
    let login = user.as_ref().ok().map(|user| user.login);
    let result = user.and_then(|user| dispatch(state, call, segments, user));
    let reply = rendered(call, result);
    Answer {
        reply: with_session_cookie(state, call, reply),
        login,
    }
}

fn dispatch(
    state: &mut State,
    call: &Call,
    segments: &[&str],
    user: User,
) -> Result<Reply, Thrown> {
    match (call.method.as_str(), segments) {
        ("GET", ["client"]) => clients::list(state, call, user),
        ("POST", ["client"]) => clients::create(state, call, user),
        ("GET", ["client", id]) => clients::get(state, user, id),
        ("POST", ["client", id]) => clients::update(state, call, user, id),
        ("DELETE", ["client", id]) => clients::delete(state, user, id),
        ("POST", ["client", id, "enable"]) => clients::toggle(state, user, id, true),
        ("POST", ["client", id, "disable"]) => clients::toggle(state, user, id, false),
        ("POST", ["client", id, "generateOneTimeLink"]) => links::generate(state, user, id),
        ("GET", ["client", id, "configuration"]) => clients::configuration(state, user, id),
        ("GET", ["client", id, "qrcode.svg"]) => clients::qrcode(state, user, id),
        ("GET", ["admin", page]) => {
            user.must_be_admin()?;
            Ok(match *page {
                "general" => admin::general(),
                "interface" => admin::interface(state),
                "userconfig" => admin::userconfig(state),
                _ => admin::hooks(state),
            })
        }
        _ => Ok(Reply::no_such_route(call, state.now())),
    }
}

/// A login that is refused after its body was read sets a cookie as well; one whose body is wrong does not.
fn login_answer(state: &mut State, call: &Call) -> Answer {
    let attempts = state.logins;
    let result = login::password(state, call);
    let reply = match result {
        Err(thrown) if state.logins > attempts => {
            with_session_cookie(state, call, Reply::error(call, &thrown))
        }
        other => rendered(call, other),
    };
    Answer { reply, login: None }
}

fn rendered(call: &Call, result: Result<Reply, Thrown>) -> Reply {
    result.unwrap_or_else(|thrown| Reply::error(call, &thrown))
}

/// Whoever comes without a cookie that opens gets one that says nothing.
fn with_session_cookie(state: &State, call: &Call, reply: Reply) -> Reply {
    if cookie::of_call(call, &state.cookie_key).is_some() {
        return reply;
    }
    login::with_cookie(state, reply, &Session::Anonymous, false)
}
