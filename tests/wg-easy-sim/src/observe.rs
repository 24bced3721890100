//! The handle's view of the traffic: planning what goes wrong, and what was received.

use std::sync::{Arc, atomic::Ordering};

use crate::{
    fault::{Entry, Fault, FaultHandle, Matcher},
    hold::{Gate, Hold, Place},
    log::Received,
    simulator::Simulator,
};

impl Simulator {
    /// Plans a fault. Of several that fit a request, the one planned first strikes.
    pub fn fault(&self, matcher: Matcher, fault: Fault) -> FaultHandle {
        let entry = Entry::new(matcher, fault);
        let handle = entry.handle();
        self.shared.journal().faults.push(entry);
        handle
    }

    /// Forgets all planned faults.
    pub fn clear_faults(&self) {
        self.shared.journal().faults.clear();
    }

    /// Parks matching requests before anything is applied.
    #[must_use = "dropping the hold lets the requests go"]
    pub fn hold(&self, matcher: Matcher) -> Hold {
        self.hold_at(matcher, Place::Arrival)
    }

    /// Parks matching requests after they were applied, before they are answered.
    #[must_use = "dropping the hold lets the requests go"]
    pub fn hold_answer(&self, matcher: Matcher) -> Hold {
        self.hold_at(matcher, Place::Answer)
    }

    fn hold_at(&self, matcher: Matcher, place: Place) -> Hold {
        let gate = Gate::new(matcher, place);
        self.shared.journal().gates.push(Arc::clone(&gate));
        Hold::new(gate)
    }

    /// Everything received since the start or the last reset.
    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        self.shared.journal().requests.clone()
    }

    /// How many requests of this method and path were received; both may be `*` or end in it.
    #[must_use]
    pub fn count(&self, method: &str, path: &str) -> usize {
        count(&self.shared.journal().requests, method, path)
    }

    /// Waits until so many requests were received. Panics after twenty seconds.
    pub fn wait_count(&self, method: &str, path: &str, least: usize) {
        let what = format!("{least} of {method} {path}");
        self.shared
            .wait_until(&what, |requests| count(requests, method, path) >= least);
    }

    /// Waits until something holds about the received requests. Panics after twenty seconds. The
    /// condition must not ask the simulator for more: the log is locked meanwhile.
    pub fn wait_until(&self, what: &str, holds: impl FnMut(&[Received]) -> bool) {
        self.shared.wait_until(what, holds);
    }

    /// How many requests asked for a change.
    #[must_use]
    pub fn writes(&self) -> usize {
        self.shared
            .journal()
            .requests
            .iter()
            .filter(|request| request.is_write())
            .count()
    }

    /// How many changes were applied, whatever the answer was.
    #[must_use]
    pub fn applied(&self) -> usize {
        self.shared.state().applied
    }

    /// How many logins were attempted on the login routes, second steps included.
    #[must_use]
    pub fn logins(&self) -> usize {
        self.shared.state().logins
    }

    /// How often a password was hashed: login routes, and every request with Basic.
    #[must_use]
    pub fn password_checks(&self) -> usize {
        self.shared.state().password_checks
    }

    /// How many TCP connections were accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// How many of them are open.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// Waits until at most so many connections are open. Panics after twenty seconds.
    pub fn wait_open_connections(&self, most: usize) {
        self.shared
            .wait_until("connections to close", |_| self.open_connections() <= most);
    }

    /// Forgets the received requests and sets the counters to zero.
    pub fn reset_log(&self) {
        self.shared.reset_log();
    }
}

fn count(requests: &[Received], method: &str, path: &str) -> usize {
    let fits = |pattern: &str, text: &str| match pattern.strip_suffix('*') {
        Some(start) => text.starts_with(start),
        None => text == pattern,
    };
    requests
        .iter()
        .filter(|request| fits(method, &request.method) && fits(path, &request.path))
        .count()
}
