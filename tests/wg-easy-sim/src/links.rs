//! One-time links: minted without an answer, found in the list, spent at `/cnf/{token}`.

use jiff::{SignedDuration, Timestamp};

use crate::{
    auth::User,
    call::Call,
    client::OneTimeLink,
    clients::{client_id, download, may_change},
    keys,
    reply::{Reply, Thrown},
    state::{State, whole_second},
};

const LIFETIME: SignedDuration = SignedDuration::from_mins(5);
const AFTER_USE: SignedDuration = SignedDuration::from_secs(10);

/// `POST /api/client/{id}/generateOneTimeLink`. A link that exists is kept and lives longer.
pub(crate) fn generate(state: &mut State, user: User, id: &str) -> Result<Reply, Thrown> {
    let id = client_id(id)?;
    may_change(state, user, id)?;
    let now = state.now();
    let client = id
        .and_then(|id| state.clients.get_mut(&id))
        .ok_or_else(Thrown::server_error)?;
    let fresh = OneTimeLink {
        token: token(client.id),
        expires_at: now,
        created_at: whole_second(now),
        updated_at: now,
    };
    let link = client.one_time_link.get_or_insert(fresh);
    link.expires_at = milliseconds(now + LIFETIME);
    link.updated_at = whole_second(now);
    state.applied += 1;
    Ok(Reply::success())
}

/// `/cnf/{token}`, by any method and without a login.
pub(crate) fn fetch(state: &mut State, call: &Call, token: &str) -> Reply {
    let now = state.now();
    let holds_it = |link: &OneTimeLink| link.token == token;
    let holder = state
        .clients
        .values_mut()
        .find(|client| client.one_time_link.as_ref().is_some_and(holds_it));
    let Some(client) = holder else {
        return refuse(call, now, 404, "Invalid One Time Link");
    };
    let Some(link) = &mut client.one_time_link else {
        return refuse(call, now, 404, "Invalid One Time Link");
    };
    if now > link.expires_at {
        return refuse(call, now, 410, "One Time Link has expired");
    }
    link.expires_at = milliseconds(now + AFTER_USE);
    link.updated_at = whole_second(now);
    let id = client.id;
    state.clients.get(&id).map_or_else(
        || refuse(call, now, 404, "Invalid One Time Link"),
        |client| download(state, client),
    )
}

fn refuse(call: &Call, now: Timestamp, status: u16, message: &str) -> Reply {
    if call.wants_json() {
        Reply::error(call, &Thrown::new(status, message))
    } else {
        Reply::to_page(now, "/login", Some(message))
    }
}

fn milliseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond())
        .expect("a millisecond of a valid time is valid")
}

/// The checksum of the id and one of a thousand numbers.
fn token(client: u64) -> String {
    let variant = u32::from_le_bytes(keys::random()) % 1000;
    format!("{:x}", crc32(format!("{client}-{variant}").as_bytes()))
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| {
        if crc & 1 == 1 {
            (crc >> 1) ^ 0xedb8_8320
        } else {
            crc >> 1
        }
    };
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), step)
    })
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn tokens_are_the_measured_checksum() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(format!("{:x}", crc32(b"6-744")), "1a1398f");
    }
}
