//! Reading the fixture's expectations, and taking out of an answer what differs from run to run.

use serde_json::{Map, Value, json};

use crate::support::Answer;

pub(crate) fn or(value: &Value, default: &str) -> Value {
    if value.is_null() {
        json!(default)
    } else {
        value.clone()
    }
}

pub(crate) fn cookie_kind(answer: &Answer) -> Option<&'static str> {
    let line = answer.header("set-cookie")?;
    Some(match line {
        _ if line.starts_with("i18n_redirected=en; Path=/; Expires=") => "language",
        _ if line.ends_with("; Max-Age=3600; Path=/; HttpOnly") => "long session",
        _ => "session",
    })
}

pub(crate) fn is_guarded(answer: &Answer) -> bool {
    answer.header("x-content-type-options") == Some("nosniff")
        && answer.header("x-frame-options") == Some("DENY")
        && answer.header("referrer-policy") == Some("no-referrer")
        && answer.header("content-security-policy")
            == Some("script-src 'none'; frame-ancestors 'none';")
        && answer.header("cache-control") == Some("no-cache")
}

/// The body of an error, in the order and indentation of the original.
pub(crate) fn error_body(step: &Value, call: &str) -> String {
    let mut body = Map::new();
    let reason = or(&step["reason"], "OK");
    body.insert("error".to_owned(), json!(true));
    body.insert(
        "url".to_owned(),
        json!(format!(
            "http://sim.test{}",
            call.split_once(' ').unwrap().1
        )),
    );
    body.insert("statusCode".to_owned(), step["status"].clone());
    body.insert("statusMessage".to_owned(), reason.clone());
    body.insert(
        "message".to_owned(),
        or(&step["message"], reason.as_str().unwrap()),
    );
    if let Some(data) = step["data"].as_str() {
        body.insert("data".to_owned(), serde_json::from_str(data).unwrap());
    }
    serde_json::to_string_pretty(&body).unwrap()
}

/// Takes out what differs from run to run.
pub(crate) fn normal(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (written, length) = stand_in(rest).unwrap_or((&rest[..c.len_utf8()], c.len_utf8()));
        out.push_str(written);
        rest = &rest[length..];
    }
    match out.split_once(r#""oneTimeLink":""#) {
        Some((before, after)) => {
            let tail = after.split_once('"').unwrap().1;
            format!(r#"{before}"oneTimeLink":"<token>"{tail}"#)
        }
        None => out,
    }
}

fn stand_in(rest: &str) -> Option<(&'static str, usize)> {
    let head = |length: usize| rest.as_bytes().get(..length);
    let key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    if head(44).is_some_and(|head| head[43] == b'=' && head[..43].iter().all(key)) {
        return Some(("<key>", 44));
    }
    let fits = |pattern: &str| {
        let same = |(byte, wanted): (&u8, u8)| {
            if wanted == b'0' {
                byte.is_ascii_digit()
            } else {
                *byte == wanted
            }
        };
        head(pattern.len()).is_some_and(|head| head.iter().zip(pattern.bytes()).all(same))
    };
    if fits("0000-00-00 00:00:00") {
        return Some(("<plain>", 19));
    }
    let by_hand = rest.get(10..24) == Some("T00:00:00.000Z");
    (fits("0000-00-00T00:00:00.000Z") && !by_hand).then_some(("<iso>", 24))
}
