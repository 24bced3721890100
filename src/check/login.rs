//! Whether the login is good, and if not, why.

use super::{Findings, Instance, LOGIN};
use crate::config::{AuthMode, Connection, Credentials, TlsSettings};
use crate::wg_easy::{Error, Refusal, SetupError, WgEasy};

/// Another way to log in, for its words alone: Basic does not tell a wrong password from a second
/// factor, and wg-easy's login route does.
pub(super) fn informant(connection: &Connection) -> Result<Option<WgEasy>, SetupError> {
    if connection.auth != AuthMode::Basic {
        return Ok(None);
    }
    let login = &connection.credentials;
    let tls = &connection.tls;
    WgEasy::new(&Connection {
        url: connection.url.clone(),
        credentials: Credentials {
            username: login.username.clone(),
            password: login.password.clone(),
            totp: None,
        },
        tls: TlsSettings {
            insecure: tls.insecure,
            roots: tls.roots.clone(),
            named_roots: tls.named_roots.clone(),
            pins: tls.pins.clone(),
        },
        auth: AuthMode::Session,
    })
    .map(Some)
}

/// Logs in as the server would, and reads what only an admin may read.
pub(super) async fn check(instance: &Instance, findings: &mut Findings) {
    match instance.wg_easy.general().await {
        Ok(_) => findings.ok(
            LOGIN,
            "user name and password are right, and the user is an admin",
        ),
        Err(Error::Refused(Refusal::Basic)) => match &instance.informant {
            Some(informant) => ask(informant, findings).await,
            None => findings.fail_as(LOGIN, &Refusal::Basic.to_string()),
        },
        // The other causes of a 403 have names of their own.
        Err(Error::Forbidden) => findings.fail(
            LOGIN,
            "user name and password are right, and the user is not an admin",
            "Use the login of an admin, or give this user the role in wg-easy's admin panel.",
        ),
        Err(error) => findings.fail_as(LOGIN, &error.to_string()),
    }
}

async fn ask(informant: &WgEasy, findings: &mut Findings) {
    match informant.general().await {
        Err(Error::Refused(Refusal::SecondFactorMissing)) => findings.fail(
            LOGIN,
            "the password is right, and the account has two-factor authentication on, which \
             WG_EASY_AUTH=basic has no place for",
            "Set WG_EASY_AUTH to auto and WG_EASY_TOTP_SECRET to the account's base32 secret, or \
             configure an account without a second factor.",
        ),
        Ok(_) => findings.fail(
            LOGIN,
            "the password is right, and is refused where each request carries it, as WG_EASY_AUTH=basic \
             has it",
            "Set WG_EASY_AUTH to auto, or see that no proxy before wg-easy takes the Authorization \
             header away.",
        ),
        Err(Error::Refused(why)) => findings.fail_as(LOGIN, &why.to_string()),
        Err(_) => findings.fail_as(LOGIN, &Refusal::Basic.to_string()),
    }
}
