use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::time::{advance, sleep};

use super::*;
use crate::wg_easy::tests::connection;

const MEMORY: Duration = Duration::from_secs(10);

fn auth() -> Arc<Auth> {
    Arc::new(Auth::new(&connection("http://127.0.0.1:1"), MEMORY))
}

/// Requests with Basic do not log in.
async fn no_login() -> Result<LoggedIn, Error> {
    panic!("logged in")
}

/// `n` parallel requests that each take a second to be answered with `verdict`; how many were sent.
async fn send(auth: &Arc<Auth>, n: usize, verdict: Verdict) -> (usize, usize) {
    let sent = Arc::new(AtomicUsize::new(0));
    let refused = Arc::new(AtomicUsize::new(0));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..n {
        let (auth, sent, refused) = (auth.clone(), sent.clone(), refused.clone());
        calls.spawn(async move {
            match auth.admit(no_login()).await {
                Ok(admission) => {
                    sent.fetch_add(1, Ordering::Relaxed);
                    sleep(Duration::from_secs(1)).await;
                    admission.settle(verdict);
                }
                Err(_) => {
                    refused.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
    }
    calls.join_all().await;
    (
        sent.load(Ordering::Relaxed),
        refused.load(Ordering::Relaxed),
    )
}

#[tokio::test(start_paused = true)]
async fn twenty_parallel_calls_with_a_wrong_password_are_one_login() {
    let auth = auth();
    assert_eq!(send(&auth, 20, Verdict::Refused).await, (1, 19));
    advance(Duration::from_secs(9)).await;
    assert_eq!(send(&auth, 20, Verdict::Refused).await, (0, 20));
    advance(Duration::from_secs(1)).await;
    assert_eq!(send(&auth, 20, Verdict::Refused).await, (1, 19));
}

#[tokio::test(start_paused = true)]
async fn the_memory_says_when_the_next_try_is_possible() {
    let auth = auth();
    auth.admit(no_login())
        .await
        .unwrap()
        .settle(Verdict::Refused);
    advance(Duration::from_secs(4)).await;
    let Err(error) = auth.admit(no_login()).await else {
        panic!("admitted")
    };
    assert!(
        matches!(error, Error::RefusedFromMemory { next_try_in, .. } if next_try_in == Duration::from_secs(6))
    );
}

#[tokio::test(start_paused = true)]
async fn a_good_login_makes_nobody_wait() {
    let auth = auth();
    let begin = Instant::now();
    assert_eq!(send(&auth, 20, Verdict::Accepted).await, (20, 0));
    assert_eq!(begin.elapsed(), Duration::from_secs(2));
    assert_eq!(send(&auth, 20, Verdict::Accepted).await, (20, 0));
    assert_eq!(begin.elapsed(), Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn a_probe_without_a_verdict_frees_those_who_waited() {
    let auth = auth();
    let begin = Instant::now();
    assert_eq!(send(&auth, 20, Verdict::None).await, (20, 0));
    assert_eq!(begin.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_probe_hands_over_to_one_other() {
    let auth = auth();
    let probe = auth.admit(no_login()).await.unwrap();
    let others = tokio::spawn({
        let auth = auth.clone();
        async move { send(&auth, 20, Verdict::Refused).await }
    });
    sleep(Duration::from_millis(1)).await;
    drop(probe);
    assert_eq!(others.await.unwrap(), (1, 19));
}

#[tokio::test(start_paused = true)]
async fn a_later_refusal_reaches_those_who_stand_in_a_queue() {
    let auth = auth();
    auth.admit(no_login())
        .await
        .unwrap()
        .settle(Verdict::Accepted);
    let queued = auth.unless_refused(std::future::pending::<()>());
    let refuse = async {
        auth.admit(no_login())
            .await
            .unwrap()
            .settle(Verdict::Refused)
    };
    let (queued, _) = tokio::join!(queued, refuse);
    assert!(matches!(queued, Err(Error::RefusedFromMemory { .. })));
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_before_the_refusal_does_not_undo_it() {
    let auth = auth();
    auth.admit(no_login())
        .await
        .unwrap()
        .settle(Verdict::Accepted);
    let early = auth.admit(no_login()).await.unwrap();
    let late = auth.admit(no_login()).await.unwrap();
    late.settle(Verdict::Refused);
    early.settle(Verdict::Accepted);
    assert!(auth.admit(no_login()).await.is_err());
}

#[tokio::test]
async fn the_header_is_basic_and_does_not_print() {
    let auth = auth();
    let (name, header) = auth.admit(no_login()).await.unwrap().header();
    assert_eq!(name, AUTHORIZATION);
    assert_eq!(header.as_bytes(), b"Basic YWRtaW46czNjcmV0LXA6c3M=");
    assert_eq!(format!("{header:?}"), "Sensitive");
    assert!(auth.is_in("x s3cret-p:ss y") && auth.is_in("YWRtaW46czNjcmV0LXA6c3M="));
    assert!(!auth.is_in("admin"));
}

fn auth_by(mode: AuthMode) -> Auth {
    let connection = Connection {
        auth: mode,
        ..connection("http://127.0.0.1:1")
    };
    Auth::new(&connection, MEMORY)
}

fn session(value: &'static str) -> LoggedIn {
    let mut headers = reqwest::header::HeaderMap::new();
    headers.insert("set-cookie", HeaderValue::from_static(value));
    LoggedIn::Session(Cookie::of(&headers).unwrap())
}

/// A request whose login, if it is its turn, ends like this.
async fn admit(
    auth: &Auth,
    logged_in: Result<LoggedIn, Error>,
) -> Result<(HeaderValue, Admission<'_>), Error> {
    let admission = auth.admit(async { logged_in }).await?;
    Ok((admission.header().1, admission))
}

const BASIC: &str = "Basic YWRtaW46czNjcmV0LXA6c3M=";

#[tokio::test(start_paused = true)]
async fn twenty_first_calls_are_one_login() {
    let auth = auth_by(AuthMode::Auto);
    let logins = AtomicUsize::new(0);
    let call = async || {
        let log_in = async {
            logins.fetch_add(1, Ordering::Relaxed);
            sleep(Duration::from_secs(1)).await;
            Ok(session("wg-easy=one"))
        };
        let admission = auth.admit(log_in).await.unwrap();
        assert_eq!(admission.header().0, COOKIE);
        assert_eq!(admission.header().1, "wg-easy=one");
        sleep(Duration::from_secs(1)).await;
        assert_eq!(admission.settle(Verdict::Accepted), Settled::Done);
    };
    let begin = Instant::now();
    futures_util::future::join_all((0..20).map(|_| call())).await;
    assert_eq!(logins.into_inner(), 1);
    assert_eq!(
        begin.elapsed(),
        Duration::from_secs(2),
        "nobody waits longer"
    );
}

#[tokio::test(start_paused = true)]
async fn who_waited_for_a_login_gets_its_error_and_who_comes_later_tries_again() {
    let auth = auth_by(AuthMode::Auto);
    let logins = AtomicUsize::new(0);
    let call = async || {
        let log_in = async {
            logins.fetch_add(1, Ordering::Relaxed);
            sleep(Duration::from_secs(1)).await;
            Err(Error::PasswordLoginOff)
        };
        auth.admit(log_in).await.map(drop)
    };
    for sum in 1..=2 {
        let ends = futures_util::future::join_all((0..20).map(|_| call())).await;
        assert!(
            ends.into_iter()
                .all(|end| end == Err(Error::PasswordLoginOff))
        );
        assert_eq!(logins.load(Ordering::Relaxed), sum);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_login_is_remembered_with_its_reason() {
    let auth = auth_by(AuthMode::Session);
    let refused = Error::Refused(Refusal::UserDisabled);
    let first = admit(&auth, Err(refused.clone())).await;
    assert_eq!(first.err(), Some(refused));
    advance(Duration::from_secs(4)).await;
    let second = admit(&auth, Ok(session("wg-easy=x"))).await;
    let remembered = Error::RefusedFromMemory {
        refusal: Refusal::UserDisabled,
        next_try_in: Duration::from_secs(6),
    };
    assert_eq!(second.err(), Some(remembered));
    advance(Duration::from_secs(6)).await;
    assert!(admit(&auth, Ok(session("wg-easy=x"))).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_session_that_has_ended_is_renewed_once_for_all() {
    let auth = auth_by(AuthMode::Auto);
    let (_, one) = admit(&auth, Ok(session("wg-easy=one"))).await.unwrap();
    let (_, two) = admit(&auth, Err(Error::NotAnApi)).await.unwrap();
    let (_, three) = admit(&auth, Err(Error::NotAnApi)).await.unwrap();
    one.settle(Verdict::Accepted);
    assert_eq!(two.settle(Verdict::Refused), Settled::Again);
    let (header, _) = admit(&auth, Ok(session("wg-easy=new"))).await.unwrap();
    assert_eq!(header, "wg-easy=new");
    assert_eq!(three.settle(Verdict::Refused), Settled::Again);
    let (header, _) = admit(&auth, Err(Error::NotAnApi)).await.unwrap();
    assert_eq!(
        header, "wg-easy=new",
        "the late answer was about the old one"
    );
    assert!(auth.is_in("it is new!"));
}

#[tokio::test(start_paused = true)]
async fn a_cookie_that_was_never_accepted_gives_way_to_basic() {
    let auth = auth_by(AuthMode::Auto);
    let (_, admission) = admit(&auth, Ok(session("wg-easy=x"))).await.unwrap();
    assert_eq!(admission.settle(Verdict::Refused), Settled::Again);
    for _ in 0..2 {
        let (header, admission) = admit(&auth, Err(Error::NotAnApi)).await.unwrap();
        assert_eq!(header, BASIC);
        admission.settle(Verdict::Accepted);
    }

    let auth = auth_by(AuthMode::Session);
    let (_, admission) = admit(&auth, Ok(session("wg-easy=x"))).await.unwrap();
    assert_eq!(admission.settle(Verdict::Refused), Settled::NoCookie);
    let error = admit(&auth, Ok(session("wg-easy=y"))).await.err().unwrap();
    assert!(matches!(
        error,
        Error::RefusedFromMemory {
            refusal: Refusal::NoCookie,
            ..
        }
    ));
}

#[tokio::test(start_paused = true)]
async fn where_there_is_no_session_basic_has_to_be_allowed() {
    for (missing, error) in [
        (Missing::Route, Error::NoSession(NoSession::NoRoute)),
        (
            Missing::Acceptable,
            Error::NoSession(NoSession::Unacceptable),
        ),
        (Missing::Cookie, Error::Refused(Refusal::NoCookie)),
    ] {
        let auth = auth_by(AuthMode::Session);
        let end = admit(&auth, Ok(LoggedIn::Without(missing))).await;
        assert_eq!(end.err(), Some(error));

        let auth = auth_by(AuthMode::Auto);
        let (header, admission) = admit(&auth, Ok(LoggedIn::Without(missing))).await.unwrap();
        assert_eq!(header, BASIC);
        // Nothing was learnt: a route that was not there may be there now.
        admission.settle(Verdict::None);
        let (header, _) = admit(&auth, Ok(session("wg-easy=x"))).await.unwrap();
        assert_eq!(header, "wg-easy=x");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_code_is_not_sent_again_while_it_is_made() {
    let auth = auth_by(AuthMode::Auto);
    let wrong = Error::Refused(Refusal::SecondFactorWrong { ahead: None });
    assert!(auth.remembered(&wrong) >= MEMORY.max(second_factor::rest_of_step()));
    assert_eq!(auth.remembered(&Error::Refused(Refusal::Password)), MEMORY);
}
