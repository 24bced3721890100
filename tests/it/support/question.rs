//! What a person is asked, in both of the ways in which that goes: as a request that is pushed while
//! the call waits, and as the result of a call that is then made once more.

use serde_json::{Value, json};

use super::{Server, schema};

/// What a call of a guarded tool leads to.
#[derive(Debug)]
pub enum Asked {
    /// A person is asked.
    Question(Question),
    /// The call is over: this is its result.
    Result(Value),
}

impl Asked {
    pub fn question(self) -> Question {
        match self {
            Self::Question(question) => question,
            Self::Result(result) => panic!("nobody was asked: {result}"),
        }
    }

    pub fn result(self) -> Value {
        match self {
            Self::Result(result) => result,
            Self::Question(question) => panic!("somebody was asked: {question:?}"),
        }
    }
}

/// A question that waits for an answer.
#[derive(Debug)]
pub struct Question {
    /// What the person reads.
    pub message: String,
    /// The schema of the form.
    pub form: Value,
    pub tool: String,
    pub arguments: Value,
    pub way: Way,
}

/// How a question reached the client.
#[derive(Debug)]
pub enum Way {
    /// As the request with this id, while the call with that id waits.
    Pushed { request: Value, call: i64 },
    /// As the result of the call, with this key and this state.
    Returned { key: String, state: String },
}

/// What a person does with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Confirms.
    Yes,
    /// Sends the form without having confirmed.
    Unconfirmed,
    Decline,
    Cancel,
}

impl Answer {
    pub fn to_value(self) -> Value {
        match self {
            Self::Yes => json!({"action": "accept", "content": {"confirm": true}}),
            Self::Unconfirmed => json!({"action": "accept", "content": {"confirm": false}}),
            Self::Decline => json!({"action": "decline"}),
            Self::Cancel => json!({"action": "cancel"}),
        }
    }
}

impl Server {
    /// Calls a tool, up to its question or its result.
    pub fn ask(&mut self, tool: &str, arguments: Value) -> Asked {
        let call = self.begin_call(tool, arguments.clone());
        self.asked(call, tool, arguments)
    }

    /// Calls a tool that has to ask.
    pub fn question(&mut self, tool: &str, arguments: Value) -> Question {
        self.ask(tool, arguments).question()
    }

    /// Answers a question, up to the next question or the result.
    pub fn answer(&mut self, question: &Question, answer: Answer) -> Asked {
        self.answer_with(question, answer.to_value())
    }

    /// The same with any answer at all.
    pub fn answer_with(&mut self, question: &Question, answer: Value) -> Asked {
        let (tool, arguments) = (&question.tool, question.arguments.clone());
        let call = match &question.way {
            Way::Pushed { request, call } => {
                self.send(&json!({"jsonrpc": "2.0", "id": request, "result": answer}));
                *call
            }
            Way::Returned { key, state } => self.request(
                "tools/call",
                json!({
                    "name": tool,
                    "arguments": arguments,
                    "requestState": state,
                    "inputResponses": {key: answer},
                }),
            ),
        };
        self.asked(call, tool, arguments)
    }

    /// Calls a guarded tool, says yes, and gives the result.
    pub fn call_and_confirm(&mut self, tool: &str, arguments: Value) -> Value {
        let question = self.question(tool, arguments);
        self.answer(&question, Answer::Yes).result()
    }

    /// Follows a call that was begun, up to its question or its result.
    pub fn asked(&mut self, call: i64, tool: &str, arguments: Value) -> Asked {
        let message =
            self.take(|message| message["method"] == "elicitation/create" || message["id"] == call);
        let (params, way) = if message["method"] == "elicitation/create" {
            let request = message["id"].clone();
            (message["params"].clone(), Way::Pushed { request, call })
        } else {
            let result = &message["result"];
            assert!(result.is_object(), "{message}");
            if result["resultType"] != "input_required" {
                schema::check(tool, result);
                return Asked::Result(result.clone());
            }
            let requests = result["inputRequests"].as_object().unwrap();
            assert_eq!(requests.len(), 1, "{message}");
            let (key, request) = requests.iter().next().unwrap();
            assert_eq!(request["method"], "elicitation/create");
            let way = Way::Returned {
                key: key.clone(),
                state: result["requestState"].as_str().unwrap().to_owned(),
            };
            (request["params"].clone(), way)
        };
        Asked::Question(Question {
            message: params["message"].as_str().unwrap().to_owned(),
            form: params["requestedSchema"].clone(),
            tool: tool.to_owned(),
            arguments,
            way,
        })
    }
}
