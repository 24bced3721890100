//! From an answer to what goes over the wire, with what faults do to it on the way.

use hyper::{
    Response, StatusCode,
    body::Bytes,
    ext::ReasonPhrase,
    header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue},
};

use crate::{
    body::SimBody,
    connection::{Control, Exchange},
    edit,
    fault::{Canned, Fault},
    reply::Reply,
};

/// An answer nothing happens to.
pub(crate) fn plain(reply: Reply, exchange: Exchange) -> Response<SimBody> {
    response(reply, None, |bytes| SimBody::whole(bytes, exchange))
}

/// Applies what faults do to the answer itself.
pub(crate) fn with_faults<'a>(
    mut reply: Reply,
    faults: &'a [Fault],
    control: &Control,
    exchange: Exchange,
) -> Response<SimBody> {
    let edit_of = |fault: &'a Fault| {
        if let Fault::Edit(edit) = fault {
            Some(edit)
        } else {
            None
        }
    };
    let edits: Vec<_> = faults.iter().filter_map(edit_of).collect();
    if !edits.is_empty() {
        reply.body = edit::apply(&reply.body, &edits);
    }
    for fault in faults {
        match fault {
            Fault::ContentType(value) => {
                reply.headers.retain(|(name, _)| name != "content-type");
                reply = reply.with_header("content-type", value);
            }
            Fault::Reason(reason) => reply.reason = Some(reason.clone()),
            Fault::Header(name, value) => reply = reply.with_header(name, value),
            Fault::DropSetCookie => reply.headers.retain(|(name, _)| name != "set-cookie"),
            Fault::CloseAfter => control.close_soon(),
            _ => {}
        }
    }
    let whole = reply.body.len() as u64;
    for fault in faults {
        match fault {
            Fault::CutBody(kept) => {
                let kept = *kept;
                return response(reply, Some(whole), |mut bytes| {
                    bytes.truncate(kept);
                    SimBody::cut(bytes, exchange)
                });
            }
            Fault::HangBody => {
                return response(reply, Some(whole.max(1)), |_| {
                    SimBody::stalled(Vec::new(), exchange)
                });
            }
            Fault::DeclaredLength(length) => {
                return response(reply, Some(*length), |bytes| {
                    SimBody::stalled(bytes, exchange)
                });
            }
            Fault::EndlessBody => {
                return response(reply, None, |bytes| SimBody::endless(bytes, exchange));
            }
            Fault::DripBody(every) => {
                return response(reply, Some(whole), |bytes| {
                    SimBody::drip(bytes, *every, exchange)
                });
            }
            _ => {}
        }
    }
    plain(reply, exchange)
}

impl Canned {
    /// As an answer.
    pub(crate) fn reply(&self) -> Reply {
        Reply {
            status: self.status,
            reason: self.reason.clone(),
            headers: self.headers.clone(),
            body: self.body.clone(),
        }
    }
}

fn response(
    reply: Reply,
    length: Option<u64>,
    body: impl FnOnce(Vec<u8>) -> SimBody,
) -> Response<SimBody> {
    let mut response = Response::new(body(reply.body));
    *response.status_mut() =
        StatusCode::from_u16(reply.status).expect("a fault has a status of three digits");
    if let Some(phrase) = reply
        .reason
        .and_then(|reason| ReasonPhrase::try_from(Bytes::from(reason)).ok())
    {
        response.extensions_mut().insert(phrase);
    }
    let headers = response.headers_mut();
    for (name, value) in reply.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a fault has valid header names");
        let value =
            HeaderValue::from_bytes(value.as_bytes()).expect("a fault has valid header values");
        if name == CONTENT_TYPE {
            headers.insert(name, value);
        } else {
            headers.append(name, value);
        }
    }
    if let Some(length) = length {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    headers.insert("keep-alive", HeaderValue::from_static("timeout=5"));
    response
}
