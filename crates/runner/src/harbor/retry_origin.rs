//! What a retry of an attempt at a step begins from: its container has to be what it was before the attempt.

/// What the container of a retry is opened from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryOrigin {
    /// The snapshot of the step.
    Snapshot,
    /// The image of the task: no attempt was played before this one.
    TaskImage,
}

/// What a retry of an attempt begins from; `None` = its container cannot be made again. `restores`: each attempt at a step begins
/// from its snapshot. Else a further attempt begins with what the one before it left, and no snapshot has that.
pub(super) fn retry_origin(
    step: u32,
    attempt: u32,
    has_snapshot: bool,
    restores: bool,
) -> Option<RetryOrigin> {
    if has_snapshot {
        (restores || attempt == 1).then_some(RetryOrigin::Snapshot)
    } else {
        (step == 1 && attempt == 1).then_some(RetryOrigin::TaskImage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_of_the_page_says_what_a_retry_begins_from() {
        const SNAPSHOT: Option<RetryOrigin> = Some(RetryOrigin::Snapshot);
        let page = include_str!("../../../../docs/harnesses.md");
        // Step, attempt, whether the step has a snapshot, whether each attempt begins from it.
        for (row, origin, places) in [
            (
                "any, with `restore_before_try` | the snapshot before its step",
                SNAPSHOT,
                vec![(1, 1, true, true), (1, 2, true, true), (2, 1, true, true), (5, 3, true, true)],
            ),
            (
                "the first at a step, with `harbor.snapshots=each_step` | the snapshot before its step",
                SNAPSHOT,
                vec![(1, 1, true, false), (2, 1, true, false), (5, 1, true, false)],
            ),
            (
                "the first at the first step, without snapshots | a new container",
                Some(RetryOrigin::TaskImage),
                vec![(1, 1, false, false)],
            ),
            (
                "any other | nothing: it is not retried",
                None,
                vec![(1, 2, false, false), (2, 1, false, false), (1, 2, true, false), (3, 2, true, false)],
            ),
        ] {
            assert!(page.contains(&format!("\n| {row} |")), "docs/harnesses.md has no row: {row}");
            for (step, attempt, has_snapshot, restores) in places {
                assert_eq!(
                    retry_origin(step, attempt, has_snapshot, restores),
                    origin,
                    "{row}: step {step}, attempt {attempt}"
                );
            }
        }
    }
}
