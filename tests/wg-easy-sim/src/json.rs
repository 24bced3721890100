//! Writing JSON in a given field order, with numbers as JavaScript prints them.

/// One object being written.
pub(crate) struct Object<'a> {
    out: &'a mut String,
    first: bool,
}

impl<'a> Object<'a> {
    /// Opens an object at the end of `out`.
    pub(crate) fn open(out: &'a mut String) -> Self {
        out.push('{');
        Self { out, first: true }
    }

    /// A field whose value is JSON already.
    pub(crate) fn raw(&mut self, key: &str, value: &str) -> &mut Self {
        if !std::mem::take(&mut self.first) {
            self.out.push(',');
        }
        self.out.push('"');
        self.out.push_str(key);
        self.out.push_str("\":");
        self.out.push_str(value);
        self
    }

    /// A string.
    pub(crate) fn text(&mut self, key: &str, value: &str) -> &mut Self {
        let quoted = quote(value);
        self.raw(key, &quoted)
    }

    /// A string or null.
    pub(crate) fn maybe_text(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        let value = value.map_or_else(|| "null".to_owned(), quote);
        self.raw(key, &value)
    }

    /// A number.
    pub(crate) fn number(&mut self, key: &str, value: f64) -> &mut Self {
        self.raw(key, &js_float(value))
    }

    /// A number or null.
    pub(crate) fn maybe_number(&mut self, key: &str, value: Option<f64>) -> &mut Self {
        let value = value.map_or_else(|| "null".to_owned(), js_float);
        self.raw(key, &value)
    }

    /// A whole number or null.
    pub(crate) fn maybe_count(&mut self, key: &str, value: Option<u64>) -> &mut Self {
        let value = value.map_or_else(|| "null".to_owned(), |value| value.to_string());
        self.raw(key, &value)
    }

    /// A list of strings, or null.
    pub(crate) fn maybe_list(&mut self, key: &str, value: Option<&[String]>) -> &mut Self {
        let value = value.map_or_else(
            || "null".to_owned(),
            |items| {
                format!(
                    "[{}]",
                    items
                        .iter()
                        .map(|item| quote(item))
                        .collect::<Vec<_>>()
                        .join(",")
                )
            },
        );
        self.raw(key, &value)
    }

    /// A truth value.
    pub(crate) fn flag(&mut self, key: &str, value: bool) -> &mut Self {
        self.raw(key, if value { "true" } else { "false" })
    }

    /// Closes the object.
    pub(crate) fn close(&mut self) {
        self.out.push('}');
    }
}

/// A string in quotes, escaped as `JSON.stringify` does.
pub(crate) fn quote(text: &str) -> String {
    serde_json::to_string(text).expect("a string is always valid JSON")
}

/// A number as JavaScript prints it: 1420, not 1420.0.
pub(crate) fn js_float(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.0}")
    } else {
        value.to_string()
    }
}
