//! Which tools exist for this process: the allow list, the deny list and read-only mode.

use std::fmt;

/// What the selection needs to know of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The tool's name.
    pub name: &'static str,
    /// Whether `essential` in a list stands for it.
    pub essential: bool,
    /// Whether read-only mode leaves it in.
    pub read_only: bool,
}

/// The names of the tools to register, in the order of the catalogue.
///
/// The allow list says what is in (everything, when there is none), the deny list is subtracted, and
/// read-only mode leaves only tools that are marked for it. An entry is checked against the whole
/// catalogue, so that naming a tool that read-only mode takes away is not a mistake.
pub fn select(
    catalogue: &[Entry],
    allow: Option<&str>,
    deny: Option<&str>,
    read_only: bool,
) -> Result<Vec<&'static str>, FilterError> {
    let allow = allow
        .map(|text| Patterns::parse(List::Allow, text, catalogue))
        .transpose()?;
    let deny = deny
        .map(|text| Patterns::parse(List::Deny, text, catalogue))
        .transpose()?;
    let selected: Vec<_> = catalogue
        .iter()
        .filter(|tool| !read_only || tool.read_only)
        .filter(|tool| allow.as_ref().is_none_or(|allow| allow.cover(tool)))
        .filter(|tool| !deny.as_ref().is_some_and(|deny| deny.cover(tool)))
        .map(|tool| tool.name)
        .collect();
    if selected.is_empty() {
        return Err(FilterError::NothingLeft);
    }
    Ok(selected)
}

/// One of the two lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// What is in.
    Allow,
    /// What is taken out again.
    Deny,
}

/// Why no selection could be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterError {
    /// An entry stands for no tool.
    NoSuchTool {
        /// The list that it is in.
        list: List,
        /// The entry, when it looks like the name of a tool; anything else may be a secret that was
        /// pasted into the wrong place.
        entry: Option<String>,
        /// The names that do exist.
        names: Vec<&'static str>,
    },
    /// The list is set and names nothing; to take it for no list would lift the restriction.
    NoEntry(List),
    /// Every tool was taken out.
    NothingLeft,
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "WG_EASY_ALLOW_TOOLS",
            Self::Deny => "WG_EASY_DENY_TOOLS",
        })
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchTool { list, entry, names } => {
                match entry {
                    Some(entry) => write!(f, "{list} has the entry \"{entry}\", which matches no tool")?,
                    None => write!(f, "{list} has an entry that matches no tool")?,
                }
                write!(
                    f,
                    "; the tools are {}, and an entry may also be a prefix ending in * or the word essential",
                    names.join(", ")
                )
            }
            Self::NoEntry(list) => write!(
                f,
                "{list} is set but names no tool; list names separated by commas, or unset it"
            ),
            Self::NothingLeft => f.write_str(
                "no tool is left; change WG_EASY_ALLOW_TOOLS, WG_EASY_DENY_TOOLS or WG_EASY_READ_ONLY",
            ),
        }
    }
}

impl std::error::Error for FilterError {}

/// The entries of a list, each of which stands for at least one tool.
struct Patterns<'a>(Vec<Pattern<'a>>);

enum Pattern<'a> {
    Essential,
    Prefix(&'a str),
    Name(&'a str),
}

impl<'a> Patterns<'a> {
    fn parse(list: List, text: &'a str, catalogue: &[Entry]) -> Result<Self, FilterError> {
        let mut patterns = Vec::new();
        for entry in text.split(',').map(str::trim) {
            if entry.is_empty() {
                continue;
            }
            let pattern = Pattern::new(entry);
            if !catalogue.iter().any(|tool| pattern.covers(tool)) {
                return Err(FilterError::NoSuchTool {
                    list,
                    entry: is_shaped_like_a_tool(entry).then(|| entry.to_owned()),
                    names: catalogue.iter().map(|tool| tool.name).collect(),
                });
            }
            patterns.push(pattern);
        }
        if patterns.is_empty() {
            return Err(FilterError::NoEntry(list));
        }
        Ok(Self(patterns))
    }

    fn cover(&self, tool: &Entry) -> bool {
        self.0.iter().any(|pattern| pattern.covers(tool))
    }
}

impl<'a> Pattern<'a> {
    fn new(entry: &'a str) -> Self {
        match entry.strip_suffix('*') {
            Some(prefix) => Self::Prefix(prefix),
            None if entry == "essential" => Self::Essential,
            None => Self::Name(entry),
        }
    }

    fn covers(&self, tool: &Entry) -> bool {
        match self {
            Self::Essential => tool.essential,
            Self::Prefix(prefix) => tool.name.starts_with(prefix),
            Self::Name(name) => tool.name == *name,
        }
    }
}

/// `^[a-z][a-z0-9_]{0,63}\*?$`
fn is_shaped_like_a_tool(entry: &str) -> bool {
    let name = entry.strip_suffix('*').unwrap_or(entry);
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::catalogue;
    use proptest::prelude::*;

    fn with(allow: &str, deny: &str) -> Result<Vec<&'static str>, FilterError> {
        select(
            catalogue(),
            Some(allow).filter(|text| !text.is_empty()),
            Some(deny).filter(|text| !text.is_empty()),
            false,
        )
    }

    #[test]
    fn without_lists_every_tool_is_in() {
        assert_eq!(with("", "").unwrap().len(), 11);
        assert_eq!(with("*", "").unwrap(), with("", "").unwrap());
    }

    #[test]
    fn essential_is_the_six() {
        assert_eq!(
            with("essential", "").unwrap(),
            [
                "list_clients",
                "get_client",
                "create_client",
                "enable_client",
                "disable_client",
                "get_server_info"
            ]
        );
    }

    #[test]
    fn the_catalogue_decides_the_order() {
        assert_eq!(
            with(" get_server_info ,, list_* ,list_clients,", "").unwrap(),
            ["list_clients", "get_server_info"]
        );
    }

    #[test]
    fn the_deny_list_is_subtracted() {
        assert_eq!(
            with("get_*", "get_client_*,get_server_info").unwrap(),
            ["get_client"]
        );
        assert!(!with("", "essential").unwrap().contains(&"list_clients"));
    }

    #[test]
    fn read_only_mode_leaves_three_and_lists_narrow_them() {
        let select = |allow, deny| select(catalogue(), allow, deny, true);
        assert_eq!(
            select(None, None).unwrap(),
            ["list_clients", "get_client", "get_server_info"]
        );
        assert_eq!(
            select(Some("delete_client,get_client*"), None).unwrap(),
            ["get_client"]
        );
        assert_eq!(
            select(Some("delete_client"), None).unwrap_err(),
            FilterError::NothingLeft
        );
        assert_eq!(
            select(None, Some("list_clients")).unwrap(),
            ["get_client", "get_server_info"]
        );
    }

    #[test]
    fn an_entry_without_a_tool_is_refused_and_the_names_are_listed() {
        let message = with("list_client", "").unwrap_err().to_string();
        assert!(message.contains("\"list_client\""), "{message}");
        for tool in catalogue() {
            assert!(message.contains(tool.name), "{message}");
        }
        for entry in ["essential*", "**", "List_clients", "list_clients x", "x*"] {
            assert!(with("", entry).is_err(), "{entry}");
        }
    }

    #[test]
    fn an_entry_is_quoted_only_if_it_could_be_a_tool() {
        for (entry, quoted) in [
            ("get_clients", true),
            ("nothing*", true),
            ("hunter2-Secret", false),
            ("Get_client", false),
            ("9lives", false),
            ("*a", false),
        ] {
            let message = with(entry, "").unwrap_err().to_string();
            assert_eq!(message.contains(entry), quoted, "{message}");
        }
        let long = "a".repeat(64);
        assert!(with(&long, "").unwrap_err().to_string().contains(&long));
        let longer = "a".repeat(65);
        assert!(!with(&longer, "").unwrap_err().to_string().contains(&longer));
    }

    #[test]
    fn a_list_of_nothing_is_refused() {
        assert_eq!(
            with(" , ,", "").unwrap_err(),
            FilterError::NoEntry(List::Allow)
        );
        assert_eq!(with("", " ").unwrap_err(), FilterError::NoEntry(List::Deny));
        assert_eq!(with("", "*").unwrap_err(), FilterError::NothingLeft);
    }

    proptest! {
        #[test]
        fn lists_only_ever_narrow(
            allow in proptest::option::of("[a-z_*, ]{0,20}|list_\\*|essential"),
            deny in proptest::option::of("[a-z_*, ]{0,20}|get_\\*|essential"),
            read_only in any::<bool>(),
        ) {
            if let Ok(names) = select(catalogue(), allow.as_deref(), deny.as_deref(), read_only) {
                let all = select(catalogue(), None, None, read_only).unwrap();
                prop_assert!(!names.is_empty());
                prop_assert!(names.iter().all(|name| all.contains(name)));
            }
        }

        #[test]
        fn no_text_breaks_the_parser(allow in any::<String>(), deny in any::<String>()) {
            if let Err(error) = select(catalogue(), Some(&allow), Some(&deny), false) {
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }
}
