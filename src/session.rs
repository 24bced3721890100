//! One session, from the first byte to the last: what ends it, and in which order things end.

use crate::config::Config;
use crate::diagnostics;
use crate::server::{Server, Unready};
use crate::tools::TOOLS;
use crate::transport::Stdio;
use rmcp::ServiceExt as _;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, Ready};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long the answers that are ready may take to be written once the session ends. With what comes
/// before and after, the process is gone within two seconds.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long after its other end was closed stdin is still read. What it holds by then is read in far
/// less, unless the client does not read its answers either.
const LAST_INPUT: Duration = Duration::from_millis(500);

/// How long a change that has been sent may take to be answered: the time of a whole exchange and some.
/// It is not read back any more; what became of one that ends in an error is then not known.
const LAST_CHANGE: Duration = Duration::from_secs(65);

/// Why there was no session.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failed {
    /// The server cannot be set up.
    Unready(Unready),
    /// The operating system gives no event loop or no signals.
    System(io::Error),
}

/// A session that could begin: all that it reads from files has been read.
pub struct Prepared {
    server: Server,
    ending: CancellationToken,
    changes: TaskTracker,
}

/// Sets up a session. It starts no thread and sends nothing, so that the process can be closed off
/// between this and [`run`].
pub fn prepare(config: &Config) -> Result<Prepared, Failed> {
    let ending = CancellationToken::new();
    let changes = TaskTracker::new();
    let server =
        Server::new(config, &TOOLS, ending.clone(), changes.clone()).map_err(Failed::Unready)?;
    Ok(Prepared {
        server,
        ending,
        changes,
    })
}

/// Serves one session on stdin and stdout. It returns when the input ends, the output closes, or a
/// signal comes, and a change that has been sent to wg-easy by then has been answered.
///
/// What is left of the runtime is for the caller to abandon, not to wait for: a thread of it may be
/// blocked on reading stdin.
pub async fn run(prepared: Prepared) -> Result<(), Failed> {
    let Prepared {
        server,
        ending,
        changes,
    } = prepared;
    let wg_easy = server.wg_easy();

    tokio::spawn(end_on_signal(ending.clone()).map_err(Failed::System)?);
    if let Ok(closed) = stdout_closed() {
        let ending = ending.clone();
        tokio::spawn(async move {
            closed.await;
            ending.cancel();
        });
    }
    if let Ok(closed) = stdin_closed() {
        let ending = ending.clone();
        tokio::spawn(async move {
            closed.await;
            tokio::time::sleep(LAST_INPUT).await;
            ending.cancel();
        });
    }

    let stdio = Stdio::new(tokio::io::stdin(), tokio::io::stdout(), ending.clone());
    let serving = CancellationToken::new();
    let session = server.serve_with_ct(stdio, serving.clone());
    let session = tokio::select! {
        session = session => session,
        // Ended before it began: by a signal, or by a client that closed its end.
        () = ending.cancelled() => return Ok(()),
    };
    let Ok(session) = session else {
        // The input ended before a session was opened, as it does when a client only looks whether
        // the server starts.
        return Ok(());
    };
    let waiting = tokio::spawn(session.waiting());

    ending.cancelled().await;
    if let Some(wg_easy) = wg_easy {
        wg_easy.close();
    }
    changes.close();
    // Calls see that the session ends and answer at once, save those whose change has been sent.
    let _ = tokio::time::timeout(LAST_CHANGE, changes.wait()).await;
    tokio::task::yield_now().await;
    serving.cancel();
    let _ = tokio::time::timeout(LAST_WORDS, waiting).await;
    Ok(())
}

fn end_on_signal(
    ending: CancellationToken,
) -> io::Result<impl Future<Output = ()> + Send + 'static> {
    // As PID 1 of a container a process has no default handlers: without these it would not end.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        ending.cancel();
    })
}

/// Ends when nobody can read stdout any more. An error where that cannot be told, as for a file.
fn stdout_closed() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    let watched = Interest::ERROR.add(Interest::WRITABLE);
    reached(stdout, watched, |ready: Ready| {
        ready.is_error() || ready.is_write_closed()
    })
}

/// Ends when nobody can write to stdin any more, which reading it shows only when all that was written
/// has been read. An error where that cannot be told, as for a file.
fn stdin_closed() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    reached(stdin, Interest::READABLE, Ready::is_read_closed)
}

/// Ends when a descriptor is in a state that `is_it` knows.
fn reached(
    descriptor: OwnedFd,
    watched: Interest,
    is_it: fn(Ready) -> bool,
) -> io::Result<impl Future<Output = ()> + Send + 'static> {
    #[expect(
        deprecated,
        reason = "unsound for a type whose descriptor may change, which that of an OwnedFd does not; the \
                  replacement is unsafe"
    )]
    let descriptor = AsyncFd::with_interest(descriptor, watched)?;
    Ok(async move {
        loop {
            let Ok(mut ready) = descriptor.ready(watched).await else {
                return;
            };
            if is_it(ready.ready()) {
                return;
            }
            // Readable or writable it is most of the time; what is waited for is the next event.
            ready.clear_ready();
        }
    })
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unready(Unready::Connection(error)) => error.fmt(f),
            Self::Unready(Unready::NoRandomness) => f.write_str(
                "the operating system gives no random numbers; see that getrandom(2) is allowed",
            ),
            Self::System(error) => write!(
                f,
                "the operating system gives no event loop ({}); see that the process may open files and pipes",
                error.kind()
            ),
        }
    }
}

/// Runs [`run`] on a runtime of one thread.
pub fn block_on(prepared: Prepared) -> Result<(), Failed> {
    diagnostics::start_writer();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failed::System)?;
    let ended = runtime.block_on(run(prepared));
    diagnostics::debug("the session has ended");
    // Waiting for it would hang on the thread that reads stdin.
    runtime.shutdown_background();
    ended
}
