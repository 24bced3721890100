//! What a check found, for people and for machines.

use std::fmt::Write as _;

use serde::Serialize;

/// What was found, in the order in which it was looked at.
#[derive(Clone, Debug, Default)]
pub struct Findings(Vec<Finding>);

/// What one check found.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Finding {
    name: &'static str,
    status: Status,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    /// It works, and is less safe than it could be.
    Warn,
    Fail,
    /// Another one failed that it depends on, or there is nothing to look at.
    Skipped,
}

impl Findings {
    pub(super) fn ok(&mut self, name: &'static str, detail: impl Into<String>) {
        self.add(name, Status::Ok, detail.into(), None);
    }

    pub(super) fn warn(&mut self, name: &'static str, detail: impl Into<String>, advice: &str) {
        let advice = (!advice.is_empty()).then(|| advice.to_owned());
        self.add(name, Status::Warn, detail.into(), advice);
    }

    pub(super) fn fail(&mut self, name: &'static str, detail: impl Into<String>, advice: &str) {
        self.add(name, Status::Fail, detail.into(), Some(advice.to_owned()));
    }

    /// A failure in the words that the server has for it: first what is wrong, then what to do.
    pub(super) fn fail_as(&mut self, name: &'static str, words: &str) {
        let (detail, advice) = in_two(words);
        self.fail(name, detail, &advice);
    }

    /// The same for something less than a failure.
    pub(super) fn warn_as(&mut self, name: &'static str, words: &str) {
        let (detail, advice) = in_two(words);
        self.warn(name, detail, &advice);
    }

    /// What was not looked at, so that one cause is one failure.
    pub(super) fn skip(&mut self, names: &[&'static str], why: &str) {
        for name in names {
            self.add(name, Status::Skipped, format!("not tried: {why}"), None);
        }
    }

    pub(super) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    fn add(&mut self, name: &'static str, status: Status, detail: String, advice: Option<String>) {
        self.0.push(Finding {
            name,
            status,
            detail,
            advice,
        });
    }

    /// Whether nothing failed.
    pub fn is_ok(&self) -> bool {
        self.count(Status::Fail) == 0
    }

    fn count(&self, status: Status) -> usize {
        let same = self.0.iter().filter(|finding| finding.status == status);
        same.count()
    }

    /// A line for each check, with what to do about it below, and a last line that sums up. With the
    /// number of columns of a terminal lines are broken to fit, and there are signs; without, a check
    /// is one line, and all of it is ASCII.
    pub fn text(&self, columns: Option<usize>) -> String {
        let terminal = columns.is_some();
        let width = self.0.iter().map(|finding| finding.name.len()).max();
        let width = width.unwrap_or_default();
        let mut text = String::new();
        for finding in &self.0 {
            let mark = finding.status.mark(terminal);
            let margin = mark.chars().count() + 2 + width + 2;
            let first = format!("{mark}  {:width$}  ", finding.name);
            write_broken(&mut text, &first, margin, &finding.detail, columns);
            if let Some(advice) = &finding.advice {
                let arrow = if terminal { "→ " } else { "what to do: " };
                let first = format!("{:margin$}{arrow}", "");
                let margin = margin + arrow.chars().count();
                write_broken(&mut text, &first, margin, advice, columns);
            }
        }
        let first = self.0.iter().find(|one| one.status == Status::Fail);
        let first = first.map_or("", |finding| finding.name);
        let (failed, warned) = (self.count(Status::Fail), self.count(Status::Warn));
        let _ = match (failed, warned) {
            (0, 0) => writeln!(text, "Everything is in order."),
            (0, 1) => writeln!(text, "It works, with one warning."),
            (0, _) => writeln!(text, "It works, with {warned} warnings."),
            (1, _) => writeln!(text, "One check failed: {first}."),
            (_, _) => writeln!(
                text,
                "{failed} checks failed; begin with the first: {first}."
            ),
        };
        text
    }

    /// One object.
    pub fn json(&self) -> String {
        #[derive(Serialize)]
        struct Object<'a> {
            ok: bool,
            checks: &'a [Finding],
        }
        let object = Object {
            ok: self.is_ok(),
            checks: &self.0,
        };
        // Strings and unit variants cannot fail to become JSON.
        let mut text = serde_json::to_string_pretty(&object).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl Status {
    fn mark(self, terminal: bool) -> &'static str {
        match (self, terminal) {
            (Self::Ok, true) => "✓",
            (Self::Warn, true) => "!",
            (Self::Fail, true) => "✗",
            (Self::Skipped, true) => "–",
            (Self::Ok, false) => "ok     ",
            (Self::Warn, false) => "warn   ",
            (Self::Fail, false) => "FAIL   ",
            (Self::Skipped, false) => "skipped",
        }
    }
}

/// Narrower than this a text would be a column of single words; then the terminal may break the lines.
const NARROW: usize = 30;

/// Writes `words` behind `first`, and further lines below them.
fn write_broken(
    text: &mut String,
    first: &str,
    margin: usize,
    words: &str,
    columns: Option<usize>,
) {
    let room = columns.and_then(|columns| columns.checked_sub(margin));
    let room = room.filter(|room| *room >= NARROW).unwrap_or(usize::MAX);
    text.push_str(first);
    let mut used = 0;
    for word in words.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > room {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{:margin$}", "");
            used = 0;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(word);
        used += length;
    }
    text.push('\n');
}

/// Texts of this program say what is wrong up to the end of a sentence (errors) or to a semicolon
/// (configuration), and what to do from there on. What the instance said stands in quotation marks, and
/// no part of it may pose as advice.
fn in_two(words: &str) -> (String, String) {
    let mut quoted = false;
    let mut ends = words.match_indices(['"', '.', ';']).filter(|(at, mark)| {
        quoted ^= *mark == "\"";
        let blank = words
            .get(at + 1..)
            .is_some_and(|rest| rest.starts_with(' '));
        !quoted && *mark != "\"" && blank
    });
    let end = ends.next().map(|(at, _)| at);
    let (detail, advice) = match end.map(|position| words.split_at(position)) {
        Some((detail, rest)) => (detail, rest.get(2..).unwrap_or_default()),
        None => (words, ""),
    };
    (uncapitalised(detail), capitalised(advice))
}

/// Without the capital letter of a sentence; names keep theirs.
fn uncapitalised(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_ascii_lowercase() => {
            format!("{}{second}{}", first.to_ascii_lowercase(), letters.as_str())
        }
        _ => text.to_owned(),
    }
}

/// A sentence: with a capital letter, unless it begins with the name of wg-easy, and a full stop.
fn capitalised(text: &str) -> String {
    let stop = if text.ends_with('.') { "" } else { "." };
    let mut letters = text.chars();
    match letters.next() {
        Some(_) if text.starts_with("wg-easy") => format!("{text}{stop}"),
        Some(first) => format!("{}{}{stop}", first.to_ascii_uppercase(), letters.as_str()),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings() -> Findings {
        let mut findings = Findings::default();
        findings.ok("one", "fine");
        findings.fail_as("second", "It is broken. Mend it. Then go on.");
        findings.warn_as("third", "it is odd; change it");
        findings.skip(&["fourth"], "second failed");
        findings
    }

    #[test]
    fn people_read_a_line_for_each_check_and_what_to_do_below() {
        assert_eq!(
            findings().text(Some(80)),
            "✓  one     fine\n\
             ✗  second  it is broken\n           → Mend it. Then go on.\n\
             !  third   it is odd\n           → Change it.\n\
             –  fourth  not tried: second failed\n\
             One check failed: second.\n"
        );
        assert!(
            findings()
                .text(None)
                .contains("FAIL     second  it is broken\n")
        );
    }

    #[test]
    fn sentences_begin_with_a_capital_letter_and_wg_easy_keeps_its_small_one() {
        let half = |text: &str| text.to_owned();
        assert_eq!(
            in_two("It is so; wg-easy does not say why. Ask"),
            (half("it is so"), half("wg-easy does not say why. Ask."))
        );
        assert_eq!(in_two("It is so"), (half("it is so"), half("")));
        assert_eq!(
            in_two("it is so. mend it."),
            (half("it is so"), half("Mend it."))
        );
    }

    #[test]
    fn what_the_instance_said_is_no_advice() {
        let (detail, advice) =
            in_two("It failed (the instance: \"no. Run this; then that\"). Mend it. Go on.");
        assert_eq!(
            detail,
            "it failed (the instance: \"no. Run this; then that\")"
        );
        assert_eq!(advice, "Mend it. Go on.");
    }

    #[test]
    fn lines_are_broken_between_words_to_fit_a_terminal() {
        let mut findings = Findings::default();
        let long = "x".repeat(60);
        findings.fail(
            "one",
            format!("ten words {long} and some"),
            "Do this, then that, and then go on.",
        );
        let broken = format!(
            "✗  one  ten words\n        {long}\n        and some\n        \
             → Do this, then that, and then\n          go on.\nOne check failed: one.\n"
        );
        assert_eq!(findings.text(Some(40)), broken);
        for unbroken in [None, Some(0), Some(37), Some(500)] {
            assert_eq!(findings.text(unbroken).lines().count(), 3, "{unbroken:?}");
        }
    }

    #[test]
    fn machines_read_an_object() {
        let json: serde_json::Value = serde_json::from_str(&findings().json()).unwrap();
        assert_eq!(json["ok"], false);
        assert_eq!(
            json["checks"][1],
            serde_json::json!({
                "name": "second",
                "status": "fail",
                "detail": "it is broken",
                "advice": "Mend it. Then go on."
            })
        );
        assert!(json["checks"][0].get("advice").is_none());
    }

    #[test]
    fn a_warning_is_no_failure() {
        let mut findings = Findings::default();
        findings.ok("one", "fine");
        assert!(
            findings
                .text(Some(80))
                .ends_with("Everything is in order.\n")
        );
        findings.warn("two", "odd", "");
        findings.skip(&["three"], "nothing to do");
        assert!(findings.is_ok());
        assert!(
            findings
                .text(Some(80))
                .ends_with("It works, with one warning.\n")
        );
    }
}
