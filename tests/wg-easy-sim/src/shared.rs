//! What the serving thread and the tests share.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::{
    fault::{Entry, Fault},
    hold::{Gate, Place},
    log::{Login, Received},
    state::State,
};

const PATIENCE: Duration = Duration::from_secs(20);

/// Received requests and what is planned for those to come.
#[derive(Default)]
pub(crate) struct Journal {
    pub(crate) requests: Vec<Received>,
    /// How many were forgotten by a reset.
    forgotten: usize,
    pub(crate) faults: Vec<Entry>,
    pub(crate) gates: Vec<Arc<Gate>>,
}

/// The whole simulator, without its thread.
pub(crate) struct Shared {
    state: Mutex<State>,
    journal: Mutex<Journal>,
    changed: Condvar,
    pub(crate) accepted: AtomicUsize,
    pub(crate) open: AtomicUsize,
}

impl Shared {
    pub(crate) fn new(state: State) -> Self {
        Self {
            state: Mutex::new(state),
            journal: Mutex::default(),
            changed: Condvar::new(),
            accepted: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap()
    }

    /// Records a request; the number finds it again.
    pub(crate) fn record(&self, received: Received) -> usize {
        let mut journal = self.journal();
        journal.requests.push(received);
        self.changed.notify_all();
        journal.forgotten + journal.requests.len() - 1
    }

    /// Adds to a record how it was answered.
    pub(crate) fn record_answer(&self, number: usize, status: Option<u16>, login: Option<Login>) {
        let mut journal = self.journal();
        let index = number.checked_sub(journal.forgotten);
        if let Some(received) = index.and_then(|index| journal.requests.get_mut(index)) {
            received.status = status.or(received.status);
            received.authenticated = login.or(received.authenticated);
        }
        self.changed.notify_all();
    }

    pub(crate) fn reset_log(&self) {
        let mut journal = self.journal();
        journal.forgotten += journal.requests.len();
        journal.requests.clear();
        let mut state = self.state();
        (state.applied, state.logins, state.password_checks) = (0, 0, 0);
        self.accepted.store(0, Ordering::SeqCst);
    }

    /// The first planned fault for a request.
    pub(crate) fn fault(&self, method: &str, path: &str) -> Vec<Fault> {
        self.journal()
            .faults
            .iter_mut()
            .find_map(|entry| entry.strike(method, path))
            .unwrap_or_default()
    }

    /// Parks a request if a test holds it.
    pub(crate) async fn pass_gate(&self, place: Place, method: &str, path: &str) {
        let gate = self
            .journal()
            .gates
            .iter()
            .find(|gate| gate.stops(place, method, path))
            .cloned();
        if let Some(gate) = gate {
            gate.park().await;
        }
    }

    /// A connection came or went.
    pub(crate) fn connection_changed(&self) {
        let _journal = self.journal();
        self.changed.notify_all();
    }

    /// Waits until something holds about the received requests. Panics after twenty seconds.
    pub(crate) fn wait_until(&self, what: &str, mut holds: impl FnMut(&[Received]) -> bool) {
        let journal = self.journal();
        let (journal, timeout) = self
            .changed
            .wait_timeout_while(journal, PATIENCE, |journal| !holds(&journal.requests))
            .unwrap();
        let seen: Vec<String> = journal
            .requests
            .iter()
            .map(|r| format!("{} {}", r.method, r.path))
            .collect();
        assert!(
            !timeout.timed_out(),
            "waited in vain for {what}; received: {seen:?}"
        );
    }
}
