//! What goes out, one message after another, and how much may be on its way.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, Notify};
use tokio_util::sync::CancellationToken;

/// How many messages may be on their way before no more are read: requests that were handed on and not
/// answered, and what waits to be written. A client that asks faster than it reads or is answered gets
/// back-pressure, not this process's memory.
///
/// No client waits for itself here, as one would whose reply to a question was not read because calls
/// that wait for such replies take all the room. The server takes 64 calls at a time and lets 64 more
/// wait for a person, and answers any other request at once, so those on their way for long are at most
/// half of this. The rest of the room comes free without the client's doing, save for reading.
pub(super) const MAX_UNDER_WAY: usize = 256;

/// How much of a message that waits to be written counts as one. No more is read once what waits comes to
/// about four megabytes.
pub(super) const UNSENT_PART: usize = 16 << 10;

/// What goes out, and how much of it waits.
pub(super) struct Outbox<W> {
    writer: Mutex<Option<W>>,
    /// In parts of [`UNSENT_PART`], each message one at least.
    unsent: AtomicUsize,
    sent: Notify,
    ended: CancellationToken,
}

/// A message's place in the outbox.
pub(super) struct Place<W> {
    outbox: Arc<Outbox<W>>,
    parts: usize,
}

impl<W> Outbox<W> {
    pub(super) fn new(output: W, ended: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            writer: Mutex::new(Some(output)),
            unsent: AtomicUsize::new(0),
            sent: Notify::new(),
            ended,
        })
    }

    pub(super) fn enter(outbox: &Arc<Self>, length: usize) -> Place<W> {
        let parts = 1 + length / UNSENT_PART;
        outbox.unsent.fetch_add(parts, Ordering::Relaxed);
        let outbox = outbox.clone();
        Place { outbox, parts }
    }

    /// Closes the output once what is being written is out.
    pub(super) async fn close(&self) {
        self.writer.lock().await.take();
    }

    /// Waits until there is room for one more message beside what waits to be written and so many open
    /// requests. It is for whoever ends the session to stop waiting.
    pub(super) async fn room_beside(&self, open: usize) {
        loop {
            let sent = self.sent.notified();
            if open + self.unsent.load(Ordering::Relaxed) < MAX_UNDER_WAY {
                return;
            }
            sent.await;
        }
    }
}

impl<W: AsyncWrite + Unpin> Place<W> {
    pub(super) async fn write(self, mut line: Vec<u8>) -> Result<(), io::Error> {
        line.push(b'\n');
        let mut writer = self.outbox.writer.lock().await;
        let Some(output) = writer.as_mut() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let written = async {
            output.write_all(&line).await?;
            output.flush().await
        };
        // When the session ends, a reader that has stopped reading must not hold up the end.
        let written = tokio::select! {
            biased;
            written = written => written,
            () = stalled(&self.outbox.ended) => Err(io::ErrorKind::TimedOut.into()),
        };
        if written.is_err() {
            writer.take();
            self.outbox.ended.cancel();
        }
        written
    }
}

/// Half a second after the end of the session.
async fn stalled(ended: &CancellationToken) {
    ended.cancelled().await;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
}

impl<W> Drop for Place<W> {
    fn drop(&mut self) {
        self.outbox.unsent.fetch_sub(self.parts, Ordering::Relaxed);
        self.outbox.sent.notify_waiters();
    }
}
