//! `list_clients`: all clients, filtered and sorted here, and read on from page to page.

use super::answer::{Entries, MARKER};
use super::arguments::Wrong;
use super::{Answer, Arguments, Failure, Hints, Run, Tool, schema};
use crate::untrusted::budget::MAX_CHARS;
use crate::wg_easy::fields::CLIENT;
use crate::wg_easy::record::{ClientList, Row, folded};
use crate::wg_easy::{Body, ClientId, WgEasy};
use serde_json::json;

/// The most clients in one answer, when `limit` asks for so many and they fit.
const MAX_LIMIT: u64 = 1_000;

/// The most characters one client may take up once an answer has become too long. A usual one takes
/// 900; one that somebody made long must not keep the others out.
const MAX_ENTRY: usize = 10_000;

/// Room for the numbers around the list, each with the most digits it can have.
const FRAME: usize = 400;

pub(super) static TOOL: Tool = Tool {
    name: "list_clients",
    title: "List clients",
    description: "Lists the WireGuard clients with status, addresses, last handshake and traffic. `filter` is a plain \
        substring of the name, whatever its case. Long lists come in parts: when the answer has nextOffset, call \
        again with the same filter and sort and with offset set to it.",
    essential: true,
    in_read_only_mode: true,
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    input: || {
        schema::arguments(
            &[
                (
                    "filter",
                    schema::text("Only clients whose name contains this text; no wildcards"),
                ),
                (
                    "sort",
                    json!({"type": "string", "enum": ["asc", "desc"], "description": "Sort by name; without it, wg-easy's own order"}),
                ),
                (
                    "offset",
                    schema::integer_within(
                        0,
                        ClientId::MAX,
                        "How many clients to skip: the nextOffset of the answer before; default 0",
                    ),
                ),
                (
                    "limit",
                    schema::integer_within(
                        1,
                        MAX_LIMIT,
                        "The most clients to return; default as many as fit",
                    ),
                ),
            ],
            &[],
        )
    },
    output: || {
        schema::answer(
            &[
                ("count", schema::integer("How many clients this answer has")),
                (
                    "clients",
                    schema::list(schema::record(CLIENT, "A client"), "The clients"),
                ),
                (
                    "total",
                    schema::integer("How many clients match the filter, in all parts together"),
                ),
                (
                    "nextOffset",
                    schema::integer("The offset of the next part; absent when this is the last"),
                ),
                (
                    "skipped",
                    schema::integer(
                        "How many entries were left out because they were no records or fit no answer; absent when none",
                    ),
                ),
            ],
            &["count", "clients", "total"],
        )
    },
    run: Run::Read(|arguments, wg_easy| Box::pin(run(arguments, wg_easy))),
};

async fn run(arguments: Arguments, wg_easy: WgEasy) -> Result<Answer, Failure> {
    // Before anything is sent: wrong arguments cost wg-easy nothing.
    let request = Request::read(&arguments)?;
    request.answer_from(wg_easy.clients().await?)
}

/// The answer to a call, made of the body of wg-easy's list: everything that the call does but the
/// exchange.
pub fn list_answer(arguments: &Arguments, body: Body) -> Result<Answer, Failure> {
    Request::read(arguments)?.answer_from(body)
}

/// What a call asks for.
struct Request {
    filter: Option<String>,
    descending: Option<bool>,
    offset: usize,
    limit: usize,
}

impl Request {
    fn read(arguments: &Arguments) -> Result<Self, Wrong> {
        arguments.only(&["filter", "sort", "offset", "limit"])?;
        let descending = match arguments.text("sort")? {
            None => None,
            Some("asc") => Some(false),
            Some("desc") => Some(true),
            Some(_) => return Err(Wrong("sort has to be asc or desc.".to_owned())),
        };
        let count = |number: Option<u64>, default| {
            number.map_or(default, |number| {
                usize::try_from(number).unwrap_or(usize::MAX)
            })
        };
        Ok(Self {
            filter: arguments.text("filter")?.map(folded),
            descending,
            offset: count(arguments.integer("offset", 0, ClientId::MAX)?, 0),
            limit: count(arguments.integer("limit", 1, MAX_LIMIT)?, usize::MAX),
        })
    }

    fn answer_from(&self, body: Body) -> Result<Answer, Failure> {
        Ok(self.answer(&ClientList::from_body(body)?))
    }

    /// The rows that match, in the order asked for.
    fn select<'a>(&self, list: &'a ClientList) -> Vec<Row<'a>> {
        if self.filter.is_none() && self.descending.is_none() {
            return list.rows().collect();
        }
        let mut rows: Vec<_> = list
            .rows()
            .map(|row| (row.folded_name(), row))
            .filter(|(name, _)| self.filter.as_ref().is_none_or(|part| name.contains(part)))
            .collect();
        match self.descending {
            Some(false) => rows.sort_by(|(a, _), (b, _)| a.cmp(b)),
            Some(true) => rows.sort_by(|(a, _), (b, _)| b.cmp(a)),
            None => {}
        }
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Takes rows until the next one does not fit. What is long is cut only once something does not.
    fn answer(&self, list: &ClientList) -> Answer {
        let rows = self.select(list);
        let room = MAX_CHARS - MARKER.len() - FRAME;
        let mut entries = Entries::default();
        let mut skipped = list.skipped();
        let mut next = self.offset.min(rows.len());
        for row in rows.iter().skip(self.offset) {
            if entries.len() == self.limit {
                break;
            }
            let Ok(record) = row.record() else {
                skipped += 1;
                next += 1;
                continue;
            };
            let entry = record.shape();
            if entries.push(entry, room, MAX_ENTRY) {
                next += 1;
            } else if entries.is_empty() {
                // Not even alone, not even cut: its field names alone are too long.
                skipped += 1;
                next += 1;
            } else {
                break;
            }
        }
        Answer::from_wg_easy()
            .with("count", entries.len())
            .with_entries("clients", entries)
            .with("total", rows.len())
            .with_some("nextOffset", (next < rows.len()).then_some(next))
            .with_some("skipped", (skipped > 0).then_some(skipped))
    }
}
