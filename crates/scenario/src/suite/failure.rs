//! How a request fails.

/// How a request fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    Invalid,
    Missing,
    Conflict,
    Refused,
}
