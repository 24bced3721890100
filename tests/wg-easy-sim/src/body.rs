//! Bodies that behave, and bodies that do not.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::mpsc;

use crate::connection::Exchange;

/// The body of an answer. It keeps its exchange open until it is gone.
pub(crate) struct SimBody {
    content: Content,
    _exchange: Exchange,
}

enum Content {
    Whole(Option<Bytes>),
    Stream(mpsc::Receiver<io::Result<Bytes>>),
}

impl SimBody {
    /// An ordinary body.
    pub(crate) fn whole(bytes: Vec<u8>, exchange: Exchange) -> Self {
        let bytes = (!bytes.is_empty()).then(|| Bytes::from(bytes));
        Self {
            content: Content::Whole(bytes),
            _exchange: exchange,
        }
    }

    /// A beginning, then the connection breaks.
    pub(crate) fn cut(bytes: Vec<u8>, exchange: Exchange) -> Self {
        Self::stream(exchange, async move |sender| {
            let _ = sender.send(Ok(Bytes::from(bytes))).await;
            // The beginning is to be on its way before the connection breaks.
            tokio::time::sleep(Duration::from_millis(20)).await;
            let _ = sender
                .send(Err(io::Error::from(io::ErrorKind::BrokenPipe)))
                .await;
        })
    }

    /// A beginning, then silence.
    pub(crate) fn stalled(bytes: Vec<u8>, exchange: Exchange) -> Self {
        Self::stream(exchange, async move |sender| {
            if !bytes.is_empty() {
                let _ = sender.send(Ok(Bytes::from(bytes))).await;
            }
            sender.closed().await;
        })
    }

    /// Blanks without end.
    pub(crate) fn endless(bytes: Vec<u8>, exchange: Exchange) -> Self {
        Self::stream(exchange, async move |sender| {
            let mut next = Bytes::from(bytes);
            while sender.send(Ok(next)).await.is_ok() {
                next = Bytes::from_static(&[b' '; 16 * 1024]);
            }
        })
    }

    /// Byte by byte.
    pub(crate) fn drip(bytes: Vec<u8>, every: Duration, exchange: Exchange) -> Self {
        Self::stream(exchange, async move |sender| {
            for byte in bytes {
                if sender
                    .send(Ok(Bytes::copy_from_slice(&[byte])))
                    .await
                    .is_err()
                {
                    return;
                }
                tokio::time::sleep(every).await;
            }
        })
    }

    fn stream<F>(exchange: Exchange, feed: F) -> Self
    where
        F: AsyncFnOnce(mpsc::Sender<io::Result<Bytes>>) + 'static,
    {
        let (sender, receiver) = mpsc::channel(1);
        tokio::task::spawn_local(async move { feed(sender).await });
        Self {
            content: Content::Stream(receiver),
            _exchange: exchange,
        }
    }
}

impl Body for SimBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut self.content {
            Content::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Content::Stream(receiver) => receiver
                .poll_recv(context)
                .map(|item| item.map(|bytes| bytes.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.content, Content::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Content::Stream(_) => SizeHint::default(),
        }
    }
}
