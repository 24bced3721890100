//! What becomes of a list of clients between wg-easy's body and the answer.
//!
//! The time is that of the processor, as the kernel accounts it to this thread: the work is all
//! computation, and what else the machine does in the meantime is not part of it.

#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on ends")]

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Map, Value, json};
use wg_easy_mcp::tools::{Arguments, list_answer};
use wg_easy_mcp::untrusted::{Untrusted, budget};
use wg_easy_mcp::wg_easy::record::ClientList;

const SIZES: [usize; 3] = [100, 1_000, 7_000];

/// A list as wg-easy sends it: 4.7 MB with 7,000 clients.
fn body(clients: usize) -> Vec<u8> {
    let row = |id: usize| {
        let (third, fourth) = (id / 250, id % 250 + 2);
        format!(
            r#"{{"id":{id},"userId":1,"interfaceId":"wg0","name":"client-{id}","ipv4Address":"10.8.{third}.{fourth}","ipv6Address":"fdcc:ad94:bacf:61a4::cafe:{id:x}","preUp":"","postUp":"","preDown":"","postDown":"","publicKey":"hG7T3frJe4bmj0pQp9o3fm0eOF62CowfVCwf/Qb8mTQ=","expiresAt":null,"allowedIps":null,"serverAllowedIps":[],"firewallIps":null,"persistentKeepalive":0,"mtu":1420,"jC":7,"jMin":10,"jMax":1000,"i1":null,"i2":null,"i3":null,"i4":null,"i5":null,"dns":null,"serverEndpoint":null,"enabled":true,"createdAt":"2026-11-30T20:33:48.000Z","updatedAt":"2026-11-30T20:40:32.000Z","oneTimeLink":null,"latestHandshakeAt":"2026-11-30T21:02:11.000Z","endpoint":"198.51.100.7:51820","transferRx":123456789,"transferTx":987654321}}"#
        )
    };
    let rows: Vec<_> = (1..=clients).map(row).collect();
    format!("[{}]", rows.join(",")).into_bytes()
}

/// A whole call but for the exchange: the first part of the list, as many clients as an answer holds.
fn first_part(body: Vec<u8>) {
    answer(body, json!({}));
}

/// The same with all names compared: every row is looked into.
fn filtered_and_sorted(body: Vec<u8>) {
    answer(body, json!({"filter": "Client-", "sort": "desc"}));
}

fn answer(body: Vec<u8>, arguments: Value) {
    let arguments = Arguments::new(arguments.as_object().unwrap().clone());
    let answer = list_answer(&arguments, Untrusted::new(body)).unwrap();
    std::hint::black_box(answer.into_result().unwrap());
}

/// More than any call does: every client is read, shaped, cleaned and redacted, and all of them
/// together are cut to the budget.
fn every_client(body: Vec<u8>) {
    let list = ClientList::from_body(Untrusted::new(body)).unwrap();
    let clients: Vec<Value> = list
        .rows()
        .map(|row| row.record().unwrap().shape().into_value())
        .collect();
    let mut answer = Map::from_iter([("clients".to_owned(), Value::from(clients))]);
    std::hint::black_box(budget::fit(&mut answer, budget::MAX_CHARS)).unwrap();
}

/// Work on a list's body, and its name.
type Work = (&'static str, fn(Vec<u8>));

/// Nanoseconds on a processor.
struct ProcessorTime;

impl Measurement for ProcessorTime {
    type Intermediate = u64;
    type Value = u64;

    fn start(&self) -> u64 {
        let account = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        account.split(' ').next().unwrap().parse().unwrap()
    }

    fn end(&self, began: u64) -> u64 {
        self.start() - began
    }

    fn add(&self, a: &u64, b: &u64) -> u64 {
        a + b
    }

    fn zero(&self) -> u64 {
        0
    }

    #[expect(clippy::cast_precision_loss, reason = "criterion calculates in f64")]
    fn to_f64(&self, nanoseconds: &u64) -> f64 {
        *nanoseconds as f64
    }

    /// That of ordinary time: the unit is the same.
    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

fn listing(criterion: &mut Criterion<ProcessorTime>) {
    let what: [Work; 3] = [
        ("first part", first_part),
        ("filtered and sorted", filtered_and_sorted),
        ("every client", every_client),
    ];
    for (name, run) in what {
        let mut group = criterion.benchmark_group(name);
        for clients in SIZES {
            let body = body(clients);
            group.throughput(Throughput::Bytes(body.len() as u64));
            group.bench_with_input(
                BenchmarkId::from_parameter(clients),
                &body,
                |bencher, body| {
                    bencher.iter_batched(|| body.clone(), run, BatchSize::LargeInput);
                },
            );
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ProcessorTime).sample_size(30);
    targets = listing
}
criterion_main!(benches);
