//! `trajectory.json` in Stamina Lab's own schema, exactly as `docs/formats.md` defines it.
//!
//! Turn by turn into memory, transcripts skipped. A value of another type than the schema says is an error: the caller
//! then reads the file as it reads any foreign one.

use std::fmt;

use model::{Extra, Tokens};
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, de::DeserializeSeed};
use serde_json::Value;

use super::stream::Sink;

/// What `schema_version` says in files of this schema.
pub const SCHEMA: &str = "stamina-lab/1";
/// What every version of it begins with.
pub(super) const SCHEMA_FAMILY: &str = "stamina-lab/";
/// Most unknown fields that are kept of one object.
const EXTRA_CAP: usize = 64;

/// An error that the runner recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Exception {
    /// Its type.
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    /// What it says.
    #[serde(default)]
    pub(super) message: String,
}

/// A failing test that the trajectory itself describes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Failure {
    pub(super) test: String,
    pub(super) message: Option<String>,
    pub(super) expected: Option<String>,
    pub(super) actual: Option<String>,
}

/// Files of a turn, relative to the scenario folder.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct TurnFiles {
    pub(super) request: Option<String>,
    pub(super) reference: Option<String>,
    pub(super) suite: Option<String>,
    pub(super) schema: Option<String>,
}

/// Files of an attempt, relative to the scenario folder.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct AttemptFiles {
    pub(super) code: Option<String>,
    pub(super) test_output: Option<String>,
    pub(super) server_log: Option<String>,
    #[serde(default)]
    pub(super) agent_logs: Vec<String>,
    pub(super) transcript: Option<String>,
}

/// How many steps a list has; the steps themselves are read when somebody looks at them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Counted(pub(super) u32);

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Count;
        impl<'de> Visitor<'de> for Count {
            type Value = Counted;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list of steps")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Counted, A::Error> {
                let mut count = 0u32;
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    count = count.saturating_add(1);
                }
                Ok(Counted(count))
            }
        }
        deserializer.deserialize_seq(Count)
    }
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Attempt {
    #[serde(rename = "attempt")]
    pub(super) number: u32,
    pub(super) verdict: String,
    pub(super) success: Option<bool>,
    pub(super) passed: Option<u32>,
    pub(super) total: Option<u32>,
    pub(super) outcomes: Option<String>,
    #[serde(default)]
    pub(super) failures: Vec<Failure>,
    pub(super) end_reason: Option<String>,
    pub(super) tokens: Option<Tokens>,
    pub(super) cost_usd: Option<f64>,
    pub(super) tool_calls: Option<u32>,
    pub(super) started_at: Option<String>,
    pub(super) finished_at: Option<String>,
    pub(super) agent_seconds: Option<f64>,
    pub(super) test_seconds: Option<f64>,
    pub(super) exception: Option<Exception>,
    #[serde(default)]
    pub(super) files: AttemptFiles,
    pub(super) steps: Option<Counted>,
    #[serde(flatten)]
    pub(super) extra: Extra,
}

/// One turn.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Turn {
    #[serde(rename = "turn")]
    pub(super) number: u32,
    pub(super) title: Option<String>,
    pub(super) request: Option<String>,
    #[serde(default)]
    pub(super) tests: Vec<String>,
    #[serde(default)]
    pub(super) files: TurnFiles,
    #[serde(default)]
    pub(super) attempts: Vec<Attempt>,
    #[serde(flatten)]
    pub(super) extra: Extra,
}

/// A whole trajectory.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Trajectory {
    pub(super) schema_version: Option<String>,
    pub(super) title: Option<String>,
    pub(super) planned_turns: Option<u32>,
    pub(super) started_at: Option<String>,
    pub(super) finished_at: Option<String>,
    pub(super) end_reason: Option<String>,
    pub(super) exception: Option<Exception>,
    pub(super) turns: Vec<Turn>,
    pub(super) extra: Extra,
}

impl Sink for Trajectory {
    fn take<'de, D: Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(Fill(self))
    }
}

struct Fill<'a>(&'a mut Trajectory);

impl<'de> Visitor<'de> for Fill<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a trajectory")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let to = self.0;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "schema_version" => to.schema_version = map.next_value()?,
                "title" => to.title = map.next_value()?,
                "planned_turns" => to.planned_turns = map.next_value()?,
                "started_at" => to.started_at = map.next_value()?,
                "finished_at" => to.finished_at = map.next_value()?,
                "end_reason" => to.end_reason = map.next_value()?,
                "exception" => to.exception = map.next_value()?,
                "turns" => map.next_value_seed(Turns(&mut to.turns))?,
                // The folder names the scenario, and the configuration the limit.
                "scenario" | "attempt_limit" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ if to.extra.len() < EXTRA_CAP => {
                    let value: Value = map.next_value()?;
                    to.extra.insert(key, value);
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

struct Turns<'a>(&'a mut Vec<Turn>);

impl<'de> DeserializeSeed<'de> for Turns<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Turns<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of turns")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(turn) = seq.next_element()? {
            self.0.push(turn);
        }
        Ok(())
    }
}
