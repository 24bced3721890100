//! The routes below `/api/client`.

use crate::{
    auth::{User, denied},
    call::{Call, percent_decode},
    client::Client,
    config, filter,
    number::js_number,
    older, qr,
    reply::{Reply, Thrown},
    state::{State, whole_second},
    validation::{Issues, is_malformed, object},
};

/// `GET /api/client?filter&sort`.
pub(crate) fn list(state: &State, call: &Call, user: User) -> Result<Reply, Thrown> {
    let (filters, sorts) = (call.parameters("filter"), call.parameters("sort"));
    let mut issues = Vec::new();
    if filters.len() > 1 {
        issues.push("Invalid input: expected string, received array".to_owned());
    } else if filters.iter().any(|filter| is_malformed(filter)) {
        issues.push("String is malformed".to_owned());
    }
    let descending = sorts.iter().any(|sort| sort == "desc");
    if sorts.len() > 1 || sorts.iter().any(|sort| sort != "asc" && sort != "desc") {
        issues.push(r#"Invalid option: expected one of "asc"|"desc""#.to_owned());
    }
    if !issues.is_empty() {
        return Err(Thrown::validation(&issues));
    }
    let too_many = state
        .settings
        .list_limit
        .is_some_and(|limit| state.clients.len() > limit);
    if state.tunnel_down || too_many {
        return Err(Thrown::server_error());
    }
    let pattern = filters
        .first()
        .filter(|filter| !filter.is_empty())
        .map(|filter| format!("%{}%", filter.to_lowercase()));
    let visible = |client: &&Client| user.id() == 1 || client.user_id == user.id();
    let matching = |client: &&Client| {
        pattern
            .as_deref()
            .is_none_or(|pattern| filter::matches(client, pattern))
    };
    let mut rows: Vec<&Client> = state
        .clients
        .values()
        .filter(visible)
        .filter(matching)
        .collect();
    // By bytes, ties by id in both directions.
    rows.sort_by(|a, b| {
        if descending {
            b.name.cmp(&a.name)
        } else {
            a.name.cmp(&b.name)
        }
    });
    let mut out = String::with_capacity(rows.len() * 700 + 2);
    out.push('[');
    for (index, client) in rows.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        client.write_row(&mut out);
    }
    out.push(']');
    Ok(Reply::json(older::leave_out(
        out,
        &state.settings.missing_fields,
    )))
}

/// `POST /api/client`.
pub(crate) fn create(state: &mut State, call: &Call, user: User) -> Result<Reply, Thrown> {
    user.must_be_admin()?;
    let body = object(call)?;
    let mut issues = Issues::new(&body, call.language());
    let name = issues.text("name", "Name", 1);
    let expires_at = issues.nullable_text("expiresAt", "Expires At");
    issues.finish()?;
    let id = state
        .create(name, expires_at)
        .ok_or_else(Thrown::server_error)?;
    state.applied += 1;
    reload(state)?;
    Ok(Reply::json(format!(
        r#"{{"success":true,"clientId":{id}}}"#
    )))
}

/// `GET /api/client/{id}`.
pub(crate) fn get(state: &State, user: User, id: &str) -> Result<Reply, Thrown> {
    let client = existing(state, user, id)?;
    if state.tunnel_down {
        return Err(Thrown::server_error());
    }
    Ok(Reply::json(older::leave_out(
        client.record(),
        &state.settings.missing_fields,
    )))
}

/// `POST /api/client/{id}`: replaces everything a caller may set.
pub(crate) fn update(
    state: &mut State,
    call: &Call,
    user: User,
    id: &str,
) -> Result<Reply, Thrown> {
    let id = client_id(id)?;
    let mut body = object(call)?;
    // An unknown id is checked like any other and then changes nothing.
    let mut changed = id
        .and_then(|id| state.clients.get(&id))
        .cloned()
        .unwrap_or_else(|| state.blank_client());
    older::fill_in(&mut body, &changed, &state.settings.missing_fields);
    let mut issues = Issues::new(&body, call.language());
    issues.update(&mut changed);
    issues.finish()?;
    may_change(state, user, id)?;
    if state.refuses_addresses(&changed) {
        return Err(Thrown::server_error());
    }
    if state.clients.contains_key(&changed.id) {
        changed.updated_at = whole_second(state.now());
        state.clients.insert(changed.id, changed);
        state.applied += 1;
    }
    reload(state)?;
    Ok(Reply::success())
}

/// `POST /api/client/{id}/enable` and `/disable`.
pub(crate) fn toggle(
    state: &mut State,
    user: User,
    id: &str,
    enabled: bool,
) -> Result<Reply, Thrown> {
    let id = client_id(id)?;
    may_change(state, user, id)?;
    let now = state.now();
    if let Some(client) = id.and_then(|id| state.clients.get_mut(&id)) {
        if enabled && client.is_expired(now) {
            return Err(Thrown::new(
                422,
                "Client is expired. Please update the expiration date first.",
            ));
        }
        client.enabled = enabled;
        client.updated_at = whole_second(now);
        state.applied += 1;
    }
    reload(state)?;
    Ok(Reply::success())
}

/// `DELETE /api/client/{id}`.
pub(crate) fn delete(state: &mut State, user: User, id: &str) -> Result<Reply, Thrown> {
    user.must_be_admin()?;
    let id = client_id(id)?;
    if id.and_then(|id| state.clients.remove(&id)).is_some() {
        state.applied += 1;
    }
    reload(state)?;
    Ok(Reply::success())
}

/// `GET /api/client/{id}/configuration`.
pub(crate) fn configuration(state: &State, user: User, id: &str) -> Result<Reply, Thrown> {
    Ok(download(state, existing(state, user, id)?))
}

/// A configuration as a file.
pub(crate) fn download(state: &State, client: &Client) -> Reply {
    let mut reply = Reply::new(
        200,
        "application/octet-stream",
        config::text(client, &state.instance),
    );
    let disposition = format!(
        "attachment; filename=\"{}.conf\"",
        config::file_name(client)
    );
    reply
        .headers
        .insert(0, ("content-disposition".to_owned(), disposition));
    reply
}

/// `GET /api/client/{id}/qrcode.svg`.
pub(crate) fn qrcode(state: &State, user: User, id: &str) -> Result<Reply, Thrown> {
    let id = client_id(id)?;
    may_change(state, user, id)?;
    let client = id
        .and_then(|id| state.clients.get(&id))
        .ok_or_else(Thrown::server_error)?;
    let drawing =
        qr::svg(&config::text(client, &state.instance)).ok_or_else(Thrown::server_error)?;
    Ok(Reply::new(200, "image/svg+xml", drawing))
}

/// The id in a path; `Ok(None)` is a number that can be nobody's id.
pub(crate) fn client_id(text: &str) -> Result<Option<u64>, Thrown> {
    let number = js_number(&percent_decode(text)).filter(|number| number.is_finite());
    let number = number.ok_or_else(|| Thrown::validation(&["clientId is required".to_owned()]))?;
    Ok((number.fract() == 0.0 && number > 0.0 && number < 1e15).then_some(number as u64))
}

fn existing<'a>(state: &'a State, user: User, id: &str) -> Result<&'a Client, Thrown> {
    let id = client_id(id)?;
    may_change(state, user, id)?;
    id.and_then(|id| state.clients.get(&id))
        .ok_or_else(|| Thrown::new(404, "Client not found"))
}

/// Accounts that are not administrators see only their own clients.
pub(crate) fn may_change(state: &State, user: User, id: Option<u64>) -> Result<(), Thrown> {
    let own = id
        .and_then(|id| state.clients.get(&id))
        .is_some_and(|client| client.user_id == user.id());
    if own || user.must_be_admin().is_ok() {
        Ok(())
    } else {
        Err(denied())
    }
}

/// After the database was written. A failure here is a 500 for something that was done.
fn reload(state: &State) -> Result<(), Thrown> {
    if state.reloads() {
        Ok(())
    } else {
        Err(Thrown::server_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_of_any_spelling() {
        for one in ["1", "0x1", "1%20", "01", "1e0", "+1"] {
            assert_eq!(client_id(one).unwrap(), Some(1), "{one}");
        }
        for nobody in ["0", "-1", "1.5", "%20"] {
            assert_eq!(client_id(nobody).unwrap(), None, "{nobody}");
        }
        assert!(client_id("abc").is_err() && client_id("Infinity").is_err());
    }
}
