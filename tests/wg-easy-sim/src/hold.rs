//! Parking requests, for tests about what happens in between.

use std::{
    sync::{Arc, Condvar, Mutex, atomic::AtomicBool, atomic::Ordering},
    time::Duration,
};

use tokio::sync::Semaphore;

use crate::fault::Matcher;

const PATIENCE: Duration = Duration::from_secs(20);

/// Where requests are parked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Before anything is applied.
    Arrival,
    /// After it was applied, before it is answered.
    Answer,
}

/// One set-up hold.
pub(crate) struct Gate {
    matcher: Mutex<Matcher>,
    place: Place,
    permits: Semaphore,
    arrived: Mutex<usize>,
    changed: Condvar,
    open: AtomicBool,
}

impl Gate {
    pub(crate) fn new(matcher: Matcher, place: Place) -> Arc<Self> {
        Arc::new(Self {
            matcher: Mutex::new(matcher),
            place,
            permits: Semaphore::new(0),
            arrived: Mutex::new(0),
            changed: Condvar::new(),
            open: AtomicBool::new(false),
        })
    }

    /// Whether this gate stops a request at this place.
    pub(crate) fn stops(&self, place: Place, method: &str, path: &str) -> bool {
        place == self.place
            && !self.open.load(Ordering::SeqCst)
            && self.matcher.lock().unwrap().takes(method, path)
    }

    /// Parks until released.
    pub(crate) async fn park(&self) {
        *self.arrived.lock().unwrap() += 1;
        self.changed.notify_all();
        if let Ok(permit) = self.permits.acquire().await {
            permit.forget();
        }
    }

    fn release(&self) {
        self.open.store(true, Ordering::SeqCst);
        self.permits.close();
    }
}

/// A hold on matching requests. Dropping it lets them all go.
pub struct Hold {
    gate: Arc<Gate>,
}

impl Hold {
    pub(crate) fn new(gate: Arc<Gate>) -> Self {
        Self { gate }
    }

    /// How many requests have been parked so far, released ones included.
    #[must_use]
    pub fn arrived(&self) -> usize {
        *self.gate.arrived.lock().unwrap()
    }

    /// Waits until that many have been parked. Panics after twenty seconds.
    pub fn wait_arrived(&self, count: usize) {
        let arrived = self.gate.arrived.lock().unwrap();
        let (arrived, timeout) = self
            .gate
            .changed
            .wait_timeout_while(arrived, PATIENCE, |arrived| *arrived < count)
            .unwrap();
        assert!(
            !timeout.timed_out(),
            "only {} of {count} requests arrived",
            *arrived
        );
    }

    /// Lets one request go; the others stay.
    pub fn release_one(&self) {
        self.gate.permits.add_permits(1);
    }

    /// Lets all go and holds no more.
    pub fn release(&self) {
        self.gate.release();
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.gate.release();
    }
}

impl std::fmt::Debug for Hold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hold")
            .field("arrived", &self.arrived())
            .finish()
    }
}
