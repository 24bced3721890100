//! Whoever answers: a person at the terminal, or a script.

use crate::screen::{Look, Screen};
use std::io::BufRead;

/// Whoever answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Person {
    /// Somebody at the terminal.
    Present,
    /// Nobody: each answer is the one that the scene suggests.
    Scripted,
}

impl Person {
    /// Waits until the person has read enough.
    pub(crate) fn pause(self, screen: Screen) {
        if self == Self::Present {
            screen.gap();
            screen.prompt("Enter to go on ⏎");
            line();
        }
    }

    /// A yes or a no. Only a yes is a yes; so is the end of the input a no.
    pub(crate) fn decide(self, screen: Screen, suggested: bool) -> bool {
        screen.prompt("Your answer? [y/N]");
        if self == Self::Present {
            return matches!(line().trim().to_lowercase().as_str(), "y" | "yes");
        }
        let answer = if suggested { "y" } else { "n" };
        screen.line(screen.paint(format_args!("{answer}  (scripted)"), Look::Dim));
        suggested
    }
}

fn line() -> String {
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    line
}
