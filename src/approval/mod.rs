//! A person is asked before anything widens access.
//!
//! A [`Question`] goes in and a [`Decision`] comes out. What the question is about is no concern of
//! this room; what it sees to is that only a yes to exactly this question, for exactly this call,
//! lets the call go ahead, and that it does so once.

mod binding;
mod dialog;
mod key;
mod place;
mod question;
mod seal;
mod token;
mod verdict;

use rmcp::RoleServer;
use rmcp::model::{InputResponses, JsonObject};
use rmcp::service::RequestContext;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use binding::{Binding, CallDigest};
use dialog::{NobodyAsked, Pushed, Route};
use seal::Seal;
use token::Tokens;

pub use place::Place;
pub use question::Question;
pub use verdict::{Approval, Decision, How, Refusal, Unprepared};

/// What stands in front of every guarded call.
pub struct Gate {
    mode: Mode,
    seal: Seal,
    tokens: Tokens,
    waiting: Semaphore,
}

/// Which ways there are to a yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A dialog where the client can show one, else a token.
    Dialog,
    /// A token, whatever the client can show.
    TokenOnly,
    /// A dialog or nothing.
    DialogOnly,
}

/// What how things are is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// For the question alone; the plan is dropped, or at most asked about.
    Ask,
    /// A yes may be there: if it fits the question, the plan is carried out at once.
    Act,
}

impl Purpose {
    fn of(a_yes_may_be_there: bool) -> Self {
        match a_yes_may_be_there {
            true => Self::Act,
            false => Self::Ask,
        }
    }
}

/// A guarded call, as it came in.
pub struct Call<'a> {
    /// The tool that is called.
    pub tool: &'static str,
    /// The arguments as the client sent them. Whether `confirm_token` is among them makes no
    /// difference.
    pub arguments: &'a JsonObject,
    /// The argument `confirm_token`, if there is one.
    pub confirm_token: Option<&'a str>,
    /// The request, for the client's capabilities and the way to reach it.
    pub context: &'a RequestContext<RoleServer>,
    /// Answers that the request carries.
    pub input_responses: Option<&'a InputResponses>,
    /// The state that the request gives back.
    pub request_state: Option<&'a str>,
    /// Cancelled when the server is about to end: the input has ended or a signal came.
    pub stop: &'a CancellationToken,
    /// The call's place among those in progress.
    pub place: &'a Place,
}

impl Gate {
    /// The most calls that wait for a person at a time. A person answers one after the other; what
    /// is beyond this is not going to be read.
    pub const WAITING: usize = 64;

    /// The most questions that one waiting call asks again because what they are about has changed.
    pub const ASKED_AGAIN: usize = 5;

    /// A gate without open questions, with keys of its own. Drop it to wipe them.
    pub fn new(mode: Mode) -> Result<Self, getrandom::Error> {
        Ok(Self {
            mode,
            seal: Seal::new()?,
            tokens: Tokens::new()?,
            waiting: Semaphore::new(Self::WAITING),
        })
    }

    /// Whether `call` may go ahead.
    ///
    /// `prepare` reads how things are, for the purpose that it is told, and gives the question that has
    /// to be asked about them, with the plan that carries it out. After a yes it is called again: only
    /// if the question is still the same is the call approved, with the fresh plan; else the new
    /// question is asked. It must not change anything, and may be dropped half-way. Its error ends the
    /// call, also after a yes.
    pub async fn decide<P, E, F, Fut>(
        &self,
        call: &Call<'_>,
        prepare: F,
    ) -> Result<Decision<P>, Unprepared<E>>
    where
        F: Fn(Purpose) -> Fut,
        Fut: Future<Output = Result<(Question, P), E>>,
    {
        let route = Route::of(self.mode, call.context);
        let (how, decided) = match route {
            Route::Push => (Some(How::DialogPushed), self.push(call, prepare).await),
            Route::Return => (
                Some(How::DialogReturned),
                self.hand_back(call, prepare).await,
            ),
            Route::Token(why) => (Some(How::Token), self.take_token(call, why, prepare).await),
            Route::None => (None, Err(Halt::Refused(Refusal::DialogRequired))),
        };
        match decided {
            Ok(decision) => Ok(decision),
            Err(Halt::Refused(why)) => Ok(Decision::Refused { how, why }),
            Err(Halt::Failed(unprepared)) => Err(unprepared),
        }
    }

    async fn push<P, E, F, Fut>(&self, call: &Call<'_>, prepare: F) -> Result<Decision<P>, Halt<E>>
    where
        F: Fn(Purpose) -> Fut,
        Fut: Future<Output = Result<(Question, P), E>>,
    {
        let (mut question, _) = call.prepared(&prepare, Purpose::Ask, None).await?;
        let _waiting = self
            .waiting
            .try_acquire()
            .map_err(|_| Refusal::TooManyWaiting)?;
        let mut dialog = Pushed::new(call);
        for asked in 0..=Self::ASKED_AGAIN {
            call.place.leave();
            dialog.ask(&question, asked > 0).await?;
            call.unless_over(call.place.retake()).await?;
            let (again, plan) = call
                .prepared(&prepare, Purpose::Act, Some(How::DialogPushed))
                .await?;
            if again == question {
                return Ok(approved(plan, How::DialogPushed));
            }
            question = again;
        }
        Err(Halt::Refused(Refusal::KeepsChanging))
    }

    async fn hand_back<P, E, F, Fut>(
        &self,
        call: &Call<'_>,
        prepare: F,
    ) -> Result<Decision<P>, Halt<E>>
    where
        F: Fn(Purpose) -> Fut,
        Fut: Future<Output = Result<(Question, P), E>>,
    {
        let digest = CallDigest::new(call.tool, call.arguments);
        // Whatever a genuine state comes with, it is spent: one question, one answer. If the
        // read below fails, the person has to be asked again.
        let opened = call
            .request_state
            .and_then(|state| self.seal.open_for(state, digest).ok());
        let answered = match (opened, dialog::brought(call.input_responses)) {
            (Some(binding), Some(answer)) => answer.map(|()| Some(binding))?,
            _ => None,
        };
        let after_yes = answered.map(|_| How::DialogReturned);
        let purpose = Purpose::of(answered.is_some());
        let (question, plan) = call.prepared(&prepare, purpose, after_yes).await?;
        let binding = Binding::new(digest, &question);
        if answered == Some(binding) {
            return Ok(approved(plan, How::DialogReturned));
        }
        let state = self
            .seal
            .issue(&binding)
            .map_err(|_| Refusal::NoRandomness)?;
        let ask = dialog::returned(&question, answered.is_some(), state);
        Ok(Decision::Ask(Box::new(ask)))
    }

    async fn take_token<P, E, F, Fut>(
        &self,
        call: &Call<'_>,
        why: NobodyAsked,
        prepare: F,
    ) -> Result<Decision<P>, Halt<E>>
    where
        F: Fn(Purpose) -> Fut,
        Fut: Future<Output = Result<(Question, P), E>>,
    {
        let purpose = Purpose::of(call.confirm_token.is_some());
        let (question, plan) = call.prepared(&prepare, purpose, None).await?;
        let digest = CallDigest::new(call.tool, call.arguments);
        let binding = Binding::new(digest, &question);
        let brought = call
            .confirm_token
            .map(|token| self.tokens.spend(token, &binding));
        if brought == Some(Ok(())) {
            return Ok(approved(plan, How::Token));
        }
        let token = self
            .tokens
            .issue(&binding)
            .map_err(|_| Refusal::NoRandomness)?;
        let text = token::text(call.tool, &question, &token, why, brought.is_some());
        Ok(Decision::Token { text })
    }
}

impl Call<'_> {
    async fn prepared<P, E, F, Fut>(
        &self,
        prepare: &F,
        purpose: Purpose,
        after_yes: Option<How>,
    ) -> Result<(Question, P), Halt<E>>
    where
        F: Fn(Purpose) -> Fut,
        Fut: Future<Output = Result<(Question, P), E>>,
    {
        self.unless_over(prepare(purpose))
            .await?
            .map_err(|error| Halt::Failed(Unprepared { after_yes, error }))
    }

    /// What `work` comes to, unless the server stops or the call is cancelled first: from then on
    /// a yes counts for nothing, even one that is here already.
    async fn unless_over<T>(&self, work: impl Future<Output = T>) -> Result<T, Refusal> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(Refusal::Stopping),
            () = self.context.ct.cancelled() => Err(Refusal::Cancelled),
            output = work => Ok(output),
        }
    }
}

fn approved<P>(plan: P, how: How) -> Decision<P> {
    Decision::Approved {
        approval: Approval::granted(),
        plan,
        how,
    }
}

/// What ends a decision early.
enum Halt<E> {
    Refused(Refusal),
    /// The question could not be prepared.
    Failed(Unprepared<E>),
}

impl<E> From<Refusal> for Halt<E> {
    fn from(why: Refusal) -> Self {
        Self::Refused(why)
    }
}

#[cfg(test)]
mod tests;
