//! Values in the ids and messages of tests, found by searches for plain texts.

use super::{ABOUT, head};

/// A request in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRequest {
    /// `POST`.
    pub method: String,
    /// `/orders/1/cancel`, without its query.
    pub path: String,
}

impl FailedRequest {
    pub(super) fn is_number(segment: &str) -> bool {
        !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_digit())
    }

    /// Whether it creates a record: a POST to a path without an id.
    pub fn creates(&self) -> bool {
        self.method == "POST" && !self.path.split('/').any(Self::is_number)
    }

    /// Whether the path has a part after an id: an action, a nested route.
    pub fn is_below_a_record(&self) -> bool {
        let mut segments = self.path.rsplit('/').filter(|segment| !segment.is_empty());
        !segments.next().is_none_or(Self::is_number) && segments.next().is_some_and(Self::is_number)
    }
}

/// The parts of the id of a case. Empty for other ids.
pub(in crate::failures) fn case_parts(id: &str) -> Vec<String> {
    let id = head(id, ABOUT);
    let name = id.rsplit("::").next().unwrap_or(id);
    // Parameters (`[…]`) and the number of a second case of the same name (`#2`) do not belong to it.
    let name = name.split(['[', '#']).next().unwrap_or(name);
    let parts: Vec<&str> = match name.strip_prefix("test_") {
        Some(name) if name.contains("__") => name.split("__").collect(),
        Some(_) => return Vec::new(),
        None => name.split('.').collect(),
    };
    let is_word =
        |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if parts.len() < 2 || !parts.iter().all(is_word) {
        return Vec::new();
    }
    parts.into_iter().map(str::to_lowercase).collect()
}

/// The first request in a message: a method in capitals and a path.
pub(super) fn failed_request(message: &str) -> Option<FailedRequest> {
    let mut words = message.split([' ', '\n', '"', '\'']).peekable();
    while let Some(word) = words.next() {
        let method = word.trim_start_matches(['(', '`']);
        if matches!(method, "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS")
            && let Some(path) = words.peek().filter(|path| path.starts_with('/'))
        {
            let path = path.split(['?', ':', '`', ',']).next().unwrap_or_default();
            return Some(FailedRequest { method: method.to_owned(), path: path.to_owned() });
        }
    }
    None
}

/// The body of the request of `step 1: post /orders {"a":1}: expected …`, in lower case.
pub(super) fn sent(output: &str) -> Option<String> {
    let (before, _) = output.split_once(": expected ")?;
    let before = before.strip_prefix("assertionerror: ").unwrap_or(before);
    // A message of this form shows the body of every request that has one.
    let form = before.starts_with("step ") || before.starts_with("before the case");
    form.then(|| before.find(" {").map_or_else(String::new, |index| before[index + 1..].to_owned()))
}

/// The first argument of a call as Python prints it, and the rest.
pub(super) fn split_argument(arguments: &str) -> (&str, &str) {
    let (mut depth, mut quote, mut escaped) = (0_u32, None, false);
    for (index, c) in arguments.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[' | '(') => depth += 1,
            (None, '}' | ']' | ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => return (arguments[..index].trim(), arguments[index + 1..].trim()),
            _ => {}
        }
    }
    (arguments.trim(), "")
}

/// The keys of an object in JSON or as a Python dictionary, possibly cut.
pub(super) struct Keys<'a> {
    names: Vec<&'a str>,
    /// The values of the first names, as they are written; that of the last name may be missing.
    values: Vec<&'a str>,
    /// Whether the object is complete.
    whole: bool,
}

impl<'a> Keys<'a> {
    pub(super) fn from_text(text: &'a str) -> Option<Self> {
        let mut keys = Self { names: Vec::new(), values: Vec::new(), whole: false };
        let (mut depth, mut quote, mut escaped) = (0_u32, None, false);
        let (mut begin, mut last, mut value) = (0, None, 0);
        if !text.starts_with('{') {
            return None;
        }
        for (index, c) in text.char_indices() {
            if let Some(open) = quote {
                match c {
                    _ if escaped => escaped = false,
                    '\\' => escaped = true,
                    _ if c == open => {
                        quote = None;
                        last = (depth == 1).then(|| &text[begin..index]);
                    }
                    _ => {}
                }
                continue;
            }
            match c {
                '"' | '\'' => (quote, begin) = (Some(c), index + 1),
                '{' | '[' => depth += 1,
                '}' | ']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        keys.ends_value(&text[value..index]);
                        // pytest omits the middle.
                        keys.whole = !text[..index].contains("...");
                        break;
                    }
                }
                ':' if depth == 1 => {
                    keys.names.extend(last.take());
                    value = index + 1;
                }
                ',' => {
                    if depth == 1 {
                        keys.ends_value(&text[value..index]);
                    }
                    last = None;
                }
                _ => {}
            }
        }
        Some(keys)
    }

    /// Takes the value of the last name.
    fn ends_value(&mut self, value: &'a str) {
        if self.values.len() < self.names.len() {
            self.values.push(value.trim());
        }
    }

    /// The only name of these whose value differs in the other object; `None` if there is none, or another one.
    pub(super) fn only_difference(&self, other: &Self) -> Option<String> {
        fn is_same(a: &str, b: &str) -> bool {
            let numbers = a.parse::<f64>().ok().zip(b.parse::<f64>().ok());
            a == b || numbers.is_some_and(|(a, b)| a.total_cmp(&b).is_eq())
        }
        let mut different = None;
        for (name, value) in self.names.iter().zip(&self.values) {
            let counterpart = other.names.iter().zip(&other.values).find(|(other, _)| *other == name);
            if counterpart.is_some_and(|(_, other)| !is_same(value, other)) {
                if different.is_some() {
                    return None;
                }
                different = Some((*name).to_owned());
            }
        }
        different
    }

    /// The first name that is not in the other, complete object.
    pub(super) fn without(&self, other: &Self) -> Option<String> {
        let missing = self.names.iter().find(|name| !other.names.contains(name));
        missing.filter(|_| other.whole).map(|name| (*name).to_owned())
    }
}

/// The text after a mark at the start of a line, up to the end of the line.
pub(super) fn line_after<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(mark))
}

/// The number after the first of these marks that has one.
pub(super) fn number_after(text: &str, marks: &[&str]) -> Option<i64> {
    marks.iter().find_map(|mark| {
        text.match_indices(mark).take(20).find_map(|(index, _)| {
            let rest = text[index + mark.len()..].trim_start_matches(['\'', '"', '=', ' ']);
            let end = rest.char_indices().find(|(i, c)| !(c.is_ascii_digit() || (*i == 0 && *c == '-')));
            let end = end.map_or(rest.len(), |(i, _)| i);
            rest[..end.min(12)].parse().ok()
        })
    })
}
