//! Where the scenes play: the instance, the server, whoever answers, and what is checked.

use crate::Problem;
use crate::person::Person;
use crate::screen::{Look, Screen};
use crate::server::{Dialog, Revision, Server};
use serde_json::Value;
use std::path::PathBuf;
use std::rc::Rc;
use wg_easy_sim::Simulator;

/// Where the scenes play.
pub(crate) struct Stage {
    pub(crate) screen: Screen,
    pub(crate) person: Person,
    pub(crate) wg_easy: Rc<Simulator>,
    binary: PathBuf,
    server: Option<Server>,
    scene: usize,
    transcript: Vec<String>,
    log: Vec<String>,
    /// Keys of clients that may be gone by the end.
    keys: Vec<String>,
    one_time_links: Vec<String>,
}

impl Stage {
    pub(crate) fn new(screen: Screen, person: Person, wg_easy: Simulator, binary: PathBuf) -> Self {
        Self {
            keys: keys(&wg_easy),
            screen,
            person,
            wg_easy: Rc::new(wg_easy),
            binary,
            server: None,
            scene: 0,
            transcript: Vec::new(),
            log: Vec::new(),
            one_time_links: Vec::new(),
        }
    }

    /// Starts a server for a client of `revision`; one that runs already is stopped.
    pub(crate) fn connect(&mut self, revision: Revision) -> Result<(), Problem> {
        self.disconnect()?;
        self.server = Some(Server::start(&self.binary, &self.wg_easy, revision)?);
        Ok(())
    }

    /// Begins a scene.
    pub(crate) fn scene(&mut self, title: &str, about: &str) {
        if self.scene > 0 {
            self.person.pause(self.screen);
        }
        self.scene += 1;
        self.screen.heading(self.scene, title);
        self.screen.text(about, Look::Dim);
        self.screen.gap();
    }

    /// The tools that the server offers.
    pub(crate) fn tools(&mut self) -> Result<Vec<Value>, Problem> {
        self.server()?.tools()
    }

    /// What the person said to the AI, and the call that the AI makes of it. A tool that asks fails.
    pub(crate) fn call(
        &mut self,
        wish: &str,
        tool: &str,
        arguments: Value,
    ) -> Result<Value, Problem> {
        let mut asked = false;
        let result = self.call_asking(wish, tool, arguments, &mut |_| {
            asked = true;
            false
        })?;
        self.check(!asked, "it acted without a question, as it may")?;
        Ok(result)
    }

    /// The same for a tool that asks.
    pub(crate) fn call_asking(
        &mut self,
        wish: &str,
        tool: &str,
        arguments: Value,
        ask: &mut dyn FnMut(&Dialog) -> bool,
    ) -> Result<Value, Problem> {
        let screen = &self.screen;
        screen.line(format_args!(
            "  {} {}",
            screen.paint("You:", Look::Bold),
            wish
        ));
        screen.line(format_args!(
            "  {} {} {}",
            screen.paint("AI: ", Look::Bold),
            screen.paint(tool, Look::Cyan),
            screen.paint(&arguments, Look::Cyan)
        ));
        screen.gap();
        self.server()?.call(tool, &arguments, ask)
    }

    /// Ends the demo when what it has just shown is not so.
    pub(crate) fn check(&self, holds: bool, what: &str) -> Result<(), Problem> {
        if holds {
            Ok(())
        } else {
            Err(format!("in scene {}, it should be that {what}", self.scene).into())
        }
    }

    /// The same, and says so.
    pub(crate) fn prove(&self, holds: bool, what: &str) -> Result<(), Problem> {
        self.check(holds, what)?;
        self.screen.proof(what);
        Ok(())
    }

    /// Shows why the AI's call changed nothing.
    pub(crate) fn refused(&self, result: &Value) -> Result<(), Problem> {
        self.check(is_error(result), "the call is refused")?;
        self.screen.text("The AI reads:", Look::Dim);
        self.screen.refusal(text(result));
        Ok(())
    }

    /// A one-time link that was handed out, and so is in the transcript rightly.
    pub(crate) fn handed_out(&mut self, token: &str) {
        self.one_time_links.push(token.to_owned());
    }

    /// The audit lines so far.
    pub(crate) fn audit(&mut self) -> Result<Vec<String>, Problem> {
        self.disconnect()?;
        let mark = "wg-easy-mcp: audit: ";
        let lines = self.log.iter().filter_map(|line| line.strip_prefix(mark));
        Ok(lines.map(str::to_owned).collect())
    }

    /// Looks for what must not have been said, and ends.
    pub(crate) fn end(mut self) -> Result<(), Problem> {
        self.disconnect()?;
        let mut secrets = vec![self.wg_easy.account().password];
        secrets.append(&mut self.keys);
        secrets.extend(keys(&self.wg_easy));
        let clients = self.wg_easy.clients();
        let links = clients
            .into_iter()
            .filter_map(|client| client.one_time_link);
        secrets.extend(links.map(|link| link.token));
        secrets.retain(|secret| !self.one_time_links.contains(secret));
        let leaks = |lines: &[String]| {
            let mut pairs = lines
                .iter()
                .flat_map(|l| secrets.iter().map(move |s| (l, s)));
            pairs.any(|(line, secret)| line.contains(secret.as_str()))
        };
        self.prove(
            !leaks(&self.transcript) && !leaks(&self.log),
            &format!(
                "none of the {} messages and of the log lines has wg-easy's password or a secret key in \
                 it, but for the QR code that was asked for",
                self.transcript.len()
            ),
        )?;
        self.screen.gap();
        self.screen.text(
            "That was all. README.md says how to connect it to your own wg-easy.",
            Look::Bold,
        );
        Ok(())
    }

    fn server(&mut self) -> Result<&mut Server, Problem> {
        self.server.as_mut().ok_or_else(|| "no server runs".into())
    }

    fn disconnect(&mut self) -> Result<(), Problem> {
        if let Some(mut server) = self.server.take() {
            server.stop()?;
            let (transcript, log) = server.traffic();
            self.transcript.extend_from_slice(transcript);
            self.log.extend(log);
        }
        Ok(())
    }
}

/// What nobody but a client and wg-easy has to know.
fn keys(wg_easy: &Simulator) -> Vec<String> {
    let clients = wg_easy.clients().into_iter();
    clients
        .flat_map(|client| [client.private_key, client.pre_shared_key])
        .collect()
}

/// Whether a call was refused or failed.
pub(crate) fn is_error(result: &Value) -> bool {
    result.get("isError") == Some(&true.into())
}

/// What the AI reads of an answer.
pub(crate) fn text(result: &Value) -> &str {
    let text = result.pointer("/content/0/text").and_then(Value::as_str);
    text.unwrap_or_default()
}

/// A value of an answer's structured content.
pub(crate) fn value<'a>(result: &'a Value, pointer: &str) -> Result<&'a Value, Problem> {
    result
        .pointer(&format!("/structuredContent{pointer}"))
        .ok_or_else(|| format!("the answer has no {pointer}: {}", text(result)).into())
}
