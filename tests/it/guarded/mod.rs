//! The tools that put a question to a person: what each does after a yes, and that none does anything
//! without one.
//!
//! [`GUARDED`] says once what each of the five tools is called with and what it changes; [`WAYS`] says
//! how a yes can come about. What holds for all of them is tested over both tables.

mod answers;
mod asking;
mod audit;
mod before;
mod faults;
mod in_flight;
mod questions;
mod silence;
mod stale;
mod states;
mod switches;
mod token;
mod update;
mod values;
mod waiting;

use crate::support::{
    Answer, Asked, Builder, Capabilities, Era, Question, Server, is_error, refusal, token,
    with_clients,
};
use serde_json::{Value, json};
use wg_easy_sim::{Client, Matcher, Simulator};

/// A guarded tool, as it is called about the client `id`. `create_client` is about a client that is
/// not there yet, and has the number in its name.
pub struct Guarded {
    pub tool: &'static str,
    /// Sees to it that there is something to change.
    pub set_up: fn(&Simulator, u64),
    /// A call that changes something.
    pub arguments: fn(u64) -> Value,
    /// The method and the path of the one request that changes it.
    pub write: fn(u64) -> (&'static str, String),
    /// Whether the change is in place.
    pub in_place: fn(&Simulator, u64) -> bool,
    /// Changes what the question is about, behind everybody's back.
    pub disturb: fn(&Simulator, u64),
    /// What the question then shows and did not show before.
    pub then_shows: &'static str,
}

/// The five tools. A tool that changes something and is missing here fails a test.
pub static GUARDED: [Guarded; 5] = [
    Guarded {
        tool: "create_client",
        set_up: |_, _| {},
        arguments: |id| json!({"name": format!("laptop-{id}"), "expiresAt": "2099-12-31"}),
        write: |_| ("POST", "/api/client".to_owned()),
        in_place: |sim, id| {
            let name = format!("laptop-{id}");
            sim.clients().iter().any(|client| {
                client.name == name && client.expires_at.as_deref() == Some("2099-12-31")
            })
        },
        disturb: |sim, id| {
            sim.add_client(&format!("laptop-{id}"));
        },
        then_shows: "There is already 1 client of exactly this name.",
    },
    Guarded {
        tool: "update_client",
        set_up: |_, _| {},
        arguments: |id| json!({"clientId": id, "mtu": 1300, "serverAllowedIps": ["10.20.0.0/16"]}),
        write: |id| ("POST", format!("/api/client/{id}")),
        in_place: |sim, id| {
            sim.client(id).is_some_and(|client| {
                client.mtu == 1300.0 && client.server_allowed_ips == ["10.20.0.0/16"]
            })
        },
        disturb: rename,
        then_shows: "Client: renamed meanwhile",
    },
    Guarded {
        tool: "enable_client",
        set_up: |sim, id| {
            sim.update_client(id, |client| client.enabled = false);
        },
        arguments: |id| json!({"clientId": id}),
        write: |id| ("POST", format!("/api/client/{id}/enable")),
        in_place: |sim, id| sim.client(id).is_some_and(|client| client.enabled),
        disturb: rename,
        then_shows: "Client: renamed meanwhile",
    },
    Guarded {
        tool: "delete_client",
        set_up: |_, _| {},
        arguments: |id| json!({"clientId": id}),
        write: |id| ("DELETE", format!("/api/client/{id}")),
        in_place: |sim, id| sim.client(id).is_none(),
        disturb: rename,
        then_shows: "Client: renamed meanwhile",
    },
    Guarded {
        tool: "generate_one_time_link",
        set_up: |_, _| {},
        arguments: |id| json!({"clientId": id}),
        write: |id| ("POST", format!("/api/client/{id}/generateOneTimeLink")),
        in_place: |sim, id| {
            sim.client(id)
                .is_some_and(|client| client.one_time_link.is_some())
        },
        disturb: rename,
        then_shows: "Client: renamed meanwhile",
    },
];

fn rename(sim: &Simulator, id: u64) {
    sim.update_client(id, |client| client.name = "renamed meanwhile".to_owned());
}

impl Guarded {
    /// What strikes or holds the request that changes something.
    pub fn write_matcher(&self, id: u64) -> Matcher {
        let (method, path) = (self.write)(id);
        Matcher::new(method, &path)
    }
}

/// How a yes comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// By a dialog: pushed before 2026-07-28, returned since.
    Dialog(Era),
    /// By a token, since the client can show no dialog.
    Token(Era),
}

/// Every way there is.
pub const WAYS: [Path; 6] = [
    Path::Dialog(Era::V2025_06_18),
    Path::Dialog(Era::V2025_11_25),
    Path::Dialog(Era::V2026_07_28),
    Path::Token(Era::V2025_06_18),
    Path::Token(Era::V2025_11_25),
    Path::Token(Era::V2026_07_28),
];

impl Path {
    pub fn builder(self, sim: &Simulator) -> Builder {
        match self {
            Self::Dialog(era) => Server::of(sim).era(era).capabilities(Capabilities::Form),
            Self::Token(era) => Server::of(sim).era(era),
        }
    }

    /// What the audit line calls it.
    pub fn how(self) -> &'static str {
        match self {
            Self::Dialog(era) if era.has_initialize() => "dialog-pushed",
            Self::Dialog(_) => "dialog-returned",
            Self::Token(_) => "token",
        }
    }
}

/// A call from which only the yes is missing.
#[derive(Debug)]
pub enum Open {
    Dialog(Box<Question>),
    /// The whole text, and the token in it.
    Token(String, String),
}

impl Open {
    /// What there is to read.
    pub fn text(&self) -> &str {
        match self {
            Self::Dialog(question) => &question.message,
            Self::Token(text, _) => text,
        }
    }

    /// What a call has led to, which has to be a question or a token.
    fn of(asked: Asked) -> Self {
        match asked {
            Asked::Question(question) => Self::Dialog(Box::new(question)),
            Asked::Result(result) => {
                Self::Token(refusal(&result).to_owned(), token(&result).to_owned())
            }
        }
    }
}

/// A guarded tool, a way to a yes, and a server of a simulator with ten clients.
pub struct Case {
    pub guarded: &'static Guarded,
    pub way: Path,
    pub sim: Simulator,
    pub server: Server,
}

impl Case {
    pub fn new(guarded: &'static Guarded, way: Path) -> Self {
        let sim = with_clients(10);
        for id in 1..=10 {
            (guarded.set_up)(&sim, id);
        }
        let server = way.builder(&sim).start();
        Self {
            guarded,
            way,
            sim,
            server,
        }
    }

    /// Calls the tool about a client, up to where the yes is missing.
    pub fn open(&mut self, id: u64) -> Open {
        let arguments = (self.guarded.arguments)(id);
        Open::of(self.server.ask(self.guarded.tool, arguments))
    }

    /// Says yes.
    pub fn yes(&mut self, open: &Open, id: u64) -> Asked {
        match open {
            Open::Dialog(question) => self.server.answer(question, Answer::Yes),
            Open::Token(_, token) => {
                let token = token.clone();
                self.with_token(&token, id)
            }
        }
    }

    /// Calls the tool about a client with a token.
    pub fn with_token(&mut self, token: &str, id: u64) -> Asked {
        let mut arguments = (self.guarded.arguments)(id);
        arguments["confirm_token"] = token.into();
        self.server.ask(self.guarded.tool, arguments)
    }

    pub fn is_in_place(&self, id: u64) -> bool {
        (self.guarded.in_place)(&self.sim, id)
    }

    /// Sees to it that nothing was sent that changes something, and that everything is as it was.
    pub fn assert_untouched(&self, before: &[Client], because: &str) {
        assert_eq!(self.sim.writes(), 0, "{self:?}: {because}");
        assert_eq!(self.sim.applied(), 0, "{self:?}: {because}");
        assert_eq!(self.sim.clients(), before, "{self:?}: {because}");
    }
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} by {:?}", self.guarded.tool, self.way)
    }
}

/// Runs `test` for every guarded tool and each of `ways`, the ways at the same time.
pub fn for_each(ways: &[Path], test: impl Fn(Case) + Sync) {
    std::thread::scope(|scope| {
        let test = &test;
        let running: Vec<_> = ways
            .iter()
            .map(|&way| {
                let each = move || {
                    for guarded in &GUARDED {
                        test(Case::new(guarded, way));
                    }
                };
                (way, scope.spawn(each))
            })
            .collect();
        for (way, test) in running {
            assert!(test.join().is_ok(), "failed by {way:?}");
        }
    });
}

/// The ways that show a dialog.
pub fn dialogs() -> &'static [Path] {
    &WAYS[..3]
}

/// The ways by token.
pub fn tokens() -> &'static [Path] {
    &WAYS[3..]
}

/// A success: not an error, and nothing to warn of.
pub fn assert_success(result: &Value) {
    assert!(!is_error(result), "{result}");
    assert_eq!(result["structuredContent"].get("warning"), None, "{result}");
}

/// A server whose client shows dialogs, on the newest revision.
pub fn with_dialog(sim: &Simulator) -> Server {
    Path::Dialog(Era::V2026_07_28).builder(sim).start()
}
