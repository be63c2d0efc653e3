//! A row of a decision table, as a policy lists and moves it.

/// One row of a table at one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its name, which a policy moves it by: `NonZeroAgentExitCodeError, agent`.
    pub row: String,
    /// Which exceptions it is about.
    pub exceptions: String,
    /// When they came.
    pub stage: &'static str,
    /// What it gives by default, in words.
    pub rule: String,
}
