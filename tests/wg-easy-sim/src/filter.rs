//! The filter of the list: LIKE over name and addresses.

use crate::client::Client;

/// Whether a client's name or one of its addresses matches a LIKE pattern.
pub(crate) fn matches(client: &Client, pattern: &str) -> bool {
    [&client.name, &client.ipv4_address, &client.ipv6_address]
        .into_iter()
        .any(|text| sql_like(text, pattern))
}

/// SQLite's LIKE: `%` and `_`, and no case among ASCII letters.
fn sql_like(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().map(|c| c.to_ascii_lowercase()).collect();
    let pattern: Vec<char> = pattern.chars().map(|c| c.to_ascii_lowercase()).collect();
    let (mut at, mut wanted) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(wanted) {
            Some('%') => {
                retry = Some((wanted + 1, at));
                wanted += 1;
            }
            Some(c) if *c == '_' || *c == text[at] => {
                at += 1;
                wanted += 1;
            }
            _ => {
                let Some((after_percent, from)) = retry else {
                    return false;
                };
                retry = Some((after_percent, from + 1));
                (wanted, at) = (after_percent, from + 1);
            }
        }
    }
    pattern[wanted..].iter().all(|c| *c == '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_has_wildcards_and_no_case() {
        assert!(
            sql_like("alice-laptop", "%a%p%") && sql_like("Zoë", "%zo_%") && sql_like("", "%%")
        );
        assert!(sql_like("aab", "%ab") && !sql_like("abc", "%b") && !sql_like("ab", "abc"));
        assert!(
            !sql_like("Ärger", "%ärger%"),
            "only ASCII letters lose their case"
        );
    }
}
