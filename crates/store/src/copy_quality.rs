//! SQL: what tells a good copy of an episode from others, by itself and whatever run it is in.

use std::sync::LazyLock;

use crate::identities::IS_UNREADABLE;

/// SQL: whether an `episode` was copied before it had a readable result. A copy with a result is preferred.
static IS_SNAPSHOT: LazyLock<String> =
    LazyLock::new(|| format!("(episode.end_reason = 'unfinished' OR {IS_UNREADABLE})"));

/// SQL: whether a resume can continue an `episode`: it was copied before its end, or something outside ended it. A resume
/// also removes the last attempt. A copy that no resume continues is preferred, even to one with more attempts.
static IS_OPEN: LazyLock<String> = LazyLock::new(|| {
    format!(
        // words: ok (the stored word)
        "(episode.end_reason IN ('unfinished', 'endpoint', 'environment', 'budget', 'cancelled') OR {IS_UNREADABLE})"
    )
});

/// SQL: the number of attempts of an `episode`. Of two copies, the shorter one was made earlier.
const ATTEMPTS: &str =
    "(SELECT count(*) FROM turn JOIN attempt ON attempt.turn = turn.id WHERE turn.episode = episode.id)";

/// SQL: whether an `episode` does not say when it ended. A copy that was made between the verdict and the result has the
/// verdict, and neither this time nor tokens and cost.
const HAS_NO_END: &str = "(episode.finished_at IS NULL)";

/// SQL: whether an `episode` of a `run` is a later grading of a trial.
macro_rules! is_regraded {
    () => {
        "(run.format = 'harbor' AND episode.extra ->> '$.source_trial' IS NOT NULL)"
    };
}

/// SQL: what tells a later grading of a trial from its other gradings; copies of one have the same. Empty for an `episode` whose
/// agent worked.
pub(crate) const GRADING: &str =
    concat!("iif(", is_regraded!(), ", ' ' || coalesce(episode.started_at, ''), '')");

/// SQL: the later the grading of an `episode`, the lesser. One without a verdict is none.
pub(crate) const EARLIER_GRADING: &str = concat!(
    "iif(",
    is_regraded!(),
    " AND episode.end_reason NOT IN ('verifier_error', 'no_verdict'), -1 - coalesce(unixepoch(episode.finished_at), 0), 0)"
);

/// How many terms [`QUALITY_TERMS`] has.
pub(crate) const QUALITY_TERM_COUNT: usize = 4;

/// SQL: what a copy of an `episode` lacks by itself, whatever run it is in: rules 3 to 6 of `copies` in their order. Each is an integer, and
/// the lesser, the better.
pub(crate) static QUALITY_TERMS: LazyLock<[String; QUALITY_TERM_COUNT]> =
    LazyLock::new(|| [IS_OPEN.clone(), format!("-{ATTEMPTS}"), IS_SNAPSHOT.clone(), HAS_NO_END.to_owned()]);
