//! A client of the built server: it starts the program, speaks MCP with it in each revision of the
//! protocol, and looks at everything that comes out.
//!
//! - `era`: what a revision of the protocol has in each message
//! - `fetch`: asking a simulator itself
//! - `server`: the running program
//! - `pipes`: what comes out of it, read in threads
//! - `result`: reading what a tool answers with
//! - `schema`: holding every answer against what its tool promises
//! - `question`: what a person is asked, in both of the ways in which that goes

mod era;
mod fetch;
mod pipes;
mod question;
mod result;
mod schema;
mod server;

pub use era::{Capabilities, Era};
pub use fetch::fetch;
pub use question::{Answer, Asked, Question, Way};
pub use result::{data, is_error, refusal, structured, text, token};
pub use server::{Builder, Server, error};

use std::time::Duration;
use wg_easy_sim::{Account, Settings, Simulator};

/// How long anything may take before a test is given up. It is no measure of speed.
pub const PATIENCE: Duration = Duration::from_secs(40);

/// The login of the simulators, to be found in nothing that the server says.
pub const USERNAME: &str = "operator-q7Zk";
/// See [`USERNAME`].
pub const PASSWORD: &str = "correct-horse:battery-9Xw";

/// A simulator with a login that does not occur by chance.
pub fn simulator(settings: Settings) -> Simulator {
    Simulator::start(Settings {
        account: Account {
            username: USERNAME.to_owned(),
            password: PASSWORD.to_owned(),
            ..settings.account
        },
        ..settings
    })
}

/// A simulator with so many clients.
pub fn with_clients(clients: usize) -> Simulator {
    simulator(Settings {
        clients,
        ..Settings::default()
    })
}

/// Runs `test` in each revision of the protocol, at the same time.
pub fn in_each_era(test: impl Fn(Era) + Sync) {
    std::thread::scope(|scope| {
        let running = Era::ALL.map(|era| (era, scope.spawn(|| test(*era))));
        for (era, test) in running {
            assert!(test.join().is_ok(), "failed in {era:?}");
        }
    });
}
