//! What a simulator is started with.

use std::time::Duration;

/// How a simulator behaves from the start. Begin with [`Settings::default`] and change what matters.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The port on 127.0.0.1; 0 picks a free one.
    pub port: u16,
    /// Plain HTTP, or which certificate to show.
    pub tls: Tls,
    /// A path prefix such as `/vpn`: a reverse proxy that strips it. Outside it the proxy answers 404.
    pub prefix: String,
    /// Which login routes exist.
    pub era: Era,
    /// The one account.
    pub account: Account,
    /// Whether the set-up wizard was completed. If not, there is no account yet.
    pub setup_done: bool,
    /// `DISABLE_PASSWORD_AUTH`: logins by password are refused.
    pub password_login_disabled: bool,
    /// How many clients exist at the start, named `client-1` and so on.
    pub clients: usize,
    /// The IPv4 pool. `None`: 10.8.0.0/24, or 10.8.0.0/16 when the clients need it.
    pub ipv4_cidr: Option<String>,
    /// The IPv6 pool.
    pub ipv6_cidr: String,
    /// The host name in configurations.
    pub host: String,
    /// The release it says it is.
    pub version: String,
    /// JSON fields that this release does not know: not shown, not required on update.
    pub missing_fields: Vec<String>,
    /// With more clients than this the list answers 500, as a real one does at about 8,000.
    pub list_limit: Option<usize>,
    /// What checking a password takes, in place of argon2.
    pub auth_cost: Duration,
    /// Added to every request.
    pub latency: Duration,
    /// Added to every change, in place of reloading the tunnel.
    pub change_cost: Duration,
    /// How long an idle connection stays open.
    pub keep_alive: Duration,
    /// `INSECURE=true`: cookies without `Secure`. `None`: as fits `tls`.
    pub insecure: Option<bool>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            port: 0,
            tls: Tls::Off,
            prefix: String::new(),
            era: Era::Current,
            account: Account::default(),
            setup_done: true,
            password_login_disabled: false,
            clients: 0,
            ipv4_cidr: None,
            ipv6_cidr: "fdcc:ad94:bacf:61a4::cafe:0/112".to_owned(),
            host: "vpn.example.test".to_owned(),
            version: "v15.4.0".to_owned(),
            missing_fields: Vec::new(),
            list_limit: None,
            auth_cost: Duration::ZERO,
            latency: Duration::ZERO,
            change_cost: Duration::ZERO,
            keep_alive: Duration::from_secs(5),
            insecure: None,
        }
    }
}

/// The account of an instance.
#[derive(Clone, Debug)]
pub struct Account {
    /// The user name; it is case-sensitive.
    pub username: String,
    /// The password.
    pub password: String,
    /// What the account may do.
    pub role: Role,
    /// Disabled in the admin panel.
    pub disabled: bool,
    /// The base32 secret of the second factor, when one is set up.
    pub totp_secret: Option<String>,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            username: "admin".to_owned(),
            password: "correct-horse-battery".to_owned(),
            role: Role::Admin,
            disabled: false,
            totp_secret: None,
        }
    }
}

/// What an account may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Everything.
    Admin,
    /// Only look at and change its own clients, of which there are none at the start.
    Client,
}

/// Which login routes a release has. Basic works on all of 15.x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// 15.4: `/api/auth/password` and `/api/auth/verify-2fa`.
    Current,
    /// Older 15.x: `POST /api/session` with the code in the same body; `/api/auth/…` is 404.
    SessionRoute,
    /// No login route at all.
    BasicOnly,
}

/// Plain HTTP, or which certificate is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// Plain HTTP.
    Off,
    /// Leaf from the root, for `localhost` and 127.0.0.1.
    Valid,
    /// Leaf from an intermediate from the root; the chain is sent.
    WithIntermediate,
    /// As `Valid`, and an unrelated certificate is sent along.
    WithUnrelated,
    /// Expired yesterday.
    Expired,
    /// Valid from tomorrow.
    NotYetValid,
    /// For another host name.
    WrongName,
    /// Self-signed; there is no root.
    SelfSigned,
    /// From another root than the one `ca_pem` hands out.
    UnknownIssuer,
}
