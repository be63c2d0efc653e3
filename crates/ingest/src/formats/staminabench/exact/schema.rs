//! `trajectory.json` in Stamina Lab's own schema, exactly as `docs/formats.md` defines it.
//!
//! Turn by turn into memory, transcripts skipped. A value of another type than the schema says is an error: the caller
//! then reads the file as it reads any foreign one. The program that writes the file decides how long its lists and texts are,
//! so what is kept of them is bounded, one by one and all together.

use std::fmt;
use std::marker::PhantomData;

use files::JsonSink;
use model::{Extra, Tokens};
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::formats::staminabench::bounded_json::{BoundedDocument, KeepAll, Value};
use crate::formats::staminabench::json_fields::{EXTRA_CAP, kept_value};
use crate::readers::json::{Node, cut};

/// What `schema_version` says in files of this schema.
pub const SCHEMA: &str = "stamina-lab/1";
/// What every version of it begins with.
pub(in crate::formats::staminabench) const SCHEMA_FAMILY: &str = "stamina-lab/";
/// Bytes of texts, and of places in lists, that are kept of one trajectory.
const BYTES: usize = 128 << 20;

/// A text of which at most `N` bytes are kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct BoundedText<const N: usize>(pub(super) String);

impl<const N: usize> std::ops::Deref for BoundedText<N> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

/// An id or a path.
pub(super) type Name = BoundedText<1024>;
/// A sentence or some lines.
pub(super) type Lines = BoundedText<8192>;

impl<'de, const N: usize> Deserialize<'de> for BoundedText<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CutText<const N: usize>;
        impl<const N: usize> Visitor<'_> for CutText<N> {
            type Value = BoundedText<N>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_str<E>(self, text: &str) -> Result<BoundedText<N>, E> {
                Ok(BoundedText(cut(text, N).0.to_owned()))
            }
        }
        deserializer.deserialize_str(CutText)
    }
}

/// A list of which at most `N` elements are kept; `null` is an empty one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BoundedList<T, const N: usize>(pub(super) Vec<T>);

impl<T, const N: usize> Default for BoundedList<T, N> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for BoundedList<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Take<T, const N: usize>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Take<T, N> {
            type Value = BoundedList<T, N>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(BoundedList::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while list.len() < N {
                    let Some(element) = seq.next_element()? else { return Ok(BoundedList(list)) };
                    list.push(element);
                }
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(BoundedList(list))
            }
        }
        deserializer.deserialize_any(Take(PhantomData))
    }
}

/// An error that the runner recorded.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Exception {
    /// Its type.
    #[serde(rename = "type", default)]
    pub(super) kind: Name,
    /// What it says.
    #[serde(default)]
    pub(super) message: Lines,
}

impl Exception {
    /// Type and message.
    pub(super) fn pair(self) -> (String, String) {
        (self.kind.0, self.message.0)
    }
}

/// A failing test that the trajectory itself describes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Failure {
    pub(super) test: Name,
    pub(super) message: Option<Lines>,
    pub(super) expected: Option<Lines>,
    pub(super) actual: Option<Lines>,
}

/// Files of a turn, relative to the scenario folder.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct TurnFiles {
    pub(super) request: Option<Name>,
    pub(super) reference: Option<Name>,
    pub(super) suite: Option<Name>,
    pub(super) schema: Option<Name>,
}

/// Files of an attempt, relative to the scenario folder.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct AttemptFiles {
    pub(super) code: Option<Name>,
    pub(super) test_output: Option<Name>,
    pub(super) server_log: Option<Name>,
    #[serde(default)]
    pub(super) agent_logs: BoundedList<Name, 200>,
    pub(super) transcript: Option<Name>,
}

/// How many steps a list has; the steps themselves are read when they are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct StepCount(pub(super) u32);

impl<'de> Deserialize<'de> for StepCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Count;
        impl<'de> Visitor<'de> for Count {
            type Value = StepCount;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of steps")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<StepCount, A::Error> {
                let mut count = 0u32;
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    count = count.saturating_add(1);
                }
                Ok(StepCount(count))
            }
        }
        deserializer.deserialize_seq(Count)
    }
}

/// One attempt.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Attempt {
    pub(super) number: u32,
    pub(super) verdict: Name,
    pub(super) success: Option<bool>,
    pub(super) passed: Option<u32>,
    pub(super) total: Option<u32>,
    pub(super) outcomes: Option<BoundedText<20_000>>,
    pub(super) failures: BoundedList<Failure, 2_000>,
    pub(super) end_reason: Option<Name>,
    pub(super) tokens: Option<Tokens>,
    pub(super) cost_usd: Option<f64>,
    pub(super) tool_calls: Option<u32>,
    pub(super) model_requests: Option<u32>,
    pub(super) started_at: Option<Name>,
    pub(super) finished_at: Option<Name>,
    pub(super) agent_seconds: Option<f64>,
    pub(super) test_seconds: Option<f64>,
    pub(super) exception: Option<Exception>,
    pub(super) files: Option<AttemptFiles>,
    pub(super) steps: Option<StepCount>,
    pub(super) extra: Extra,
}

/// One turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Turn {
    pub(super) number: u32,
    pub(super) title: Option<Name>,
    pub(super) request: Option<BoundedText<65_536>>,
    pub(super) tests: BoundedList<Name, 20_000>,
    pub(super) files: Option<TurnFiles>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) extra: Extra,
}

/// A whole trajectory.
#[derive(Debug)]
pub(in crate::formats::staminabench) struct Trajectory {
    pub(super) title: Option<Name>,
    /// The name of the task, where the scenario is one of Harbor's.
    pub(super) task: Option<Name>,
    pub(super) planned_turns: Option<u32>,
    pub(super) attempt_limit: Option<u32>,
    pub(super) started_at: Option<Name>,
    pub(super) finished_at: Option<Name>,
    pub(super) end_reason: Option<Name>,
    pub(super) exception: Option<Exception>,
    pub(super) turns: Vec<Turn>,
    pub(super) extra: Extra,
    /// Whether there was more than is kept.
    pub(super) is_cut: bool,
    free_bytes: usize,
    unknown: BoundedDocument<KeepAll>,
}

impl Default for Trajectory {
    fn default() -> Self {
        Self {
            title: None,
            task: None,
            planned_turns: None,
            attempt_limit: None,
            started_at: None,
            finished_at: None,
            end_reason: None,
            exception: None,
            turns: Vec::new(),
            extra: Extra::new(),
            is_cut: false,
            free_bytes: BYTES,
            unknown: BoundedDocument::default(),
        }
    }
}

impl JsonSink for Trajectory {
    fn restart(&mut self) {
        *self = Self::default();
    }
    fn take<'de, D: Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(WholeVisitor(self))
    }
}

/// Keeps an unknown field, out of a budget that the whole file shares.
fn unknown<'de, A: MapAccess<'de>>(
    map: &mut A,
    key: &str,
    extra: &mut Extra,
    document: &mut BoundedDocument<KeepAll>,
) -> Result<(), A::Error> {
    if extra.len() >= EXTRA_CAP || document.is_used_up() {
        map.next_value::<IgnoredAny>()?;
        return Ok(());
    }
    let mut node = Node::Null;
    map.next_value_seed(Value { node: &mut node, document })?;
    if node != Node::Null {
        extra.insert(cut(key, 256).0.to_owned(), kept_value(&node));
    }
    Ok(())
}

struct WholeVisitor<'a>(&'a mut Trajectory);

impl<'de> Visitor<'de> for WholeVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a trajectory")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let trajectory = self.0;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "title" => trajectory.title = map.next_value()?,
                "task" => trajectory.task = map.next_value()?,
                "planned_turns" => trajectory.planned_turns = map.next_value()?,
                "started_at" => trajectory.started_at = map.next_value()?,
                "finished_at" => trajectory.finished_at = map.next_value()?,
                "end_reason" => trajectory.end_reason = map.next_value()?,
                "exception" => trajectory.exception = map.next_value()?,
                "turns" if !trajectory.turns.is_empty() => return Err(de::Error::duplicate_field("turns")),
                "turns" => map.next_value_seed(List(trajectory))?,
                "attempt_limit" => trajectory.attempt_limit = map.next_value()?,
                // The caller knows both.
                "schema_version" | "scenario" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ => unknown(&mut map, &key, &mut trajectory.extra, &mut trajectory.unknown)?,
            }
        }
        Ok(())
    }
}

/// The list of turns, or that of the last turn's attempts.
struct List<'a>(&'a mut Trajectory);

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of turns")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let whole = self.0;
        while whole.free_bytes > 0 {
            let Some(turn) =
                seq.next_element_seed(ElementSeed::<Turn>::new(&mut whole.free_bytes, &mut whole.unknown))?
            else {
                return Ok(());
            };
            whole.turns.push(turn);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {
            whole.is_cut = true;
        }
        Ok(())
    }
}

/// Reads one turn or attempt within the bytes that are left.
struct ElementSeed<'a, T> {
    free_bytes: &'a mut usize,
    unknown: &'a mut BoundedDocument<KeepAll>,
    kind: PhantomData<T>,
}

impl<'a, T> ElementSeed<'a, T> {
    const fn new(free_bytes: &'a mut usize, unknown: &'a mut BoundedDocument<KeepAll>) -> Self {
        Self { free_bytes, unknown, kind: PhantomData }
    }
}

impl<'de> DeserializeSeed<'de> for ElementSeed<'_, Turn> {
    type Value = Turn;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Turn, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ElementSeed<'_, Turn> {
    type Value = Turn;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a turn")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Turn, A::Error> {
        let mut turn = Turn::default();
        let mut number = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "turn" => number = Some(map.next_value()?),
                "title" => turn.title = map.next_value()?,
                "request" => turn.request = map.next_value()?,
                "tests" => turn.tests = map.next_value()?,
                "files" => turn.files = map.next_value()?,
                "attempts" => map.next_value_seed(Attempts {
                    free_bytes: self.free_bytes,
                    unknown: self.unknown,
                    found: &mut turn.attempts,
                })?,
                _ => unknown(&mut map, &key, &mut turn.extra, self.unknown)?,
            }
        }
        turn.number = number.ok_or_else(|| de::Error::missing_field("turn"))?;
        let tests: usize = turn.tests.0.iter().map(|t| t.0.len() + 32).sum();
        *self.free_bytes =
            self.free_bytes.saturating_sub(tests + turn.request.as_ref().map_or(0, |r| r.0.len()) + 512);
        Ok(turn)
    }
}

struct Attempts<'a> {
    free_bytes: &'a mut usize,
    unknown: &'a mut BoundedDocument<KeepAll>,
    found: &'a mut Vec<Attempt>,
}

impl<'de> DeserializeSeed<'de> for Attempts<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Attempts<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of attempts")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while *self.free_bytes > 0 {
            let Some(attempt) =
                seq.next_element_seed(ElementSeed::<Attempt>::new(self.free_bytes, self.unknown))?
            else {
                return Ok(());
            };
            self.found.push(attempt);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for ElementSeed<'_, Attempt> {
    type Value = Attempt;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Attempt, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ElementSeed<'_, Attempt> {
    type Value = Attempt;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an attempt")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Attempt, A::Error> {
        let mut attempt = Attempt::default();
        let (mut number, mut verdict) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "attempt" => number = Some(map.next_value()?),
                "verdict" => verdict = Some(map.next_value()?),
                "success" => attempt.success = map.next_value()?,
                "passed" => attempt.passed = map.next_value()?,
                "total" => attempt.total = map.next_value()?,
                "outcomes" => attempt.outcomes = map.next_value()?,
                "failures" => attempt.failures = map.next_value()?,
                "end_reason" => attempt.end_reason = map.next_value()?,
                "tokens" => attempt.tokens = map.next_value()?,
                "cost_usd" => attempt.cost_usd = map.next_value()?,
                "tool_calls" => attempt.tool_calls = map.next_value()?,
                "model_requests" => attempt.model_requests = map.next_value()?,
                "started_at" => attempt.started_at = map.next_value()?,
                "finished_at" => attempt.finished_at = map.next_value()?,
                "agent_seconds" => attempt.agent_seconds = map.next_value()?,
                "test_seconds" => attempt.test_seconds = map.next_value()?,
                "exception" => attempt.exception = map.next_value()?,
                "files" => attempt.files = map.next_value()?,
                "steps" => attempt.steps = map.next_value()?,
                _ => unknown(&mut map, &key, &mut attempt.extra, self.unknown)?,
            }
        }
        attempt.number = number.ok_or_else(|| de::Error::missing_field("attempt"))?;
        attempt.verdict = verdict.ok_or_else(|| de::Error::missing_field("verdict"))?;
        let text = |t: &Option<Lines>| t.as_ref().map_or(0, |t| t.0.len());
        let failures: usize = attempt
            .failures
            .0
            .iter()
            .map(|f| 128 + f.test.0.len() + text(&f.message) + text(&f.expected) + text(&f.actual))
            .sum();
        let logs = attempt.files.as_ref().map_or(0, |f| f.agent_logs.0.iter().map(|l| l.0.len() + 32).sum());
        let outcomes = attempt.outcomes.as_ref().map_or(0, |o| o.0.len());
        *self.free_bytes = self.free_bytes.saturating_sub(failures + logs + outcomes + 1024);
        Ok(attempt)
    }
}
