//! What faults of the endpoint cost a run, in words.

use model::counted;

/// The attempts that faults of the endpoint cost: those that were retried, and those that were given up. `None` = none.
pub fn endpoint_attempts(retried: u32, lost: u32) -> Option<String> {
    let attempts =
        |n: u32, outcome: &str| (n > 0).then(|| format!("{} {outcome}", counted(u64::from(n), "attempt")));
    let parts = [attempts(retried, "retried for the endpoint"), attempts(lost, "lost to it")];
    let parts: Vec<String> = match parts {
        [None, Some(_)] => vec![attempts(lost, "lost to the endpoint")?],
        parts => parts.into_iter().flatten().collect(),
    };
    (!parts.is_empty()).then(|| parts.join(", "))
}
