//! A call's place among those in progress, which it gives up while a person thinks.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A place among the calls in progress, held until it is dropped.
///
/// The server takes one for each call. [`Gate::decide`](super::Gate::decide) leaves it while it
/// waits for a person, so that people who take their time keep nobody else out, and takes it again
/// before it goes on.
#[derive(Debug)]
pub struct Place {
    room: Arc<Semaphore>,
    held: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Place {
    /// A place in `room`, or nothing if it is full.
    pub fn take(room: &Arc<Semaphore>) -> Option<Self> {
        let permit = Arc::clone(room).try_acquire_owned().ok()?;
        Some(Self {
            room: Arc::clone(room),
            held: Mutex::new(Some(permit)),
        })
    }

    pub(super) fn leave(&self) {
        self.put(None);
    }

    /// Waits for as long as the room is full.
    pub(super) async fn retake(&self) {
        // A room that was closed lets nobody in, and then counts nobody either.
        let permit = Arc::clone(&self.room).acquire_owned().await.ok();
        self.put(permit);
    }

    fn put(&self, permit: Option<OwnedSemaphorePermit>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = permit;
    }
}
