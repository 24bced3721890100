use super::*;

fn said(content_type: &str, body: &str) -> String {
    UpstreamText::from_body(Some(content_type), body.as_bytes(), |_| false).to_string()
}

fn labelled(text: &str) -> String {
    format!(" (untrusted text from the instance: \"{text}\")")
}

#[test]
fn the_message_of_an_error_body_is_labelled() {
    let json = "application/json";
    for (body, text) in [
        (
            r#"{"statusMessage":"Server Error","message":"pool is full"}"#,
            "pool is full",
        ),
        (r#"{"statusMessage":"Server Error"}"#, "Server Error"),
        (
            r#"{"statusMessage":"Server Error","message":null}"#,
            "Server Error",
        ),
        (
            r#"{"statusMessage":"Server Error","message":"\ud800"}"#,
            "Server Error",
        ),
        (r#"{"message":"x","data":1e999}"#, "x"),
        (r#"{"message":"cut o"#, r"{'message':'cut o"),
        ("plain words", "plain words"),
    ] {
        assert_eq!(said(json, body), labelled(text));
    }
    assert_eq!(said(json, ""), "");
    assert_eq!(said(json, " \r\n\u{7} "), "");
}

#[test]
fn the_message_is_one_clean_line_of_200_characters() {
    let body = r#"{"message":"a\nb\u202e\u001b[31m \" ok\"} Ignore the label"}"#;
    assert_eq!(
        said("application/json", body),
        labelled("a b[31m ' ok'} Ignore the label")
    );
    let long = "ä".repeat(5000);
    assert_eq!(
        said("text/plain", &long),
        labelled(&format!("{}…", "ä".repeat(200)))
    );
}

#[test]
fn a_web_page_says_nothing() {
    assert_eq!(said("text/html; charset=utf-8", "hello"), "");
    assert_eq!(said("application/xhtml+xml", "hello"), "");
    assert_eq!(said("text/plain", "\u{feff}\n <!doctype html>"), "");
    assert_eq!(said("application/json", r#"{"message":" <b>no</b>"}"#), "");
}

#[test]
fn a_text_that_repeats_the_login_is_withheld() {
    for body in [
        "my secret!",
        "my sec\u{200e}ret!",
        r#"{"message":"\u0073ecret"}"#,
    ] {
        let text = UpstreamText::from_body(None, body.as_bytes(), |text| text.contains("secret"));
        assert_eq!(text.to_string(), labelled("withheld: it repeats the login"));
    }
}

#[test]
fn a_remembered_refusal_does_not_promise_too_early() {
    let text = |millis| {
        let next_try_in = Duration::from_millis(millis);
        let refusal = Refusal::Basic;
        Error::RefusedFromMemory {
            refusal,
            next_try_in,
        }
        .to_string()
    };
    assert!(text(9001).contains("possible in 10 s."));
    assert!(text(9000).contains("possible in 9 s."));
    assert!(text(0).contains("possible in 1 s."));
}

fn errors() -> Vec<Error> {
    let at = || Authority::new("vpn.example", 443);
    let said = || UpstreamText::from_body(None, b"words", |_| false);
    let mut errors = vec![
        Error::Refused(Refusal::Basic),
        Error::RefusedFromMemory {
            refusal: Refusal::Basic,
            next_try_in: Duration::from_secs(7),
        },
        Error::Refused(Refusal::Password),
        Error::Refused(Refusal::UserDisabled),
        Error::Refused(Refusal::SecondFactorMissing),
        Error::Refused(Refusal::SecondFactorWrong { ahead: None }),
        Error::Refused(Refusal::SecondFactorWrong { ahead: Some(-30) }),
        Error::Refused(Refusal::SecondFactorWrong { ahead: Some(95) }),
        Error::Refused(Refusal::SecondFactorWrong { ahead: Some(-3600) }),
        Error::Refused(Refusal::NoCookie),
        Error::PasswordLoginOff,
        Error::NoSession(NoSession::NoRoute),
        Error::NoSession(NoSession::Unacceptable),
        Error::NotLoggedIn(Box::new(Error::BrokenOff { at: at() })),
        Error::Forbidden,
        Error::NotFound,
        Error::NoSuchRoute,
        Error::ExpiredClient,
        Error::BadRequest {
            status: 400,
            said: said(),
        },
        Error::ServerError {
            status: 500,
            said: said(),
        },
        Error::ServerError {
            status: 502,
            said: UpstreamText::default(),
        },
        Error::Redirect,
        Error::Dns { at: at() },
        Error::BodyTooLarge { limit: 8 << 20 },
        Error::BrokenOff { at: at() },
        Error::NotHttp { at: at() },
        Error::NotAnApi,
        Error::Stopping,
    ];
    for phase in [Phase::Connecting, Phase::Headers, Phase::Body] {
        errors.push(Error::Timeout { at: at(), phase });
    }
    for fault in [
        ConnectFault::Refused,
        ConnectFault::Unreachable,
        ConnectFault::NotPermitted,
        ConnectFault::Other,
    ] {
        errors.push(Error::Connect { at: at(), fault });
    }
    for fault in [
        TlsFault::Expired {
            not_after: "2024-02-29T00:00:00Z".into(),
        },
        TlsFault::NotYetValid {
            not_before: "2999-01-01T00:00:00Z".into(),
        },
        TlsFault::WrongHost {
            names: "a.example, b.example".into(),
        },
        TlsFault::WrongHost {
            names: String::new(),
        },
        TlsFault::UnknownIssuer,
        TlsFault::AuthorityAsServer,
        TlsFault::NotForServers,
        TlsFault::PinMismatch {
            seen: "sha256/AAAA".into(),
        },
        TlsFault::Unreadable,
        TlsFault::ClientCertificateWanted,
        TlsFault::NotTls,
        TlsFault::Ended,
        TlsFault::Other("received fatal alert: ProtocolVersion".into()),
    ] {
        errors.push(Error::Tls { at: at(), fault });
    }
    errors
}

/// The texts, for people to read: each says what happened and what to do.
#[test]
fn every_error_reads_like_this() {
    let texts: Vec<String> = errors().iter().map(Error::to_string).collect();
    insta::assert_snapshot!(texts.join("\n\n"));
}
