//! One TCP connection: resets, and closing when idle.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::Notify,
};

/// What the exchanges on a connection tell the connection.
#[derive(Default)]
pub(crate) struct Control {
    reset: AtomicBool,
    close_soon: AtomicBool,
    running: AtomicUsize,
    changed: Notify,
}

impl Control {
    /// Closes the connection with a reset instead of an orderly end.
    pub(crate) fn reset(&self) {
        self.reset.store(true, Ordering::SeqCst);
    }

    /// Closes the connection once it is idle.
    pub(crate) fn close_soon(&self) {
        self.close_soon.store(true, Ordering::SeqCst);
    }

    /// Returns when nothing has been exchanged for so long.
    pub(crate) async fn idle(&self, keep_alive: Duration) {
        loop {
            let running = self.running.load(Ordering::SeqCst) > 0;
            if !running && self.close_soon.load(Ordering::SeqCst) {
                return;
            }
            if running {
                self.changed.notified().await;
            } else if tokio::time::timeout(keep_alive, self.changed.notified())
                .await
                .is_err()
            {
                return;
            }
        }
    }
}

/// An exchange from its request to the end of its answer.
pub(crate) struct Exchange(Arc<Control>);

impl Exchange {
    pub(crate) fn begin(control: &Arc<Control>) -> Self {
        control.running.fetch_add(1, Ordering::SeqCst);
        control.changed.notify_one();
        Self(Arc::clone(control))
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.changed.notify_one();
    }
}

/// A socket that can be told to end with a reset.
pub(crate) struct Socket {
    stream: TcpStream,
    control: Arc<Control>,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, control: Arc<Control>) -> Self {
        Self { stream, control }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.control.reset.load(Ordering::SeqCst) {
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.control.reset.load(Ordering::SeqCst) {
            // An orderly end would come before the reset.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
