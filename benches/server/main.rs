//! The built program against a simulated wg-easy: what a call costs over the bare exchange, how long a
//! start takes, what a session saves, and what memory goes into a list.
//!
//! `cargo bench --bench server` runs all of it, with a word such as `growth` after `--` that part alone.
//! Numbers are for looking at: nothing here fails because a machine is slow.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark that cannot go on ends, and what it prints is what it is for"
)]

mod bare;
mod program;

use bare::Bare;
use program::Program;
use serde_json::json;
use std::time::{Duration, Instant};
use wg_easy_sim::{Fault, Matcher, Settings, Simulator};

/// What an argon2 of wg-easy's costs, more or less.
const AUTH_COST: Duration = Duration::from_millis(120);

const GROWTH: [usize; 7] = [10, 100, 500, 1_000, 2_500, 5_000, 10_000];

/// Names a part, and runs it.
type Part = (&'static str, fn());

const PARTS: [Part; 6] = [
    ("start", start),
    ("overhead", overhead),
    ("session", session),
    ("memory", memory),
    ("growth", growth),
    ("hostile", hostile),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Without it this is a test run, which has nothing to measure.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let wanted: Vec<_> = arguments.iter().filter(|a| !a.starts_with("--")).collect();
    for (name, run) in PARTS {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            println!("\n## {name}");
            run();
        }
    }
}

/// From the start of the process to its answer to `initialize`.
fn start() {
    let sim = simulator(1);
    let times = (0..60).map(|_| {
        let begin = Instant::now();
        let program = Program::start(&sim, "auto");
        let time = begin.elapsed();
        drop(program);
        time
    });
    println!(
        "start to the answer to initialize: {}",
        spread(times.collect())
    );
}

/// A `get_client` call, and the exchange with wg-easy that is in it, by turns.
fn overhead() {
    for auth in ["session", "basic"] {
        let sim = simulator(10);
        let mut program = Program::start(&sim, auth);
        let mut bare = Bare::new(&sim, auth);
        let (mut exchanges, mut calls) = (Vec::new(), Vec::new());
        for _ in 0..1_000 {
            let begin = Instant::now();
            bare.get("/api/client/1");
            exchanges.push(begin.elapsed());
            let begin = Instant::now();
            program.call("get_client", &json!({"clientId": 1}));
            calls.push(begin.elapsed());
        }
        let overhead = median(&mut calls).saturating_sub(median(&mut exchanges));
        println!("{auth}: bare exchange {}", spread(exchanges));
        println!("{auth}: get_client    {}", spread(calls));
        println!(
            "{auth}: overhead, as the difference of the medians: {}",
            shown(overhead)
        );
    }
}

/// Listings with a session and with Basic, where a look at a password takes its time.
fn session() {
    for auth in ["session", "basic"] {
        let sim = Simulator::start(Settings {
            clients: 10,
            auth_cost: AUTH_COST,
            ..Settings::default()
        });
        let mut program = Program::start(&sim, auth);
        let begin = Instant::now();
        for _ in 0..100 {
            program.call("list_clients", &json!({}));
        }
        let hundred = begin.elapsed();
        let begin = Instant::now();
        for _ in 0..20 {
            program.send_call("list_clients", &json!({}));
        }
        for _ in 0..20 {
            program.receive();
        }
        println!(
            "{auth}: 100 listings one after the other {}, 20 at once {}; {} looks at a password",
            shown(hundred),
            shown(begin.elapsed()),
            sim.password_checks()
        );
    }
}

/// Resident memory: at rest, after a call, and the most while a long list is answered.
fn memory() {
    let sim = simulator(10);
    let mut program = Program::start(&sim, "session");
    // What ends of the start, such as freed pages, has ended then.
    std::thread::sleep(Duration::from_millis(300));
    println!("idle after initialize: {}", mib(program.memory("VmRSS")));
    program.call("get_client", &json!({"clientId": 1}));
    println!("idle after a call: {}", mib(program.memory("VmRSS")));

    for (what, arguments) in [
        ("list_clients", json!({})),
        (
            "list_clients, filtered and sorted",
            json!({"filter": "C", "sort": "asc"}),
        ),
    ] {
        let (sim, body) = frozen(7_000);
        let mut program = Program::start(&sim, "session");
        let before = program.memory("VmRSS");
        for _ in 0..5 {
            program.call("list_clients", &arguments);
        }
        let peak = program.memory("VmHWM");
        #[expect(clippy::cast_precision_loss, reason = "a ratio to two digits")]
        let ratio = (peak * 1024) as f64 / body as f64;
        println!(
            "7,000 clients, body {}: {what}: peak {} ({ratio:.2} times the body), at rest before {}",
            mib(body / 1024),
            mib(peak),
            mib(before)
        );
    }
}

/// Time and memory against the number of clients.
fn growth() {
    println!("| clients | body | exchange | list_clients | filtered, sorted | peak memory |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    for clients in GROWTH {
        let (sim, body) = frozen(clients);
        let mut program = Program::start(&sim, "session");
        let mut bare = Bare::new(&sim, "session");
        let mut times = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..15 {
            let begin = Instant::now();
            bare.get("/api/client");
            times[0].push(begin.elapsed());
            for (times, arguments) in times[1..]
                .iter_mut()
                .zip([json!({}), json!({"filter": "c", "sort": "asc"})])
            {
                let begin = Instant::now();
                program.call("list_clients", &arguments);
                times.push(begin.elapsed());
            }
        }
        let [exchange, plain, sorted] = times.each_mut().map(|times| shown(median(times)));
        println!(
            "| {clients} | {} | {exchange} | {plain} | {sorted} | {} |",
            mib(body / 1024),
            mib(program.memory("VmHWM"))
        );
    }
}

/// Lists as long as a body may be, made to be hard on the reader.
fn hostile() {
    const MAX_BODY: usize = 8 << 20;
    let list = |row: &str| {
        let rows = vec![row; (MAX_BODY - 2) / (row.len() + 1)];
        format!("[{}]", rows.join(","))
    };
    let fields = |count: usize, value: &str| {
        let fields: Vec<_> = (0..count).map(|n| format!("\"f{n}\":{value}")).collect();
        format!("{{\"id\":1,{}}}", fields.join(","))
    };
    let nested = format!("{{\"id\":1,\"new\":{}{}}}", "[".repeat(60), "]".repeat(60));
    let bodies = [
        ("empty rows", list("{}")),
        ("rows of one field", list("{\"id\":1}")),
        ("rows of 9,000 fields", list(&fields(9_000, "0"))),
        ("one row of fields", list(&fields(700_000, "0"))),
        ("nested rows", list(&nested)),
        (
            "escaped text",
            list(&format!("{{\"name\":\"{}\"}}", "\\u202e".repeat(60_000))),
        ),
    ];
    for (what, body) in bodies {
        let sim = simulator(1);
        let length = body.len();
        sim.fault(
            Matcher::new("GET", "/api/client").always(),
            Fault::json(body),
        );
        for arguments in [json!({}), json!({"filter": "c", "sort": "asc"})] {
            let mut program = Program::start(&sim, "session");
            let begin = Instant::now();
            program.call("list_clients", &arguments);
            println!(
                "{what}, {}: list_clients {arguments} {}, peak {}",
                mib(length / 1024),
                shown(begin.elapsed()),
                mib(program.memory("VmHWM"))
            );
        }
    }
}

fn simulator(clients: usize) -> Simulator {
    Simulator::start(Settings {
        clients,
        ..Settings::default()
    })
}

/// A simulator that answers with a list of so many clients at no cost to itself, and its length.
fn frozen(clients: usize) -> (Simulator, usize) {
    let sim = simulator(clients);
    let list = Bare::new(&sim, "basic").get("/api/client");
    let length = list.len();
    sim.fault(
        Matcher::new("GET", "/api/client").always(),
        Fault::json(list),
    );
    (sim, length)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn spread(mut times: Vec<Duration>) -> String {
    let median = median(&mut times);
    let ninety = times[times.len() * 9 / 10];
    let (least, count) = (times[0], times.len());
    format!(
        "median {}, least {}, 90 % below {} ({count} times)",
        shown(median),
        shown(least),
        shown(ninety)
    )
}

fn shown(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn mib(kib: usize) -> String {
    format!("{}.{:02} MiB", kib / 1024, kib % 1024 * 100 / 1024)
}
