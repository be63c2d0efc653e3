//! What harnesses require from an endpoint in addition to their API.

use serde::Deserialize;

/// What a harness requires from an endpoint in addition to its API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// It acts through tool calls, so a model without tool calls does nothing.
    pub tools: bool,
    /// It reads responses as streams.
    pub streams: bool,
    /// Bytes of its first request with a prompt of a few words: its instructions and its tools.
    pub first_request_bytes: u64,
}

impl Needs {
    /// Tokens of its first request, at four bytes per token.
    pub const fn first_request_tokens(self) -> u64 {
        self.first_request_bytes / 4
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_requirements_of_every_agent_with_an_image_are_known() {
        for harness in crate::all() {
            assert_eq!(harness.needs().is_none(), harness.name() == "mock", "{}", harness.name());
        }
    }

    /// A name with the tokens of its first request and whether it reads streams, as the page prints them.
    type Row = (String, String, String);

    fn rows_of_the_page() -> Vec<Row> {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/local-models.md");
        let page = std::fs::read_to_string(page).unwrap();
        let head = "| harness | first request, tokens | reads streams |\n|---|---|---|\n";
        let (_, table) = page.split_once(head).unwrap();
        let mut rows = Vec::new();
        for line in table.lines().take_while(|line| line.starts_with('|')) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [names, tokens, streams] = cells[..] else { panic!("{line}") };
            let row = |name: &str| (name.to_owned(), tokens.to_owned(), streams.to_owned());
            rows.extend(names.split(", ").map(row));
        }
        rows.sort();
        rows
    }

    /// `12,750`.
    fn with_comma(tokens: u64) -> String {
        assert!((1000..1_000_000).contains(&tokens), "{tokens}");
        format!("{},{:03}", tokens / 1000, tokens % 1000)
    }

    #[test]
    fn the_page_about_local_models_lists_the_requirements() {
        let known = crate::all().iter().filter_map(|harness| {
            let needs = harness.needs()?;
            let streams = if needs.streams { "yes" } else { "no" };
            Some((harness.title().to_owned(), with_comma(needs.first_request_tokens()), streams.to_owned()))
        });
        let mut known: Vec<Row> = known.collect();
        known.sort();
        assert_eq!(rows_of_the_page(), known);
    }
}
