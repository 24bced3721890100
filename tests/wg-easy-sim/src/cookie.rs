//! The sealed `wg-easy` cookie. As in the original its content is in the cookie and nowhere else, so
//! it survives a logout.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{call::Call, keys};

/// What a cookie says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Session {
    /// Nobody is logged in.
    Anonymous,
    /// The password was right; the code is still missing. Until then, in Unix seconds.
    Pending { until: i64, remember: bool },
    /// Logged in.
    User,
}

/// The value of a cookie.
pub(crate) fn seal(session: &Session, key: &[u8; 32]) -> String {
    let content = match session {
        Session::Anonymous => "anonymous".to_owned(),
        Session::Pending { until, remember } => format!("pending.{until}.{remember}"),
        Session::User => "user".to_owned(),
    };
    let nonce = URL_SAFE_NO_PAD.encode(keys::random::<18>());
    let text = format!("Fe26.2**{nonce}*{content}");
    let tag = tag(&text, key);
    format!("{text}*{tag}")
}

/// What the cookie of a call says; `None` when there is none or its seal is broken.
pub(crate) fn of_call(call: &Call, key: &[u8; 32]) -> Option<Session> {
    let header = call.header("cookie")?;
    let value = header
        .split(';')
        .find_map(|pair| pair.trim().strip_prefix("wg-easy="))?;
    let (text, given) = value.rsplit_once('*')?;
    if given != tag(text, key) {
        return None;
    }
    let (_, content) = text.rsplit_once('*')?;
    let mut parts = content.split('.');
    match parts.next()? {
        "user" => Some(Session::User),
        "anonymous" => Some(Session::Anonymous),
        _ => Some(Session::Pending {
            until: parts.next()?.parse().ok()?,
            remember: parts.next()? == "true",
        }),
    }
}

/// The `Set-Cookie` line.
pub(crate) fn line(session: &Session, key: &[u8; 32], remember: bool, insecure: bool) -> String {
    let max_age = if remember { "; Max-Age=3600" } else { "" };
    let secure = if insecure { "" } else { "; Secure" };
    format!(
        "wg-easy={}{max_age}; Path=/; HttpOnly{secure}",
        seal(session, key)
    )
}

fn tag(text: &str, key: &[u8; 32]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    mac.update(text.as_bytes());
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}
