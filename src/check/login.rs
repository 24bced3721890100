//! Whether the login is good, and if not, why.

use super::{Findings, Instance, LOGIN};
use crate::config::AuthMode;
use crate::wg_easy::Error;
use crate::wg_easy::probe::Login;

const SECOND_FACTOR: &str =
    "the password is right, and the account has two-factor authentication on";

const WITHOUT_SECRET: &str = "Set WG_EASY_TOTP_SECRET to the secret that the authenticator app was set up \
    with, or use another admin account without a second factor.";

pub(super) async fn check(instance: &Instance, findings: &mut Findings) {
    match instance.probe.login().await {
        Ok(Login::SecondFactor) => second_factor(instance, findings).await,
        Ok(login) => say(login, findings),
        Err(error) => findings.fail_as(LOGIN, &error.to_string()),
    }
}

/// The password is right, so the connection that the server uses decides: with the code, or without.
async fn second_factor(instance: &Instance, findings: &mut Findings) {
    if !instance.second_factor {
        return say(Login::SecondFactor, findings);
    }
    if instance.auth == AuthMode::Basic {
        return findings.fail(
            LOGIN,
            format!("{SECOND_FACTOR}, which WG_EASY_AUTH=basic cannot answer"),
            "Set WG_EASY_AUTH to auto.",
        );
    }
    match instance.wg_easy.general().await {
        Ok(_) => say(Login::Admin, findings),
        Err(Error::Forbidden) => say(Login::NotAdmin, findings),
        Err(Error::Unauthorized | Error::RefusedFromMemory { .. }) => findings.fail(
            LOGIN,
            format!("{SECOND_FACTOR}, and the code made from WG_EASY_TOTP_SECRET is refused"),
            "Check that secret, and that the clocks here and on wg-easy's machine are right.",
        ),
        Err(error) => findings.fail_as(LOGIN, &error.to_string()),
    }
}

fn say(login: Login, findings: &mut Findings) {
    let (detail, advice) = match login {
        Login::Admin => {
            return findings.ok(
                LOGIN,
                "user name and password are right, and the user is an admin",
            );
        }
        Login::NotAdmin => (
            "user name and password are right, and the user is not an admin",
            "Use the login of an admin, or give this user the role in wg-easy's admin panel.",
        ),
        Login::Wrong => (
            "the user name or the password is wrong",
            "Check WG_EASY_USERNAME (upper and lower case differ) and WG_EASY_PASSWORD by logging in to \
             the web UI with them. In a file of secrets, look for a blank or a quotation mark too many.",
        ),
        Login::WrongOrSecondFactor => (
            "the login is refused: user name or password are wrong, or the account has two-factor \
             authentication on; this wg-easy does not say which",
            "Log in to the web UI with them. If it asks for a code, use another admin account without \
             a second factor.",
        ),
        Login::Disabled => (
            "user name and password are right, and the user is disabled",
            "Enable the user in wg-easy's admin panel, or use another one.",
        ),
        Login::PasswordsOff => (
            "wg-easy does not let anybody log in with a password",
            "Unset DISABLE_PASSWORD_AUTH where wg-easy runs: this program has no other way to log in.",
        ),
        Login::Unexpected(status) => {
            return findings.fail(
                LOGIN,
                format!("wg-easy answered the login with HTTP {status}"),
                "Look at the log of wg-easy, and of the proxy before it if there is one.",
            );
        }
        Login::SecondFactor => (SECOND_FACTOR, WITHOUT_SECRET),
    };
    findings.fail(LOGIN, detail, advice);
}
