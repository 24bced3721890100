//! MCP: lists the tools, takes calls, and sees to it that each gets an answer. It knows no tool by name.

use crate::approval::{Call, Decision, Gate, How, Mode, Place, Purpose, Refusal, Unprepared};
use crate::config::{self, Config, Setup};
use crate::diagnostics::{self, Audit, Outcome};
use crate::tools::{self, Answer, Arguments, Boxed, Done, Failure, Prepared, Run, Tool, answer};
use crate::transport::KNOWN_METHODS;
use crate::wg_easy::{SetupError, WgEasy};
use futures_util::FutureExt as _;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, Implementation, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The most calls in progress. Each may hold a whole body of wg-easy's in memory; a call that waits
/// for a person holds none and is counted by the gate.
const IN_PROGRESS: usize = 64;

/// How long a client may keep the tool list: a day. It cannot change while the process lives.
const LIST_TTL_MS: u64 = 24 * 60 * 60 * 1000;

/// The revisions of the protocol that are spoken.
const REVISIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// The server of one session.
pub struct Server {
    tools: Vec<&'static Tool>,
    /// What `tools/list` answers. It is built once and its schemas are shared, so that answers that wait
    /// to be written hold little.
    definitions: Vec<rmcp::model::Tool>,
    backend: Backend,
    gate: Gate,
    in_progress: Arc<Semaphore>,
    ending: CancellationToken,
    changes: TaskTracker,
}

/// What a call works on.
enum Backend {
    /// The instance.
    Ready(WgEasy),
    /// None is configured: what every call answers.
    Missing(String),
}

/// Why a server cannot be set up.
#[derive(Debug)]
#[non_exhaustive]
pub enum Unready {
    /// There can be no connection.
    Connection(SetupError),
    /// The operating system gives no random numbers.
    NoRandomness,
}

impl Server {
    /// A server for what `config` says, of `tools` those it names. `ending` is cancelled when the
    /// session comes to its end; changes that have been sent by then go on in `changes`.
    pub fn new(
        config: &Config,
        tools: &[&'static Tool],
        ending: CancellationToken,
        changes: TaskTracker,
    ) -> Result<Self, Unready> {
        let backend = match &config.connection {
            Setup::Ready(connection) => {
                Backend::Ready(WgEasy::new(connection).map_err(Unready::Connection)?)
            }
            Setup::Missing(variables) => Backend::Missing(config::setup_instructions(variables)),
        };
        let mode = match (config.elicitation, config.require_dialog) {
            (false, _) => Mode::TokenOnly,
            (true, true) => Mode::DialogOnly,
            (true, false) => Mode::Dialog,
        };
        let tools: Vec<_> = tools
            .iter()
            .copied()
            .filter(|tool| config.tools.contains(&tool.name))
            .collect();
        Ok(Self {
            definitions: tools.iter().map(|tool| tool.definition()).collect(),
            tools,
            backend,
            gate: Gate::new(mode).map_err(|_| Unready::NoRandomness)?,
            in_progress: Arc::new(Semaphore::new(IN_PROGRESS)),
            ending,
            changes,
        })
    }

    /// The instance that calls work on, if one is configured.
    pub fn wg_easy(&self) -> Option<WgEasy> {
        match &self.backend {
            Backend::Ready(wg_easy) => Some(wg_easy.clone()),
            Backend::Missing(_) => None,
        }
    }

    async fn call(
        &self,
        tool: &'static Tool,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let wg_easy = match &self.backend {
            Backend::Ready(wg_easy) => wg_easy.clone(),
            Backend::Missing(instructions) => return answer::error(instructions.clone()).into(),
        };
        let Some(place) = Place::take(&self.in_progress) else {
            return answer::error(format!(
                "{IN_PROGRESS} calls are in progress already, and this one was not begun. Wait for some of them \
                 to be answered, then call again."
            ))
            .into();
        };
        let arguments = Arguments::new(request.arguments.clone().unwrap_or_default());
        match &tool.run {
            Run::Read(read) => {
                let reading = read(arguments, wg_easy);
                tokio::select! {
                    answer = reading => respond(answer).into(),
                    () = context.ct.cancelled() => answer::error("The call was cancelled.").into(),
                    () = self.ending.cancelled() => answer::error("The server was stopped.").into(),
                }
            }
            Run::Withdraw(withdraw) => {
                // A change that has not had its turn ends with its call; one that has, goes on.
                let turn = tokio::select! {
                    turn = wg_easy.turn() => turn,
                    () = context.ct.cancelled() => return answer::error("The call was cancelled.").into(),
                };
                let turn = match turn {
                    Ok(turn) => turn,
                    Err(error) => return answer::error(Failure::from(error).to_string()).into(),
                };
                let changing = withdraw(arguments, wg_easy, turn);
                let change = self.changes.spawn(async move {
                    let _place = place;
                    changing.await
                });
                finish(change, &context).await
            }
            Run::Guarded(prepare) => {
                let asked = Asked {
                    tool,
                    prepare: *prepare,
                    arguments,
                    request,
                    place,
                };
                self.ask(asked, wg_easy, context).await
            }
        }
    }

    /// Asks, and acts only with the approval in hand.
    async fn ask(
        &self,
        asked: Asked,
        wg_easy: WgEasy,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let Asked {
            tool,
            prepare,
            arguments,
            request,
            place,
        } = asked;
        let client = arguments.client_id().ok().map(|id| id.as_u64());
        let record = move |client, how, decision, outcome| {
            diagnostics::audit(&Audit {
                tool: tool.name,
                client,
                how,
                decision,
                outcome,
            });
        };
        let call = Call {
            tool: tool.name,
            arguments: arguments.as_object(),
            confirm_token: match arguments.text("confirm_token") {
                Ok(token) => token,
                Err(wrong) => return answer::error(Failure::from(wrong).to_string()).into(),
            },
            context: &context,
            input_responses: request.input_responses.as_ref(),
            request_state: request.request_state.as_deref(),
            stop: &self.ending,
            place: &place,
        };
        let looking = |purpose| {
            let (arguments, wg_easy) = (arguments.clone(), wg_easy.clone());
            async move {
                // What is looked at for the last time must not be changed by another call before this
                // one has acted on it.
                let turn = match purpose {
                    Purpose::Act => Some(wg_easy.turn().await?),
                    Purpose::Ask => None,
                };
                let (question, act) = prepare(arguments, wg_easy).await?;
                Ok::<_, Failure>((question, (act, turn)))
            }
        };
        match self.gate.decide(&call, looking).await {
            Ok(Decision::Approved {
                approval,
                plan: (act, turn),
                how,
            }) => {
                let how = in_the_log(how);
                // The change and its audit line outlive a call that is cancelled now.
                let change = self.changes.spawn(async move {
                    let approved = diagnostics::Decision::Approved;
                    let _place = place;
                    let Some(turn) = turn else {
                        // The gate approves nothing but what was prepared to act.
                        return Err(Failure::Bug);
                    };
                    let acting = AssertUnwindSafe(act(approval, turn)).catch_unwind();
                    match acting.await {
                        Ok(Done {
                            outcome,
                            created,
                            answer,
                        }) => {
                            record(created.or(client), how, approved, outcome);
                            answer
                        }
                        Err(_panic) => {
                            record(client, how, approved, Outcome::Unknown);
                            Err(Failure::Bug)
                        }
                    }
                });
                finish(change, &context).await
            }
            Ok(Decision::Ask(question)) => (*question).into(),
            Ok(Decision::Token { text }) => answer::error(text).into(),
            Ok(Decision::Refused { how, why }) => {
                let how = how.map_or(diagnostics::How::NotAsked, in_the_log);
                record(client, how, decided(why), Outcome::NotApplied);
                answer::error(why.to_string()).into()
            }
            Err(Unprepared { after_yes, error }) => {
                if let Some(how) = after_yes {
                    let approved = diagnostics::Decision::Approved;
                    record(client, in_the_log(how), approved, Outcome::NotApplied);
                }
                answer::error(error.to_string()).into()
            }
        }
    }
}

/// A guarded call.
struct Asked {
    tool: &'static Tool,
    prepare: fn(Arguments, WgEasy) -> Boxed<Prepared>,
    arguments: Arguments,
    request: CallToolRequestParams,
    place: Place,
}

/// Waits for a change that is carried to its end whether or not anyone waits.
async fn finish(
    change: tokio::task::JoinHandle<Result<Answer, Failure>>,
    context: &RequestContext<RoleServer>,
) -> CallToolResponse {
    tokio::select! {
        done = change => respond(done.unwrap_or(Err(Failure::Bug))).into(),
        () = context.ct.cancelled() => answer::error("The call was cancelled; the change goes on.").into(),
    }
}

fn respond(answer: Result<Answer, Failure>) -> CallToolResult {
    answer
        .and_then(|answer| answer.into_result().map_err(Failure::from))
        .unwrap_or_else(|failure| answer::error(failure.to_string()))
}

fn in_the_log(how: How) -> diagnostics::How {
    match how {
        How::DialogPushed => diagnostics::How::DialogPushed,
        How::DialogReturned => diagnostics::How::DialogReturned,
        How::Token => diagnostics::How::Token,
    }
}

fn decided(why: Refusal) -> diagnostics::Decision {
    match why {
        Refusal::Declined => diagnostics::Decision::Declined,
        Refusal::NoAnswer | Refusal::Cancelled | Refusal::Stopping => {
            diagnostics::Decision::NoAnswer
        }
        _ => diagnostics::Decision::Refused,
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("wg-easy-mcp", env!("CARGO_PKG_VERSION"))
                    .with_title("wg-easy")
                    .with_description(env!("CARGO_PKG_DESCRIPTION"))
                    .with_website_url(env!("CARGO_PKG_REPOSITORY")),
            )
            .with_instructions(tools::instructions(&self.tools))
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(REVISIONS)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        Ok(
            DiscoverResult::from_server_info(REVISIONS.to_vec(), self.get_info())
                .with_ttl_ms(LIST_TTL_MS)
                .with_cache_scope(CacheScope::Private),
        )
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params(
                "The list has one page, so there is no cursor",
                None,
            ));
        }
        // Private: which tools there are depends on how this server was started.
        Ok(ListToolsResult::with_all_items(self.definitions.clone())
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == request.name) else {
            return Err(ErrorData::invalid_params(
                "Unknown tool; tools/list has the names",
                None,
            ));
        };
        // rmcp would leave the request of a handler that panics without an answer.
        let calling = AssertUnwindSafe(self.call(tool, request, context)).catch_unwind();
        Ok(calling
            .await
            .unwrap_or_else(|_panic| answer::error(Failure::Bug.to_string()).into()))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A known method ends up here when its parameters do not have their shape.
        Err(if KNOWN_METHODS.contains(&request.method.as_str()) {
            ErrorData::invalid_params(
                "The parameters do not have the shape this method takes",
                None,
            )
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Unknown method", None)
        })
    }
}

#[cfg(test)]
mod tests;
