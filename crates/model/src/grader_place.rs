//! Places in the container of a task that belong to its verifier, and which of them a text names.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use ts_rs::TS;

/// A place in the container of a task that belongs to its verifier.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    TS,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum GraderPlace {
    /// `/tests`, which holds the suite while it runs.
    Tests,
    /// `/logs/verifier`, where the verifier writes.
    VerifierLogs,
    /// A file with the name of a verdict: `reward.txt`, `reward.json`.
    RewardFile,
}

impl GraderPlace {
    /// Every place, in the order of display.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The stable word in the database and in exports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The inverse of [`GraderPlace::as_str`].
    pub fn parse(word: &str) -> Option<Self> {
        word.parse().ok()
    }

    /// The label that people read.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Tests => "/tests",
            Self::VerifierLogs => "/logs/verifier",
            Self::RewardFile => "a reward file",
        }
    }

    /// Adds the places that a text names: an absolute path `/tests` or `/logs/verifier`, or a file name `reward.txt` or
    /// `reward.json`. The path of another folder with the same last name (`/app/tests`, `tests/`) does not count.
    pub fn named_in(text: &str, places: &mut BTreeSet<Self>) {
        let found = |name: &str| {
            let is_path = name.starts_with('/');
            text.match_indices(name).any(|(index, _)| {
                begins_name(&text[..index], is_path) && ends_name(&text[index + name.len()..])
            })
        };
        for (place, names) in [
            (Self::Tests, &["/tests"][..]),
            (Self::VerifierLogs, &["/logs/verifier"]),
            (Self::RewardFile, &["reward.txt", "reward.json"]),
        ] {
            if !places.contains(&place) && names.iter().any(|&name| found(name)) {
                places.insert(place);
            }
        }
    }
}

/// Whether a name may begin after this text. An absolute path does not start inside a longer path.
fn begins_name(before: &str, is_path: bool) -> bool {
    before.chars().next_back().is_none_or(|c| {
        let is_of_name = c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let is_of_path = matches!(c, '/' | '~' | '}' | ')');
        !(is_of_name || is_path && is_of_path)
    })
}

/// Whether a name may end before this text. A full stop ends it unless a letter follows.
fn ends_name(after: &str) -> bool {
    let mut letters = after.chars();
    match letters.next() {
        None => true,
        Some('.') => letters.next().is_none_or(|c| !c.is_alphanumeric()),
        Some(c) => !(c.is_alphanumeric() || matches!(c, '_' | '-')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<GraderPlace> {
        let mut places = BTreeSet::new();
        GraderPlace::named_in(text, &mut places);
        places.into_iter().collect()
    }

    #[test]
    fn the_places_of_a_verifier_are_found_where_they_are_named() {
        use GraderPlace::{RewardFile, Tests, VerifierLogs};
        for (text, places) in [
            ("cat /tests/test.sh", &[Tests][..]),
            ("ls /tests", &[Tests]),
            ("ls '/tests' && echo", &[Tests]),
            ("open(\"/tests/test_outputs.py\")", &[Tests]),
            ("Look at /tests.", &[Tests]),
            ("cp -r /tests/* /app", &[Tests]),
            ("echo 1 >/logs/verifier/reward.txt", &[VerifierLogs, RewardFile]),
            ("cd /logs/verifier; echo 1 > reward.txt", &[VerifierLogs, RewardFile]),
            ("json.dump(x, open('reward.json', 'w'))", &[RewardFile]),
            ("x=/tests; y=/logs/verifier", &[Tests, VerifierLogs]),
            ("pytest /app/tests", &[]),
            ("pytest tests/ ./tests ../tests ~/tests $HOME/tests ${ROOT}/tests $(pwd)/tests", &[]),
            ("curl http://localhost:8000/tests", &[]),
            ("cat /tests.py /tests_old /tests-2 /testsuite", &[]),
            ("cat my_reward.txt reward.txt.bak reward.text", &[]),
            ("ls /logs/verifiers /var/logs/verifier /logs/agent", &[]),
            ("", &[]),
            ("die Prüfung ä/tests 測試/tests", &[]),
        ] {
            assert_eq!(named(text), places, "{text}");
        }
    }

    #[test]
    fn stored_words_round_trip() {
        for place in GraderPlace::ALL {
            assert_eq!(GraderPlace::parse(place.as_str()), Some(*place));
            assert_eq!(serde_json::json!(place), place.as_str());
        }
        assert_eq!(GraderPlace::parse("home"), None);
    }
}
