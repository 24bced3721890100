//! What the operator asked for: parse, don't validate. A [`Config`] holds only values that are
//! already right.

use reqwest::Url;
use rustls::pki_types::CertificateDer;
use secrecy::SecretString;

/// Where wg-easy is and how to speak to it.
pub struct Connection {
    /// The base of every request.
    pub url: BaseUrl,
    /// The admin login.
    pub credentials: Credentials,
    /// What makes a certificate acceptable.
    pub tls: TlsSettings,
    /// How a request is authenticated.
    pub auth: AuthMode,
}

/// The web UI's base URL: `http` or `https`, without credentials, query, fragment or trailing slash.
#[derive(Clone)]
pub struct BaseUrl(Url);

/// The admin login of wg-easy.
pub struct Credentials {
    /// The user name; not printed either, since people paste passwords into the wrong variable.
    pub username: SecretString,
    /// The password.
    pub password: SecretString,
    /// The base32 secret of the account's second factor.
    pub totp: Option<SecretString>,
}

/// What makes a certificate acceptable on the wg-easy connection, and on that connection alone.
#[derive(Default)]
pub struct TlsSettings {
    /// Accept any certificate (with pins: any whose leaf matches a pin).
    pub insecure: bool,
    /// When set, only these roots are trusted.
    pub roots: Option<Vec<CertificateDer<'static>>>,
    /// When not empty, a certificate of the verified chain must match one.
    pub pins: Vec<Pin>,
}

/// SHA-256 of a certificate's SubjectPublicKeyInfo.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pin(pub [u8; 32]);

/// How a request to wg-easy is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum AuthMode {
    /// A session where wg-easy offers one, Basic otherwise.
    #[default]
    Auto,
    /// A session cookie only.
    Session,
    /// Basic credentials on every request.
    Basic,
}

impl BaseUrl {
    /// Accepts a URL that has been checked by [`Config`]'s parser.
    #[doc(hidden)]
    pub fn from_checked(url: Url) -> Self {
        Self(url)
    }

    /// The URL of an API path such as `/api/client`, below the base's own path.
    pub fn join(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}{path}"));
        url
    }

    /// The host, as the URL spells it; an IPv6 address is in brackets.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// The port, the scheme's own where the URL names none.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or_default()
    }

    /// Whether the connection is encrypted.
    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }
}
