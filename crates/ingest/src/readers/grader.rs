//! What the tool calls of a transcript name of the places of a task's verifier.
//!
//! Of a transcript only fingerprints of its steps and the places are kept. Only what an agent asked for is searched: names
//! and arguments of its calls, not their results, and not its texts.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use model::GraderPlace;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Most steps of a transcript.
const STEPS: usize = 200_000;

/// What the steps of a transcript name of the places of a verifier, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepMentions {
    /// The same for steps that are one.
    fingerprints: Vec<u64>,
    /// Places in `fingerprints` of the steps that name something, with what they name.
    naming: Vec<(usize, BTreeSet<GraderPlace>)>,
}

impl StepMentions {
    /// Adds the next step.
    pub(crate) fn push(&mut self, fingerprint: u64, places: &BTreeSet<GraderPlace>) {
        if !places.is_empty() {
            self.naming.push((self.fingerprints.len(), places.clone()));
        }
        self.fingerprints.push(fingerprint);
    }

    /// What the steps name. Where they continue with those of an earlier transcript, as those of a session that is continued do,
    /// what they repeat of it is left out.
    pub(crate) fn new_places(&self, earlier: Option<&Self>) -> BTreeSet<GraderPlace> {
        let repeated = earlier.and_then(|earlier| self.repeats(&earlier.fingerprints)).unwrap_or_default();
        let own = self.naming.iter().filter(|(index, _)| repeated.binary_search(index).is_err());
        own.flat_map(|(_, places)| places).copied().collect()
    }

    /// Whether they name nothing.
    pub(crate) const fn is_silent(&self) -> bool {
        self.naming.is_empty()
    }

    /// Where the steps of an earlier transcript stand among these, if all of them do, in their order, and more besides.
    fn repeats(&self, earlier: &[u64]) -> Option<Vec<usize>> {
        if earlier.is_empty() || self.fingerprints.len() <= earlier.len() {
            return None;
        }
        let mut own = self.fingerprints.iter().enumerate();
        earlier
            .iter()
            .map(|before| own.find(|(_, fingerprint)| *fingerprint == before).map(|(index, _)| index))
            .collect()
    }
}

/// The tool calls of a step.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// How many there are.
    pub(crate) count: usize,
    /// The same for equal calls.
    pub(crate) fingerprint: u64,
    /// What they name.
    pub(crate) places: BTreeSet<GraderPlace>,
}

impl<'de> Deserialize<'de> for Calls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Calls;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of tool calls")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Calls, A::Error> {
                let (mut digest, mut count) = (CallDigest::default(), 0);
                while list.next_element_seed(CallSeed(&mut digest))?.is_some() {
                    count += 1;
                }
                Ok(Calls { count, fingerprint: digest.hasher.finish(), places: digest.places })
            }
        }
        deserializer.deserialize_seq(List)
    }
}

/// The hash of what was read so far, and the places that it names.
#[derive(Default)]
struct CallDigest {
    hasher: DefaultHasher,
    places: BTreeSet<GraderPlace>,
}

/// One call, of which its name and its arguments count. What is no object is a call without them.
struct CallSeed<'a>(&'a mut CallDigest);

impl<'de> DeserializeSeed<'de> for CallSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for CallSeed<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a tool call")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" | "function_name" | "arguments" => map.next_value_seed(HashedValue(&mut *self.0))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// Any value: its texts are searched, and all of it makes the fingerprint.
struct HashedValue<'a>(&'a mut CallDigest);

impl<'de> DeserializeSeed<'de> for HashedValue<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for HashedValue<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        value.hash(&mut self.0.hasher);
        Ok(())
    }
    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        value.hash(&mut self.0.hasher);
        Ok(())
    }
    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        value.hash(&mut self.0.hasher);
        Ok(())
    }
    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        value.to_bits().hash(&mut self.0.hasher);
        Ok(())
    }
    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        text.hash(&mut self.0.hasher);
        GraderPlace::named_in(text, &mut self.0.places);
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(HashedValue(&mut *self.0))?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key_seed(HashedValue(&mut *self.0))?.is_some() {
            map.next_value_seed(HashedValue(&mut *self.0))?;
        }
        Ok(())
    }
}

/// A transcript in Stamina Lab's own schema (`docs/formats.md`).
#[derive(Debug, Default, Deserialize)]
pub(crate) struct OwnTranscript {
    /// What its steps name.
    #[serde(default)]
    pub(crate) steps: StepMentions,
}

/// What identifies a step.
#[derive(Debug, Default, Deserialize)]
struct OwnStep {
    #[serde(default)]
    kind: Fingerprint,
    #[serde(default)]
    text: Fingerprint,
    #[serde(default)]
    at: Fingerprint,
    #[serde(default)]
    tool_calls: Option<Calls>,
}

/// The same for equal values.
#[derive(Debug, Default, Hash)]
struct Fingerprint(u64);

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut digest = CallDigest::default();
        deserializer.deserialize_any(HashedValue(&mut digest))?;
        Ok(Self(digest.hasher.finish()))
    }
}

impl<'de> Deserialize<'de> for StepMentions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Steps;
        impl<'de> Visitor<'de> for Steps {
            type Value = StepMentions;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of steps")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<StepMentions, A::Error> {
                let mut mentions = StepMentions::default();
                while let Some(step) = list.next_element::<OwnStep>()? {
                    if mentions.fingerprints.len() == STEPS {
                        return Err(Error::custom(format!("it has more than {STEPS} steps")));
                    }
                    let calls = step.tool_calls.unwrap_or_default();
                    let mut hasher = DefaultHasher::new();
                    (step.kind, step.text, step.at, calls.fingerprint).hash(&mut hasher);
                    mentions.push(hasher.finish(), &calls.places);
                }
                Ok(mentions)
            }
        }
        deserializer.deserialize_seq(Steps)
    }
}

#[cfg(test)]
mod tests {
    use GraderPlace::{RewardFile, Tests, VerifierLogs};
    use serde_json::json;

    use super::*;

    fn transcript(steps: &serde_json::Value) -> StepMentions {
        serde_json::from_value::<OwnTranscript>(json!({ "schema_version": "stamina-lab/1", "steps": steps }))
            .unwrap()
            .steps
    }

    fn call(arguments: &serde_json::Value) -> serde_json::Value {
        json!({ "kind": "agent", "text": "", "tool_calls": [{ "name": "bash", "arguments": arguments }] })
    }

    fn places(mentions: &StepMentions, earlier: Option<&StepMentions>) -> Vec<GraderPlace> {
        mentions.new_places(earlier).into_iter().collect()
    }

    #[test]
    fn only_what_an_agent_asks_for_is_searched() {
        let silent = transcript(&json!([
            { "kind": "user", "text": "The tests in /tests are run." },
            { "kind": "agent", "text": "I do not look into /logs/verifier.", "reasoning": "/tests?",
              "tool_calls": [{ "name": "bash", "arguments": { "command": "ls /" }, "result": "/tests\nreward.txt" }] },
        ]));
        assert!(places(&silent, None).is_empty() && silent.is_silent());
        let mentioning = transcript(&json!([
            call(&json!({ "commands": [{ "run": "cat /tests/test.sh" }] })),
            call(&json!("echo 1 > /logs/verifier/reward.txt")),
        ]));
        assert_eq!(places(&mentioning, None), [Tests, VerifierLogs, RewardFile]);
        // A patch has its paths as keys.
        assert_eq!(places(&transcript(&json!([call(&json!({ "/tests/a.py": "x" }))])), None), [Tests]);
    }

    #[test]
    fn a_continued_session_does_not_count_again_what_it_repeats() {
        let look = call(&json!({ "command": "cat /tests/test.sh" }));
        let work = call(&json!({ "command": "make" }));
        let write = call(&json!({ "command": "touch reward.txt" }));
        let first = transcript(&json!([look, work]));
        let continued = transcript(&json!([look, work, write]));
        assert_eq!(places(&continued, Some(&first)), [RewardFile]);
        // It looks once more.
        let repeated_transcript = transcript(&json!([look, work, look]));
        assert_eq!(places(&repeated_transcript, Some(&first)), [Tests]);
        // A new session, which does not hold the one before.
        assert_eq!(places(&transcript(&json!([look, write])), Some(&first)), [Tests, RewardFile]);
        assert_eq!(places(&first, Some(&first)), [Tests], "as many steps are no more");
        assert_eq!(places(&first, Some(&StepMentions::default())), [Tests]);
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn strange_transcripts_are_bounded_or_refused() {
        for steps in [json!(7), json!({}), json!([{ "tool_calls": "x" }]), json!([7])] {
            let file = json!({ "steps": steps });
            assert!(serde_json::from_value::<OwnTranscript>(file).is_err(), "{steps}");
        }
        let odd = transcript(
            &json!([{ "kind": null, "text": [1], "tool_calls": [null, true, -1, 2, 0.5, "/tests", ["/tests"], {}] }, {}]),
        );
        assert_eq!((odd.fingerprints.len(), places(&odd, None)), (2, Vec::new()));
        let steps_json = |steps: usize| format!(r#"{{"steps": [{}]}}"#, vec!["{}"; steps].join(","));
        assert!(serde_json::from_str::<OwnTranscript>(&steps_json(STEPS)).is_ok());
        assert!(serde_json::from_str::<OwnTranscript>(&steps_json(STEPS + 1)).is_err());
    }
}
