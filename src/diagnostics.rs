//! Everything that this program says on stderr.
//!
//! Nothing else writes there. No logging framework is installed, so what libraries would log about
//! the traffic that they carry (the protocol's payloads, headers, handshakes) goes nowhere; what is
//! said is said by a call of a function of this file.
//!
//! While a session is served nobody waits for a line to be written: a thread of its own writes, and
//! what a reader who has stopped reading leaves no room for is counted. A server that waited would hang,
//! with everything that it has to do, on a pipe that nobody reads.

mod line;
mod queue;

use std::io::Write;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use line::{audit_line, line};
use queue::{Kind, Lost, Next, Queue};

/// How long the last lines may take to be written once the program ends.
const LAST_LINES: Duration = Duration::from_millis(200);

/// How much is said, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LogSettings {
    /// The least important level that is said.
    pub level: Level,
    /// The form of a line.
    pub format: Format,
}

/// How important a line is; the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The program cannot do what it was asked to.
    Error,
    /// Something is less safe than it could be, or is not what was probably meant.
    Warn,
    /// What an operator wants to know of a program that works.
    #[default]
    Info,
    /// What somebody looking for a fault wants to know.
    Debug,
}

/// The form of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Format {
    /// A sentence for people.
    #[default]
    Text,
    /// A JSON object.
    Json,
}

static SETTINGS: OnceLock<LogSettings> = OnceLock::new();

/// Where lines wait for the thread that writes; until it is started there is nothing here.
static QUEUE: OnceLock<Arc<Queue>> = OnceLock::new();

/// Sets level and format for the rest of the process. Before, and when never called, they are the
/// defaults; a second call changes nothing.
pub fn configure(settings: LogSettings) {
    // Being set already is the documented behaviour of a second call.
    let _ = SETTINGS.set(settings);
}

/// From here on lines are written by a thread, and whoever says something does not wait for that.
/// Before, and where no thread can be had, they are written at once.
///
/// The thread is under whatever limits the process has by now, and would escape those it gets later.
pub fn start_writer() {
    let queue = Arc::new(Queue::default());
    let written = queue.clone();
    let thread = std::thread::Builder::new().name("diagnostics".to_owned());
    if thread.spawn(move || write_from(&written)).is_ok() {
        // A second writer, if there ever were one, would have nothing to write.
        let _ = QUEUE.set(queue);
    }
}

/// Waits for a short time until everything that was said is written. What is not, is lost when the
/// program ends now.
pub fn flush() {
    if let Some(queue) = QUEUE.get() {
        queue.flush(LAST_LINES);
    }
}

/// Calls [`flush`] when it goes out of scope, in a panic too.
pub struct Flush;

impl Drop for Flush {
    fn drop(&mut self) {
        flush();
    }
}

/// Says why the program cannot do what it was asked to.
pub fn error(message: &str) {
    say(Level::Error, message);
}

/// Says what is less safe than it could be, or probably not meant.
pub fn warn(message: &str) {
    say(Level::Warn, message);
}

/// Says what an operator wants to know.
pub fn info(message: &str) {
    say(Level::Info, message);
}

/// Says what somebody looking for a fault wants to know.
pub fn debug(message: &str) {
    say(Level::Debug, message);
}

/// A decision about a guarded tool, without any name, value or secret in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// The tool's name.
    pub tool: &'static str,
    /// The client that it was about to change, when there is one.
    pub client: Option<u64>,
    /// How it was decided.
    pub how: How,
    /// What was decided.
    pub decision: Decision,
    /// What became of it.
    pub outcome: Outcome,
}

/// How a decision came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// A dialog was put to a person while the call waited.
    DialogPushed,
    /// A question went back with the answer, and the call came again with a person's reply.
    DialogReturned,
    /// The call came twice, the second time with the token that the first one gave.
    Token,
    /// Nobody was asked: a dialog is required and the client can show none.
    NotAsked,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Yes.
    Approved,
    /// No.
    Declined,
    /// Nothing, in the time there was.
    NoAnswer,
    /// This program decided that it may not be done.
    Refused,
}

/// What became of the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is in place.
    Applied,
    /// It was never sent, or is known not to be in place.
    NotApplied,
    /// It was sent, and whether it is in place could not be found out.
    Unknown,
    /// wg-easy refused it.
    Failed,
}

/// Records a decision. It is written whatever the level is: a level is about noise, and an audit
/// trail with a part missing is none.
pub fn audit(audit: &Audit) {
    let line = audit_line(settings().format, Timestamp::now(), audit);
    write(line, Kind::Audit);
}

/// From here on a panic says where it happened and not what it says: a panic's message may quote the
/// value that caused it.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|panic| {
        let place = match panic.location() {
            Some(location) => format!("{}:{}", location.file(), location.line()),
            None => "an unknown place".to_owned(),
        };
        error(&format!(
            "internal error at {place}; this is a bug, please report it"
        ));
    }));
}

/// Says a warning whatever the level is.
pub fn warn_always(message: &str) {
    let line = line(settings().format, Timestamp::now(), Level::Warn, message);
    write(line, Kind::Message);
}

fn settings() -> LogSettings {
    SETTINGS.get().copied().unwrap_or_default()
}

fn say(level: Level, message: &str) {
    let settings = settings();
    if level <= settings.level {
        let line = line(settings.format, Timestamp::now(), level, message);
        write(line, Kind::Message);
    }
}

fn write(line: String, kind: Kind) {
    match QUEUE.get() {
        Some(queue) => queue.push(line, kind),
        None => write_now(&line),
    }
}

/// One write a line, so that lines of several threads do not mix. When nobody listens any more,
/// there is nobody to tell.
fn write_now(line: &str) {
    if cfg!(test) {
        // What a unit test says is kept with it, and shown where it fails.
        #[expect(clippy::print_stderr, reason = "the way that the test harness keeps")]
        return eprint!("{line}");
    }
    let _ = std::io::stderr().write_all(line.as_bytes());
}

fn write_from(queue: &Queue) {
    loop {
        match queue.next() {
            Next::Line(line) => write_now(&line),
            Next::Lost(lost) => {
                let (format, now) = (settings().format, Timestamp::now());
                write_now(&line(format, now, Level::Warn, &lost.to_string()));
            }
        }
    }
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { lines, audit } = self;
        write!(
            f,
            "here {lines} lines are missing, {audit} of them audit lines: stderr was not read for too long"
        )
    }
}
