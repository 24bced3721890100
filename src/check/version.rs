//! Whether what answers is wg-easy, and of a version that this program speaks with.

use super::{Findings, VERSION};
use crate::wg_easy::fields::INFORMATION;
use crate::wg_easy::record::Record;
use crate::wg_easy::{Body, Error};

/// Whether this is how a server that expects TLS answers without: in TLS, or with a complaint.
pub(super) fn is_maybe_tls(information: &Result<Body, Error>) -> bool {
    matches!(
        information,
        Err(Error::NotHttp { .. } | Error::BadRequest { status: 400, .. })
    )
}

/// Whether what answers can be talked to.
pub(super) fn check(information: Result<Body, Error>, findings: &mut Findings) -> bool {
    let body = match information {
        Ok(body) => body,
        // wg-easy asks a server of its makers for the latest release, and fails with that.
        Err(Error::ServerError { .. }) => {
            findings.warn(
                VERSION,
                "wg-easy does not tell its version, as when it cannot reach the internet",
                "It has to be 15; see the foot of its web UI.",
            );
            return true;
        }
        Err(Error::NotFound) => {
            findings.fail(
                VERSION,
                "what answers at WG_EASY_URL does not have the API of wg-easy 15 (HTTP 404)",
                "Check the path in WG_EASY_URL: it must be that of the web UI. wg-easy 14 and older \
                 have another API; update to 15.",
            );
            return false;
        }
        // This route needs no login, and none was sent.
        Err(Error::Refused(_) | Error::PasswordLoginOff | Error::Forbidden) => {
            findings.fail(
                VERSION,
                "something before wg-easy does not let requests through without a login of its own",
                "Exempt the path of wg-easy's API there, or point WG_EASY_URL to wg-easy itself.",
            );
            return false;
        }
        Err(error) => {
            findings.fail_as(VERSION, &error.to_string());
            return false;
        }
    };
    let release = Record::from_body(&body, INFORMATION)
        .map(|record| record.shape().into_value())
        .ok()
        .and_then(|record| Some(record.get("currentRelease")?.as_str()?.to_owned()))
        .filter(|release| is_release(release));
    let Some(release) = release else {
        findings.fail(
            VERSION,
            "what answers at WG_EASY_URL names no release",
            "Check that WG_EASY_URL points to wg-easy 15 and that nothing else answers in its place.",
        );
        return false;
    };
    let number = release.strip_prefix('v').unwrap_or(&release);
    if number.split('.').next() == Some("15") {
        findings.ok(VERSION, format!("wg-easy {number}"));
        return true;
    }
    findings.fail(
        VERSION,
        format!("this is wg-easy {number}, and this program speaks with 15"),
        "Use an instance of wg-easy 15.",
    );
    false
}

/// Whether a text can be the name of a release. Any other would be somebody's words among this program's.
fn is_release(text: &str) -> bool {
    (1..=MAX_RELEASE).contains(&text.len())
        && (text.chars()).all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'))
}

/// The most characters of a release's name.
const MAX_RELEASE: usize = 40;
