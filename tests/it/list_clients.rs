//! `list_clients` through the whole program.

use crate::support::{Server, in_each_era, structured, with_clients};
use serde_json::json;

#[test]
fn every_revision_lists_the_same_clients() {
    let sim = with_clients(3);
    in_each_era(|era| {
        let mut server = Server::of(&sim).era(era).start();
        let result = server.call("list_clients", json!({}));
        assert_eq!(structured(&result)["total"], 3, "{result}");
    });
}
