//! A step from one layout of a table to the next. The tables have their steps; `schema` runs them.

/// Statements that bring a table to a layout version.
pub(crate) struct Migration {
    /// The version after these statements.
    pub version: i64,
    /// The statements.
    pub sql: &'static str,
}
