//! Answers, and the three ways wg-easy says that something is wrong.

use jiff::{SignedDuration, Timestamp};

use crate::{call::Call, dates, json::quote};

/// An answer, before any fault touches it.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    /// `None`: the usual phrase of the status.
    pub(crate) reason: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// An error a route throws.
#[derive(Clone, Debug)]
pub(crate) struct Thrown {
    status: u16,
    status_message: String,
    message: String,
    data: Option<String>,
}

impl Thrown {
    /// An error whose message is its reason phrase.
    pub(crate) fn new(status: u16, message: &str) -> Self {
        Self {
            status,
            status_message: message.to_owned(),
            message: message.to_owned(),
            data: None,
        }
    }

    /// The opaque 500.
    pub(crate) fn server_error() -> Self {
        Self::new(500, "Server Error")
    }

    /// A body or parameter that does not fit its schema.
    pub(crate) fn validation(issues: &[String]) -> Self {
        let status_message = "Validation Error".to_owned();
        Self {
            status: 400,
            status_message,
            message: issues.join("; "),
            data: Some("{}".to_owned()),
        }
    }

    /// A body that is not the JSON it says it is.
    pub(crate) fn malformed_json() -> Self {
        Self {
            status: 400,
            status_message: "Bad Request".to_owned(),
            message: "Invalid JSON body".to_owned(),
            data: None,
        }
    }
}

impl Reply {
    pub(crate) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self {
            status,
            reason: None,
            headers,
            body: body.into(),
        }
    }

    pub(crate) fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "application/json", body)
    }

    pub(crate) fn success() -> Self {
        Self::json(r#"{"success":true}"#)
    }

    pub(crate) fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    fn with_security_headers(self) -> Self {
        self.with_header("x-content-type-options", "nosniff")
            .with_header("x-frame-options", "DENY")
            .with_header("referrer-policy", "no-referrer")
            .with_header(
                "content-security-policy",
                "script-src 'none'; frame-ancestors 'none';",
            )
            .with_header("cache-control", "no-cache")
    }

    /// A thrown error: JSON, or a long page for whoever accepts HTML.
    pub(crate) fn error(call: &Call, thrown: &Thrown) -> Self {
        let mut reply = if call.wants_json() {
            let mut body = format!(
                "{{\n  \"error\": true,\n  \"url\": {},\n  \"statusCode\": {},\n  \"statusMessage\": {},\n  \"message\": {}",
                quote(&call.url()),
                thrown.status,
                quote(&thrown.status_message),
                quote(&thrown.message)
            );
            if let Some(data) = &thrown.data {
                body.push_str(",\n  \"data\": ");
                body.push_str(data);
            }
            body.push_str("\n}");
            Self::new(thrown.status, "application/json", body)
        } else {
            Self::new(thrown.status, "text/html;charset=utf-8", error_page(thrown))
        };
        reply.reason = Some(thrown.status_message.clone());
        reply.with_security_headers()
    }

    /// A route that does not exist.
    pub(crate) fn no_such_route(call: &Call, now: Timestamp) -> Self {
        let path = &call.path;
        let mut thrown = Thrown::new(404, &format!("Page not found: {path}"));
        thrown.data = Some(format!("{{\n    \"path\": {}\n  }}", quote(path)));
        Self::error(call, &thrown).with_header("set-cookie", language_cookie(now))
    }

    /// What everything that is not the API or a link does.
    pub(crate) fn to_page(now: Timestamp, page: &str, reason: Option<&str>) -> Self {
        let body = format!(
            r#"<!DOCTYPE html><html><head><meta http-equiv="refresh" content="0; url={page}"></head></html>"#
        );
        let mut reply = Self::new(302, "text/html", body).with_header("location", page);
        reply.reason = reason.map(str::to_owned);
        if page == "/login" {
            reply.with_header("set-cookie", language_cookie(now))
        } else {
            reply
        }
    }
}

fn language_cookie(now: Timestamp) -> String {
    let expires = dates::cookie(now + SignedDuration::from_hours(365 * 24));
    format!("i18n_redirected=en; Path=/; Expires={expires}; SameSite=Lax")
}

/// About 14 KB, most of it a style sheet.
fn error_page(thrown: &Thrown) -> String {
    let (status, message) = (thrown.status, &thrown.message);
    let style =
        ".sim-spacer{margin:0;padding:0;border:0;font:inherit;vertical-align:baseline}".repeat(170);
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><title>{status} - {message}</title><style>{style}</style></head>\
         <body><h1>{status}</h1><p>{message}</p></body></html>"
    )
}
