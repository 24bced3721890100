use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::time::{advance, sleep};

use super::*;
use crate::wg_easy::tests::connection;

const MEMORY: Duration = Duration::from_secs(10);

fn auth() -> Arc<Auth> {
    Arc::new(Auth::new(&connection("http://127.0.0.1:1"), MEMORY))
}

/// `n` parallel requests that each take a second to be answered with `verdict`; how many were sent.
async fn send(auth: &Arc<Auth>, n: usize, verdict: Verdict) -> (usize, usize) {
    let sent = Arc::new(AtomicUsize::new(0));
    let refused = Arc::new(AtomicUsize::new(0));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..n {
        let (auth, sent, refused) = (auth.clone(), sent.clone(), refused.clone());
        calls.spawn(async move {
            match auth.admit().await {
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
    auth.admit().await.unwrap().settle(Verdict::Refused);
    advance(Duration::from_secs(4)).await;
    let Err(error) = auth.admit().await else {
        panic!("admitted")
    };
    assert!(
        matches!(error, Error::RefusedFromMemory { next_try_in } if next_try_in == Duration::from_secs(6))
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
    let probe = auth.admit().await.unwrap();
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
    auth.admit().await.unwrap().settle(Verdict::Accepted);
    let queued = auth.unless_refused(std::future::pending::<()>());
    let refuse = async { auth.admit().await.unwrap().settle(Verdict::Refused) };
    let (queued, ()) = tokio::join!(queued, refuse);
    assert!(matches!(queued, Err(Error::RefusedFromMemory { .. })));
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_before_the_refusal_does_not_undo_it() {
    let auth = auth();
    auth.admit().await.unwrap().settle(Verdict::Accepted);
    let early = auth.admit().await.unwrap();
    let late = auth.admit().await.unwrap();
    late.settle(Verdict::Refused);
    early.settle(Verdict::Accepted);
    assert!(auth.admit().await.is_err());
}

#[tokio::test]
async fn the_header_is_basic_and_does_not_print() {
    let auth = auth();
    let header = auth.admit().await.unwrap().header();
    assert_eq!(header.as_bytes(), b"Basic YWRtaW46czNjcmV0LXA6c3M=");
    assert_eq!(format!("{header:?}"), "Sensitive");
    assert!(auth.is_in("x s3cret-p:ss y") && auth.is_in("YWRtaW46czNjcmV0LXA6c3M="));
    assert!(!auth.is_in("admin"));
}
