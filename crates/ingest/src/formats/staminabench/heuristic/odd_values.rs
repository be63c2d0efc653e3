//! Values of attempts that cannot be what their names say: each is reported, and none of them decides.

use model::{Attempt, EndReason, Verdict, Warning, counted};

use super::facts::RecordFacts;
use crate::formats::staminabench::part_warnings::PartWarnings;

/// The attempt or episode that has the values: the file, and how a sentence about it begins.
pub(super) struct ValueOwner<'a> {
    /// The file.
    pub(super) path: &'a str,
    /// The beginning of a sentence: `Turn 3 attempt 2`.
    pub(super) name: String,
}

impl ValueOwner<'_> {
    /// Says which values of known names are not used.
    pub(super) fn report_odd_values(&self, facts: &mut RecordFacts, warnings: &mut PartWarnings<'_>) {
        let name = &self.name;
        for odd in std::mem::take(&mut facts.odd) {
            let message =
                format!("{name} has “{odd}”, which cannot be. It is kept as an extra field and not used.");
            warnings.warn(Warning::read_differently(self.path, "value.not_usable", message));
        }
    }

    /// Tests passed and run. Where more passed than there are, that is reported, and both are unknown.
    pub(super) fn numbers(
        &self,
        facts: &mut RecordFacts,
        warnings: &mut PartWarnings<'_>,
    ) -> (Option<u32>, Option<u32>) {
        let (passed, total) = facts.numbers();
        let (Some(p), Some(t)) = (passed, total) else { return (passed, total) };
        if p <= t {
            return (passed, total);
        }
        let message = format!(
            "{} has {} passed of {t}. The numbers are kept as extra fields and not used.",
            self.name,
            counted(p.into(), "test")
        );
        warnings.warn(Warning::read_differently(self.path, "value.not_usable", message));
        facts.extra.insert("passed".to_owned(), p.into());
        facts.extra.insert("total".to_owned(), t.into());
        (None, None)
    }

    /// Gives an attempt whose only verdict is a value that cannot be read the verifier's error, and reports it.
    pub(super) fn no_verdict(
        &self,
        attempt: &mut Attempt,
        unreadable: Option<&str>,
        warnings: &mut PartWarnings<'_>,
    ) {
        let Some(value) = unreadable else { return };
        if attempt.verdict != Verdict::Error || attempt.end_reason.is_some() || attempt.exception.is_some() {
            return;
        }
        attempt.end_reason = Some(EndReason::VerifierError);
        let message = format!(
            "{} says its verdict in a way that cannot be read (“{value}”). It is shown as an error of the verifier.",
            self.name
        );
        warnings.warn(Warning::read_differently(self.path, "verdict.missing", message));
    }
}
