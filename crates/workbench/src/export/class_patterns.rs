//! Color and hatch of each class of failures: the same in every figure, whatever other classes are in it.

use analysis::failures::FailureClass as Class;

/// The place of a class is its pattern. Classes that often occur together come first, since the first patterns differ most. A new
/// class stands at the end, so that the others keep their patterns.
const PLACES: [Class; 34] = [
    Class::WrongValue,
    Class::DidNotStart,
    Class::Crashed,
    Class::Other,
    Class::WrongExit,
    Class::MissingCommand,
    Class::AgentTimeout,
    Class::WrongStatus,
    Class::MissingField,
    Class::MissingRoute,
    Class::NoVerdict,
    Class::Endpoint,
    Class::WrongList,
    Class::WrongEffect,
    Class::TooLax,
    Class::TooStrict,
    Class::StaleName,
    Class::TimedOut,
    Class::GuardIgnored,
    Class::MissingCascade,
    Class::WrongAggregate,
    Class::Nullability,
    Class::WrongDefault,
    Class::InventedFeature,
    Class::HarnessError,
    Class::ContextOverflow,
    Class::ToolCallFormat,
    Class::GaveUp,
    Class::NoChange,
    Class::KilledItself,
    Class::LoopDetection,
    Class::AttemptBudget,
    Class::Budget,
    Class::Infrastructure,
];

/// The pattern of a class, by its word.
pub(super) fn pattern(class: &str) -> Option<u8> {
    let class = Class::parse(class)?;
    let place = PLACES.iter().position(|own| *own == class)?;
    u8::try_from(place).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_class_has_a_pattern_of_its_own() {
        let patterns: BTreeSet<u8> =
            Class::ALL.iter().map(|class| pattern(class.as_str()).expect("a pattern")).collect();
        assert_eq!(patterns.len(), Class::ALL.len());
        // The last pattern is that of "other".
        assert!(patterns.iter().all(|pattern| *pattern < figures::CLASS_PATTERNS - 1), "{patterns:?}");
    }
}
