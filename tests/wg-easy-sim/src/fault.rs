//! Faults on demand: which requests, and what goes wrong with them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::edit::Edit;

/// Which requests something applies to.
#[derive(Clone, Debug)]
pub struct Matcher {
    method: String,
    path: String,
    skip: usize,
    times: usize,
}

impl Matcher {
    /// A method (`*` for any) and a path: exact, or ending in `*` for a prefix. Once, unless told otherwise.
    #[must_use]
    pub fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            skip: 0,
            times: 1,
        }
    }

    /// Any request at all, once.
    #[must_use]
    pub fn any() -> Self {
        Self::new("*", "*")
    }

    /// Applies this many times.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// Applies until removed.
    #[must_use]
    pub fn always(self) -> Self {
        self.times(usize::MAX)
    }

    /// Lets the first few matching requests pass.
    #[must_use]
    pub fn skip(mut self, skip: usize) -> Self {
        self.skip = skip;
        self
    }

    fn fits(&self, method: &str, path: &str) -> bool {
        let path_fits = match self.path.strip_suffix('*') {
            Some(start) => path.starts_with(start),
            None => path == self.path,
        };
        path_fits && (self.method == "*" || self.method == method)
    }

    /// Whether this request is meant; counts down.
    pub(crate) fn takes(&mut self, method: &str, path: &str) -> bool {
        if self.times == 0 || !self.fits(method, path) {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        if self.times != usize::MAX {
            self.times -= 1;
        }
        true
    }
}

/// What goes wrong. "Applied" means that the request had its ordinary effect.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Waits, then answers as usual.
    Delay(Duration),
    /// Never answers; nothing is applied.
    Hang,
    /// Applied, but never answered.
    HangAfterApply,
    /// Applied; the headers come, the body never does.
    HangBody,
    /// The connection is reset; nothing is applied.
    Reset,
    /// Applied, then the connection is reset.
    ResetAfterApply,
    /// Applied; the right length is declared, but only so many bytes come before the connection closes.
    CutBody(usize),
    /// Applied; the body goes on for ever, in chunks.
    EndlessBody,
    /// Applied; this length is declared, the ordinary body comes, then silence.
    DeclaredLength(u64),
    /// Applied; the body comes byte by byte.
    DripBody(Duration),
    /// This answer instead; nothing is applied.
    Instead(Canned),
    /// Applied, but answered with this.
    AfterApply(Canned),
    /// The ordinary answer, with its body changed.
    Edit(Edit),
    /// The ordinary answer under another content type.
    ContentType(String),
    /// The ordinary answer with another reason phrase.
    Reason(String),
    /// The ordinary answer with one more header.
    Header(String, String),
    /// The ordinary answer without its cookies.
    DropSetCookie,
    /// The ordinary answer; then the connection closes without having announced it.
    CloseAfter,
    /// Several of these on one request. The first one that ends the exchange does.
    Several(Vec<Fault>),
}

impl Fault {
    /// A bare status with an empty body; nothing is applied.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::Instead(Canned::new(status))
    }

    /// Applied, but answered with a bare status.
    #[must_use]
    pub fn status_after_apply(status: u16) -> Self {
        Self::AfterApply(Canned::new(status))
    }

    /// A proxy's page; nothing is applied.
    #[must_use]
    pub fn html(status: u16) -> Self {
        let page = "<!DOCTYPE html><html><head><title>Sign in</title></head><body><form action=\"/sso\"><input name=\"user\"></form></body></html>";
        Self::Instead(
            Canned::new(status)
                .content_type("text/html; charset=utf-8")
                .body(page),
        )
    }

    /// A redirect; nothing is applied.
    #[must_use]
    pub fn redirect(location: &str) -> Self {
        Self::Instead(Canned::new(302).header("location", location))
    }

    /// Status 200 with this JSON, whatever it is; nothing is applied.
    #[must_use]
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::Instead(Canned::new(200).content_type("application/json").body(body))
    }

    /// Status 200 with JSON that ends too early; nothing is applied.
    #[must_use]
    pub fn broken_json() -> Self {
        Self::json(r#"[{"id":1,"name":"#)
    }

    /// Status 200 with an empty body; nothing is applied.
    #[must_use]
    pub fn empty() -> Self {
        Self::json("")
    }
}

/// A prepared answer.
#[derive(Clone, Debug)]
pub struct Canned {
    pub(crate) status: u16,
    pub(crate) reason: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Canned {
    /// An answer with an empty body.
    #[must_use]
    pub fn new(status: u16) -> Self {
        Self {
            status,
            reason: None,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Another reason phrase.
    #[must_use]
    pub fn reason(mut self, reason: &str) -> Self {
        self.reason = Some(reason.to_owned());
        self
    }

    /// One more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The content type.
    #[must_use]
    pub fn content_type(self, value: &str) -> Self {
        self.header("content-type", value)
    }

    /// The body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }
}

/// A fault that was set up; dropping this changes nothing.
#[derive(Clone, Debug)]
pub struct FaultHandle {
    hits: Arc<AtomicUsize>,
    removed: Arc<AtomicBool>,
}

impl FaultHandle {
    /// How many requests it has hit.
    #[must_use]
    pub fn hits(&self) -> usize {
        self.hits.load(Ordering::SeqCst)
    }

    /// Takes the fault away.
    pub fn remove(&self) {
        self.removed.store(true, Ordering::SeqCst);
    }
}

/// A fault that waits for its request.
pub(crate) struct Entry {
    matcher: Matcher,
    fault: Fault,
    handle: FaultHandle,
}

impl Entry {
    pub(crate) fn new(matcher: Matcher, fault: Fault) -> Self {
        let handle = FaultHandle {
            hits: Arc::default(),
            removed: Arc::default(),
        };
        Self {
            matcher,
            fault,
            handle,
        }
    }

    pub(crate) fn handle(&self) -> FaultHandle {
        self.handle.clone()
    }

    /// The parts of the fault, if this request is meant.
    pub(crate) fn strike(&mut self, method: &str, path: &str) -> Option<Vec<Fault>> {
        if self.handle.removed.load(Ordering::SeqCst) || !self.matcher.takes(method, path) {
            return None;
        }
        self.handle.hits.fetch_add(1, Ordering::SeqCst);
        let mut parts = Vec::new();
        flatten(&self.fault, &mut parts);
        Some(parts)
    }
}

fn flatten(fault: &Fault, parts: &mut Vec<Fault>) {
    match fault {
        Fault::Several(faults) => faults.iter().for_each(|fault| flatten(fault, parts)),
        other => parts.push(other.clone()),
    }
}
