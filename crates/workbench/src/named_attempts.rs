//! Attempts of a run in a note: the first of them by name, and how many more there are.

/// Attempts that are named one by one.
pub(crate) const NAMED: u32 = 3;

/// The name of an attempt, and what a note says of it: `parser, turn 3, attempt 2 (a reward file)`.
pub(crate) fn named_attempt(episode: &str, turn: u32, attempt: u32, detail: &str) -> String {
    let attempt = if attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
    format!("{episode}, turn {turn}{attempt} ({detail})")
}

/// The first of `all` attempts by name: `…; …; and 4 more`.
pub(crate) fn first_named(first: impl Iterator<Item = String>, all: u32) -> String {
    let mut named: Vec<String> = first.collect();
    let unnamed = all.saturating_sub(u32::try_from(named.len()).unwrap_or(u32::MAX));
    if unnamed > 0 {
        named.push(format!("and {unnamed} more"));
    }
    named.join("; ")
}
