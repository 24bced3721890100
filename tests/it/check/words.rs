//! What a person sees, at a terminal and elsewhere.

use super::*;
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::Read as _;

#[test]
fn people_get_words_and_no_signs_where_there_is_no_terminal() {
    let sim = with_account(Account {
        disabled: true,
        ..Account::default()
    });
    let url = sim.url();
    let variables = [
        ("WG_EASY_URL", url.as_str()),
        ("WG_EASY_USERNAME", USERNAME),
        ("WG_EASY_PASSWORD", PASSWORD),
    ];
    let output = run(&["check"], variables.into_iter());
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.lines().any(|line| line.starts_with("ok       tcp ")),
        "{text}"
    );
    assert!(
        text.lines().any(|line| line.starts_with("FAIL     login ")),
        "{text}"
    );
    assert!(text.contains("what to do: Enable the user"), "{text}");
    assert!(text.ends_with("One check failed: login.\n"), "{text}");
    assert!(text.is_ascii(), "{text}");
    assert!(
        !text.contains(PASSWORD) && !text.contains(USERNAME),
        "{text}"
    );
}

/// What a terminal of so many columns shows of a check.
fn on_a_terminal<'a>(
    columns: u16,
    variables: impl Iterator<Item = (&'a str, &'a str)>,
) -> (Option<i32>, String) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    unlockpt(&terminal).unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&terminal, size).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let other_end = File::options().write(true).open(name.to_str().unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_wg-easy-mcp"));
    command.arg("check").env_clear().envs(variables);
    command.stdin(Stdio::null()).stdout(other_end.unwrap());
    let mut child = command.spawn().unwrap();
    // The last one to hold the other end is then the child.
    drop(command);
    let mut shown = Vec::new();
    // A terminal whose other end is closed gives an error, and what was written before it.
    let _ = File::from(terminal).read_to_end(&mut shown);
    let shown = String::from_utf8(shown).unwrap().replace("\r\n", "\n");
    (child.wait().unwrap().code(), shown)
}

#[test]
fn people_at_a_terminal_get_signs_and_lines_that_fit() {
    let (sim, roots) = encrypted(Tls::WithIntermediate);
    let url = sim.url();
    let variables = [
        ("WG_EASY_URL", url.as_str()),
        ("WG_EASY_USERNAME", USERNAME),
        ("WG_EASY_PASSWORD", "something-else-entirely"),
        ("WG_EASY_CA_FILE", roots.path()),
    ];
    for columns in [80, 132] {
        let (code, shown) = on_a_terminal(columns, variables.into_iter());
        assert_eq!(code, Some(1));
        let widest = shown.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns.into()), "{shown}");
        assert!(shown.contains("\n✓  tls "), "{shown}");
        assert!(shown.contains("\n✗  login "), "{shown}");
        assert!(shown.contains(" → It is not two-factor"), "{shown}");
    }
    // One that does not know how wide it is.
    let (_, shown) = on_a_terminal(0, variables.into_iter());
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
}
