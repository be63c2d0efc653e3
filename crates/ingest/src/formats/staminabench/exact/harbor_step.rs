//! An attempt at a step of a Harbor task that Stamina Lab played: its reward decides, and its output holds cases.

use model::{Attempt, Counting, Verdict, Warning};

use crate::formats::harbor::take_cases;
use crate::formats::staminabench::part_warnings::PartWarnings;
use crate::readers::case_lines;
use ::files::{ReadError, Tree};

/// Largest output whose cases are read, in bytes; of a larger one the rest is left out.
const OUTPUT_CAP: u64 = 32 << 20;

/// Takes over the reward and the cases. The verdict and the reason stay: they were recorded by the reward.
pub(super) fn add_reward_and_cases(
    tree: &Tree,
    path: &str,
    attempt: &mut Attempt,
    warnings: &mut PartWarnings<'_>,
) {
    attempt.reward = attempt.extra.remove("reward").and_then(|reward| reward.as_f64());
    // Nothing could be tested: that is known, and the case score counts it as 0. Else there are no cases.
    attempt.counting = if attempt.total == Some(0) { Counting::Share } else { Counting::Outside };
    if attempt.verdict == Verdict::Passed {
        attempt.end_reason = None;
    }
    if path.is_empty() {
        return;
    }
    match tree.read_range(path, 0, OUTPUT_CAP) {
        Ok((bytes, total)) => {
            warnings.read_file();
            if total > OUTPUT_CAP {
                warnings.warn(Warning::read_differently(
                    path,
                    "file.cut",
                    format!("The output has {total} bytes: its first {OUTPUT_CAP} were read."),
                ));
            }
            let log = case_lines::parse(&String::from_utf8_lossy(&bytes));
            if !log.is_empty() {
                attempt.counting = Counting::Share;
                take_cases(log, path, attempt, &mut |warning| warnings.warn(warning));
                warnings.keep_tests(attempt, path);
            }
        }
        Err(ReadError::Missing) => warnings.warn(Warning::skipped(
            path,
            "file.missing",
            "The trajectory names this output, and it is not there. The numbers of the trajectory are taken unchecked.",
        )),
        Err(error) => warnings.warn(Warning::skipped(
            path,
            error.code(),
            format!("{error}. The step's tests are unknown; its reward decides."),
        )),
    }
}
