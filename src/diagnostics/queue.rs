//! Lines that wait to be written, so that nobody who has something to say waits for a reader.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How much may wait for [`Kind::Message`] to be taken: some six hundred lines.
const ROOM: usize = 128 << 10;

/// How much may wait for [`Kind::Audit`] to be taken. It is more, so that messages crowd out no
/// decision.
const ROOM_FOR_AUDIT: usize = 256 << 10;

/// Whose room a line takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything but a decision.
    Message,
    /// A decision.
    Audit,
}

/// What is to be written next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A line.
    Line(String),
    /// That in this place lines are missing.
    Lost(Lost),
}

/// How many lines found no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lost {
    /// Of either kind.
    pub(super) lines: u64,
    /// Those that were decisions.
    pub(super) audit: u64,
}

/// The lines between those who say something and the one thread that writes.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Next>,
    /// The length of all waiting lines.
    bytes: usize,
    /// What came after the last waiting line, and found no room.
    lost: Lost,
    /// Whether what was taken last may not have been written yet.
    writing: bool,
}

impl Queue {
    /// Adds a line. It never waits: where there is no room the line is lost, and counted.
    pub(super) fn push(&self, line: String, kind: Kind) {
        let mut state = self.lock();
        let room = match kind {
            Kind::Message => ROOM,
            Kind::Audit => ROOM_FOR_AUDIT,
        };
        if state.bytes + line.len() > room {
            state.lost.lines += 1;
            state.lost.audit += u64::from(kind == Kind::Audit);
            return;
        }
        if let Some(lost) = state.take_lost() {
            state.waiting.push_back(lost);
        }
        state.bytes += line.len();
        state.waiting.push_back(Next::Line(line));
        self.changed.notify_all();
    }

    /// Waits for something to write. What was taken before has been written by now.
    pub(super) fn next(&self) -> Next {
        let mut state = self.lock();
        state.writing = false;
        self.changed.notify_all();
        loop {
            let next = state.waiting.pop_front();
            if let Some(next) = next.or_else(|| state.take_lost()) {
                if let Next::Line(line) = &next {
                    state.bytes -= line.len();
                }
                state.writing = true;
                return next;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until everything has been written, or for so long.
    pub(super) fn flush(&self, limit: Duration) {
        // Neither way it ends is there more to do.
        let _ = self
            .changed
            .wait_timeout_while(self.lock(), limit, |state| {
                state.writing || !state.waiting.is_empty() || state.lost != Lost::default()
            });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_lost(&mut self) -> Option<Next> {
        let lost = std::mem::take(&mut self.lost);
        (lost != Lost::default()).then_some(Next::Lost(lost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    const LINE: usize = 1 << 10;

    fn push(queue: &Queue, lines: usize, kind: Kind) {
        for _ in 0..lines {
            queue.push("x".repeat(LINE), kind);
        }
    }

    fn drain(queue: &Queue, lines: usize) {
        for _ in 0..lines {
            assert!(matches!(queue.next(), Next::Line(_)));
        }
    }

    #[test]
    fn what_finds_no_room_is_counted_and_said_before_what_comes_next() {
        let queue = Queue::default();
        let most = ROOM_FOR_AUDIT / LINE;
        push(&queue, most + 2, Kind::Audit);
        push(&queue, 3, Kind::Message);
        drain(&queue, 1);
        push(&queue, 1, Kind::Audit);
        drain(&queue, most - 1);
        assert_eq!(queue.next(), Next::Lost(Lost { lines: 5, audit: 2 }));
        drain(&queue, 1);
        assert_eq!(queue.lock().bytes, 0);
    }

    #[test]
    fn what_was_lost_is_said_also_when_nothing_comes_next() {
        let queue = Queue::default();
        push(&queue, ROOM / LINE + 1, Kind::Message);
        drain(&queue, ROOM / LINE);
        assert_eq!(queue.next(), Next::Lost(Lost { lines: 1, audit: 0 }));
    }

    #[test]
    fn messages_leave_room_for_decisions() {
        let queue = Queue::default();
        push(&queue, 2 * ROOM / LINE, Kind::Message);
        push(&queue, 1, Kind::Audit);
        drain(&queue, ROOM / LINE);
        assert!(matches!(queue.next(), Next::Lost(Lost { audit: 0, .. })));
        drain(&queue, 1);
    }

    #[test]
    fn a_flush_ends_when_nobody_takes_anything() {
        let queue = Queue::default();
        push(&queue, 1, Kind::Message);
        let start = Instant::now();
        queue.flush(Duration::from_millis(50));
        assert!(start.elapsed() >= Duration::from_millis(50));
    }

    #[test]
    fn a_flush_waits_for_what_has_been_taken_to_be_written() {
        let queue = Queue::default();
        push(&queue, 1, Kind::Message);
        std::thread::scope(|scope| {
            let flushed = scope.spawn(|| {
                let start = Instant::now();
                queue.flush(Duration::from_secs(20));
                start.elapsed()
            });
            drain(&queue, 1);
            std::thread::sleep(Duration::from_millis(50));
            assert!(!flushed.is_finished());
            // Coming for more says that it was written.
            scope.spawn(|| queue.next());
            assert!(flushed.join().unwrap() < Duration::from_secs(20));
            push(&queue, 1, Kind::Message);
        });
    }
}
