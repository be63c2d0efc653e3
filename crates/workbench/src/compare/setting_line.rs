//! A line of the settings of a comparison: a setting with the values that the runs of all members have.

use super::rules::Effect;

/// The value of a setting in one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// As it is shown.
    pub(crate) text: String,
    /// As a number, where it is one.
    pub(crate) number: Option<f64>,
}

impl Setting {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), number: None }
    }

    pub(crate) fn number(number: u32) -> Self {
        Self { text: number.to_string(), number: Some(f64::from(number)) }
    }
}

/// One setting of all members.
pub(crate) struct Line<'a> {
    /// In words.
    pub(crate) label: String,
    /// The source's own name, where all runs have the same.
    pub(crate) key: Option<String>,
    /// Whether it differs, even where the words are the same.
    pub(crate) differs: bool,
    /// For each member the value of each of its runs; `None` = unknown.
    pub(crate) values: Vec<Vec<Option<Setting>>>,
    /// What a difference does.
    pub(crate) effect: Effect,
    /// Of a number: whom more of it favors.
    pub(crate) favors: Option<&'a str>,
    /// What a difference means.
    pub(crate) note: String,
}
