//! What a person sees: headings, tables, boxes; coloured only on a terminal that wants it.

use crate::server::Dialog;
use std::fmt::Display;
use std::io::{IsTerminal, Write};

/// How wide text is set.
const WIDTH: usize = 78;

/// How a piece of text looks.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    /// As it comes.
    Plain,
    /// What matters.
    Bold,
    /// What may be skipped.
    Dim,
    /// What is well.
    Green,
    /// What to look at twice.
    Yellow,
    /// What went wrong, or was refused.
    Red,
    /// What a machine said or was told.
    Cyan,
}

/// A cell of a table.
pub(crate) type Cell = (String, Look);

/// Standard output.
#[derive(Clone, Copy)]
pub(crate) struct Screen {
    colour: bool,
}

impl Screen {
    /// Looks at where the output goes. `NO_COLOR` (no-color.org) and a dumb terminal are respected.
    pub(crate) fn new() -> Self {
        let unset = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            colour: std::io::stdout().is_terminal() && unset("NO_COLOR") && !dumb,
        }
    }

    /// Whether escape codes are understood.
    pub(crate) fn colour(&self) -> bool {
        self.colour
    }

    /// A piece of text in a look.
    pub(crate) fn paint(&self, text: impl Display, look: Look) -> String {
        let code = match look {
            Look::Plain => return text.to_string(),
            Look::Bold => "1",
            Look::Dim => "2",
            Look::Green => "32",
            Look::Yellow => "33",
            Look::Red => "31",
            Look::Cyan => "36",
        };
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_string()
        }
    }

    /// A line as it is.
    pub(crate) fn line(&self, text: impl Display) {
        // Nobody reading any more is no reason to stop checking.
        let _ = writeln!(std::io::stdout(), "{text}");
    }

    /// The beginning of a line that somebody else ends.
    pub(crate) fn prompt(&self, text: &str) {
        let mut stdout = std::io::stdout();
        let _ = write!(stdout, "  {} ", self.paint(text, Look::Bold));
        let _ = stdout.flush();
    }

    /// An empty line.
    pub(crate) fn gap(&self) {
        self.line("");
    }

    /// The heading of a scene.
    pub(crate) fn heading(&self, number: usize, title: &str) {
        let used = number.to_string().chars().count() + title.chars().count() + 5;
        let rule = "─".repeat(WIDTH.saturating_sub(used));
        self.gap();
        self.line(format_args!(
            "{} {} {}",
            self.paint(format_args!("── {number}"), Look::Cyan),
            self.paint(title, Look::Bold),
            self.paint(rule, Look::Cyan)
        ));
        self.gap();
    }

    /// A paragraph, wrapped and indented.
    pub(crate) fn text(&self, text: &str, look: Look) {
        for line in wrapped(text, WIDTH - 2) {
            self.line(format_args!("  {}", self.paint(line, look)));
        }
    }

    /// Something that was looked up and found to be so.
    pub(crate) fn proof(&self, text: &str) {
        self.marked("✓", text, Look::Green);
    }

    /// What the AI gets to read when a call was refused.
    pub(crate) fn refusal(&self, text: &str) {
        self.marked("✗", text, Look::Yellow);
    }

    fn marked(&self, mark: &str, text: &str, look: Look) {
        for (at, line) in wrapped(text, WIDTH - 4).into_iter().enumerate() {
            let mark = if at == 0 { mark } else { " " };
            self.line(format_args!(
                "  {} {}",
                self.paint(mark, look),
                self.paint(line, look)
            ));
        }
    }

    /// A table; `head` may be empty.
    pub(crate) fn table(&self, head: &[&str], rows: &[Vec<Cell>]) {
        let head: Vec<Cell> = head.iter().map(|t| ((*t).to_owned(), Look::Dim)).collect();
        let lines = || {
            std::iter::once(&head)
                .filter(|head| !head.is_empty())
                .chain(rows)
        };
        let mut widths = Vec::new();
        for line in lines() {
            widths.resize(widths.len().max(line.len()), 0);
            for ((text, _), room) in line.iter().zip(&mut widths) {
                *room = width(text).max(*room);
            }
        }
        for cells in lines() {
            let mut line = String::from(" ");
            for ((text, look), room) in cells.iter().zip(&widths) {
                line.push(' ');
                line.push_str(&self.paint(text, *look));
                line.push_str(&" ".repeat(room.saturating_sub(width(text)) + 1));
            }
            self.line(line.trim_end());
        }
    }

    /// A dialog, as a client might show it.
    pub(crate) fn dialog(&self, dialog: &Dialog) {
        let inner = WIDTH - 6;
        let edge = |text: &str| self.paint(text, Look::Yellow);
        let rule = |from: &str, to: &str| {
            self.line(format_args!(
                "  {}",
                edge(&format!("{from}{}{to}", "─".repeat(inner + 2)))
            ));
        };
        let row = |text: &str, look| {
            self.line(format_args!(
                "  {} {}{} {}",
                edge("│"),
                self.paint(text, look),
                " ".repeat(inner.saturating_sub(width(text))),
                edge("│")
            ));
        };
        rule("╭", "╮");
        for paragraph in dialog.message.split('\n') {
            let look = match paragraph {
                _ if paragraph.starts_with("  ") => Look::Cyan,
                _ if paragraph.starts_with("Values below") => Look::Dim,
                _ if paragraph.starts_with("Nothing has been done yet") => Look::Yellow,
                _ => Look::Plain,
            };
            for line in wrapped(paragraph, inner) {
                row(&line, look);
            }
        }
        rule("├", "┤");
        row(&format!("[ ] {}", dialog.title), Look::Bold);
        for line in wrapped(&dialog.hint, inner - 4) {
            row(&format!("    {line}"), Look::Dim);
        }
        rule("╰", "╯");
    }
}

/// Columns that a text takes up. The demo's own texts have no wide characters.
fn width(text: &str) -> usize {
    text.chars().count()
}

/// The lines of a text, none longer than `room`; what a line is indented by, its continuations are too.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let indent: String = paragraph.chars().take_while(|c| *c == ' ').collect();
        let mut line = String::new();
        for word in paragraph.split(' ').filter(|word| !word.is_empty()) {
            if !line.is_empty() && width(&line) + 1 + width(word) > room {
                lines.push(std::mem::take(&mut line));
            }
            line.push_str(if line.is_empty() { &indent } else { " " });
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Says on stderr what is wrong.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
