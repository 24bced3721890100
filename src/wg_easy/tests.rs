use super::*;
use crate::config::{AuthMode, BaseUrl, Credentials, TlsSettings};

/// A login whose password looks like nothing else, so that a test can look for it. It goes along with
/// every request.
pub(in crate::wg_easy) fn connection(url: &str) -> Connection {
    Connection {
        url: BaseUrl::from_checked(url.parse().unwrap()),
        credentials: Credentials {
            username: "admin".into(),
            password: "s3cret-p:ss".into(),
            totp: None,
        },
        tls: TlsSettings::default(),
        auth: AuthMode::Basic,
    }
}
