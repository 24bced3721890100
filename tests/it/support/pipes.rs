//! What comes out of the server, read in threads.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

use super::PATIENCE;

/// The messages on stdout. Every line has to be one.
pub struct Messages {
    lines: Receiver<String>,
    /// Where each line has to be asked for before it is read.
    demand: Option<SyncSender<()>>,
    all: Arc<Mutex<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Messages {
    /// Reads lines as they come, or, when `on_demand`, only as many as are taken.
    pub fn of(stdout: impl Read + Send + 'static, on_demand: bool) -> Self {
        let (demand, demanded) = sync_channel(1);
        let (sender, lines) = channel();
        let all = Arc::new(Mutex::new(String::new()));
        let collected = Arc::clone(&all);
        let thread = std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while !on_demand || demanded.recv().is_ok() {
                let mut line = Vec::new();
                let read = stdout.read_until(b'\n', &mut line);
                if !read.is_ok_and(|read| read > 0) {
                    break;
                }
                let line = String::from_utf8_lossy(&line).into_owned();
                collected.lock().unwrap().push_str(&line);
                // Nobody takes what comes at the very end; it has been collected.
                let _ = sender.send(line);
            }
        });
        Self {
            lines,
            demand: on_demand.then_some(demand),
            all,
            thread: Some(thread),
        }
    }

    /// The next message, or `None` at the end. Panics at what is no message.
    pub fn next(&self) -> Option<Value> {
        if let Some(demand) = &self.demand {
            let _ = demand.send(());
        }
        let line = match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return None,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                panic!("nothing was said in {PATIENCE:?}")
            }
        };
        Some(message(&line))
    }

    /// Closes this end of the pipe; the server hears of it at once when reading is on demand.
    pub fn close(&mut self) {
        self.demand = None;
        self.join();
    }

    /// Everything that was read, once the server has ended.
    pub fn all(&mut self) -> String {
        self.close();
        self.all.lock().unwrap().clone()
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A line as a message of JSON-RPC.
pub fn message(line: &str) -> Value {
    assert!(line.ends_with('\n'), "a line without an end: {line:?}");
    let message: Value = serde_json::from_str(line)
        .unwrap_or_else(|error| panic!("no message ({error}): {line:.500}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line:.500}");
    let kinds = ["method", "result", "error"];
    let kinds = kinds.iter().filter(|kind| message.get(kind).is_some());
    assert_eq!(kinds.count(), 1, "{line:.500}");
    message
}

/// The text on stderr.
pub struct Diagnostics {
    text: Arc<(Mutex<String>, Condvar)>,
    /// Holds back the reading while it is there.
    unread: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Diagnostics {
    /// Reads lines as they come, or, when `unread`, none before [`Diagnostics::read`].
    pub fn of(stderr: impl Read + Send + 'static, unread: bool) -> Self {
        let text = Arc::new((Mutex::new(String::new()), Condvar::new()));
        let collected = Arc::clone(&text);
        let (sender, held_back) = channel::<()>();
        let thread = std::thread::spawn(move || {
            // Nothing is ever sent: what ends this is that the sender is dropped.
            let _ = held_back.recv();
            let mut stderr = BufReader::new(stderr);
            loop {
                let mut line = Vec::new();
                let read = stderr.read_until(b'\n', &mut line);
                if !read.is_ok_and(|read| read > 0) {
                    break;
                }
                let (text, grown) = &*collected;
                text.lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&line));
                grown.notify_all();
            }
        });
        Self {
            text,
            unread: unread.then_some(sender),
            thread: Some(thread),
        }
    }

    /// Begins to read where that was held back.
    pub fn read(&mut self) {
        self.unread = None;
    }

    /// What has been said so far.
    pub fn so_far(&self) -> String {
        self.text.0.lock().unwrap().clone()
    }

    /// Waits until something has been said.
    pub fn wait_for(&self, part: &str) -> String {
        self.wait_until(part, |text| text.contains(part))
    }

    /// Waits until what has been said is enough; `what` says what is missing.
    pub fn wait_until(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let (text, grown) = &*self.text;
        let text = text.lock().unwrap();
        let (text, timeout) = grown
            .wait_timeout_while(text, PATIENCE, |text| !holds(text))
            .unwrap();
        assert!(!timeout.timed_out(), "never said {what:?}, only: {text}");
        text.clone()
    }

    /// Everything, once the server has ended.
    pub fn all(&mut self) -> String {
        self.read();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.so_far()
    }
}
