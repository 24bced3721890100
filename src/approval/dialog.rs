//! Asking by dialog, on each protocol revision.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    InputRequest, InputRequiredResult, InputResponses, ProgressNotificationParam, ProgressToken,
    ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RequestHandle, ServiceError};
use tokio::sync::oneshot::error::RecvError;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::question::Question;
use super::verdict::Refusal;
use super::{Call, Mode};

/// How a person is reached, for one call. The revision belongs to the request and so does this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// The question is a request to the client, and the call waits: before 2026-07-28.
    Push,
    /// The question is the call's answer, and the client calls again: 2026-07-28.
    Return,
    /// No dialog; a token instead.
    Token(NobodyAsked),
    /// No dialog, and nothing instead.
    None,
}

/// Why a token stands in for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NobodyAsked {
    /// The client did not say that it can show a form.
    NoDialog,
    /// The operator switched the dialog off.
    SwitchedOff,
}

impl fmt::Display for NobodyAsked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoDialog => "this client cannot show a dialog",
            Self::SwitchedOff => {
                "this server, wg-easy-mcp, was started with its dialog switched off \
                 (ELICITATION=false)"
            }
        })
    }
}

impl Route {
    pub(super) fn of(mode: Mode, context: &RequestContext<RoleServer>) -> Self {
        if mode == Mode::TokenOnly {
            return Self::Token(NobodyAsked::SwitchedOff);
        }
        let handshake = context.peer.peer_info().is_some();
        match context.protocol_version() {
            Some(version) if shows_forms(context) && !version.has_initialize() => Self::Return,
            // Without a handshake there is nobody to push to, whatever a request claims.
            Some(_) if shows_forms(context) && handshake => Self::Push,
            _ if mode == Mode::DialogOnly => Self::None,
            _ => Self::Token(NobodyAsked::NoDialog),
        }
    }
}

/// An empty capability means forms, which is all there was at first.
fn shows_forms(context: &RequestContext<RoleServer>) -> bool {
    context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation)
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// A question as the answer to a call, with the state that the next call has to bring.
pub(super) fn returned(question: &Question, changed: bool, state: String) -> InputRequiredResult {
    let request = ElicitRequest::new(form(question, changed));
    let requests = BTreeMap::from([(
        Question::FIELD.to_owned(),
        InputRequest::Elicitation(request),
    )]);
    InputRequiredResult::new(Some(requests), Some(state))
}

/// What a call that brings answers says to the question: yes, no, or nothing.
pub(super) fn brought(responses: Option<&InputResponses>) -> Option<Result<(), Refusal>> {
    let answer = responses?.get(Question::FIELD)?;
    // What is not even an answer is not a yes.
    Some(serde_json::from_value(answer.clone()).map_or(Err(Refusal::Declined), |a| verdict(&a)))
}

/// Questions that are pushed to the client while their call waits.
pub(super) struct Pushed<'a> {
    call: &'a Call<'a>,
    deadline: Instant,
    /// How often the client was told that the call is waiting.
    told: u32,
}

impl<'a> Pushed<'a> {
    /// How long a call waits for people, over all the questions it puts to them.
    const LIMIT: Duration = Duration::from_secs(15 * 60);

    /// How often the client hears that its call is not dead. Clients give up after 60 seconds of
    /// silence if nobody configured them otherwise.
    const PROGRESS: Duration = Duration::from_secs(10);

    /// How long a withdrawal may take: if the client does not read, it does not show anything.
    const WITHDRAWAL: Duration = Duration::from_secs(1);

    /// The time begins to run now.
    pub(super) fn new(call: &'a Call<'a>) -> Self {
        Self {
            call,
            deadline: Instant::now() + Self::LIMIT,
            told: 0,
        }
    }

    /// Waits for a yes. `changed`: this is not the call's first question.
    pub(super) async fn ask(&mut self, question: &Question, changed: bool) -> Result<(), Refusal> {
        let peer = &self.call.context.peer;
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(question, changed)));
        let sending = peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let mut asked = self
            .call
            .unless_over(sending)
            .await?
            .map_err(|_| Refusal::DialogFailed)?;
        let progress = self.call.context.meta.get_progress_token();
        let waited = tokio::select! {
            biased;
            waited = self.call.unless_over(&mut asked.rx) => waited.map(answered),
            () = sleep_until(self.deadline) => Err(Refusal::NoAnswer),
            never = keep_alive(peer, progress, &mut self.told) => match never {},
        };
        match waited {
            Ok(answer) => answer,
            // The client goes with the server; there may be nobody to tell.
            Err(Refusal::Stopping) => Err(Refusal::Stopping),
            Err(why) => {
                withdraw(asked, why).await;
                Err(why)
            }
        }
    }
}

/// Takes a question off the person's screen.
async fn withdraw(asked: RequestHandle<RoleServer>, why: Refusal) {
    let reason = match why {
        Refusal::NoAnswer => "nobody answered in time",
        _ => "the call was cancelled",
    };
    // If this fails, the answer that may still come goes nowhere.
    let _ = timeout(Pushed::WITHDRAWAL, asked.cancel(Some(reason.to_owned()))).await;
}

/// Tells the client every now and then that its call waits for a person, if it wants to know.
async fn keep_alive(
    peer: &Peer<RoleServer>,
    token: Option<ProgressToken>,
    told: &mut u32,
) -> Infallible {
    let Some(token) = token else {
        return std::future::pending().await;
    };
    loop {
        sleep(Pushed::PROGRESS).await;
        *told += 1;
        let progress = ProgressNotificationParam::new(token.clone(), f64::from(*told))
            .with_message("waiting for a person to answer");
        // A client that cannot be told will not answer either; the wait ends another way.
        let _ = peer.notify_progress(progress).await;
    }
}

type Answered = Result<Result<ClientResult, ServiceError>, RecvError>;

fn answered(answer: Answered) -> Result<(), Refusal> {
    match answer {
        Ok(Ok(ClientResult::ElicitResult(result))) => verdict(&result),
        Ok(Ok(_)) => Err(Refusal::Declined),
        Ok(Err(_)) => Err(Refusal::DialogFailed),
        // The connection has ended.
        Err(_) => Err(Refusal::Stopping),
    }
}

/// The one answer that is a yes: accepted, with the box ticked.
fn verdict(result: &ElicitResult) -> Result<(), Refusal> {
    let ticked = result
        .content
        .as_ref()
        .and_then(|content| content.get(Question::FIELD))
        .and_then(serde_json::Value::as_bool);
    match (&result.action, ticked) {
        (ElicitationAction::Accept, Some(true)) => Ok(()),
        _ => Err(Refusal::Declined),
    }
}

fn form(question: &Question, changed: bool) -> ElicitRequestParams {
    let preface = if changed {
        "Nothing has been done yet: what was asked before has changed in the meantime. This is the \
         question as it is now.\n\n"
    } else {
        ""
    };
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("{preface}{}", question.text()),
        requested_schema: question.form(),
    }
}
