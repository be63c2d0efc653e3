//! Any `trajectory.json`, held lean: what is said about turns and attempts in full, the transcripts as sums only.
//!
//! The value is filled in place, so that a file that breaks off leaves what came before the break. Lists of messages
//! never reach memory: of each only its place ([`Steps`]), length, tokens, cost and times stay.

use std::collections::BTreeMap;
use std::fmt;

use files::JsonSink;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::usage::{self, Usage};
use super::words;
use crate::readers::json::{Names, Node, within_64_bits};

/// Values that are kept of one file.
const VALUES: usize = 600_000;
/// Bytes of text that are kept of one file.
const TEXTS: usize = 48 << 20;
/// Bytes that are kept of one text.
const TEXT: usize = 8 << 10;
/// Bytes that are kept of one key.
const KEY: usize = 256;
/// Bytes of paths and sums of transcripts that are kept of one file, and those of the sums of one.
const PATHS: usize = 32 << 20;
const SUMS: usize = 256;
/// Values that are looked at in one step of a transcript.
const STEP_VALUES: usize = 4_000;

/// The name of a field as it is kept, and as it stands in pointers.
pub(super) fn short(key: &str) -> &str {
    crate::readers::json::cut(key, KEY).0
}

/// What a list of steps sums up to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Steps {
    /// How many there are.
    pub(super) count: u32,
    /// How many of them are the agent's: neither system, user nor tool.
    pub(super) of_agent: u32,
    /// Tokens and cost of those that name them.
    pub(super) usage: Usage,
    /// Tool calls; `None` = no step names any.
    pub(super) tool_calls: Option<u32>,
    /// Time of the first step that has one.
    pub(super) first_at: Option<String>,
    /// Time of the last step that has one.
    pub(super) last_at: Option<String>,
}

/// A document without its transcripts.
#[derive(Debug)]
pub(super) struct Lean {
    /// The document.
    pub(super) root: Node,
    /// Transcripts by their JSON pointer.
    pub(super) steps: BTreeMap<String, Steps>,
    /// Whether there was more than is kept.
    pub(super) cut: bool,
    pointer: String,
    values: usize,
    texts: usize,
    /// Not given back by steps that are forgotten: transcripts in them stay.
    paths: usize,
    /// Bytes that are kept of one text.
    text: usize,
    /// Whether lists of messages are summed up.
    sums: bool,
}

impl Lean {
    /// A budget for the elements of a transcript, in which nothing is summed up.
    pub(super) fn of_transcript() -> Self {
        Self { text: 64 << 10, sums: false, ..Self::default() }
    }

    /// Whether nothing more is kept.
    pub(super) const fn is_used_up(&self) -> bool {
        self.values == 0 || self.texts == 0
    }
}

impl Default for Lean {
    fn default() -> Self {
        Self {
            root: Node::Null,
            steps: BTreeMap::new(),
            cut: false,
            pointer: String::new(),
            values: VALUES,
            texts: TEXTS,
            paths: PATHS,
            text: TEXT,
            sums: true,
        }
    }
}

impl JsonSink for Lean {
    fn restart(&mut self) {
        *self = Self { text: self.text, sums: self.sums, ..Self::default() };
    }
    fn take<'de, D: Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error> {
        let mut root = Node::Null;
        let done = Fill { to: &mut root, lean: self, mode: Mode::Plain }.deserialize(json);
        self.root = root;
        // Every document that is read here has parts; a lone text or number would say nothing and not be missed.
        if done.is_ok() && !matches!(self.root, Node::Map(_) | Node::List(_)) {
            return Err(de::Error::custom("it is a single value, neither an object nor a list"));
        }
        done
    }
}

/// Fills one value out of a budget that several share.
pub(super) struct Value<'a> {
    /// Where it goes.
    pub(super) to: &'a mut Node,
    /// The budget.
    pub(super) lean: &'a mut Lean,
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        Fill { to: self.to, lean: self.lean, mode: Mode::Plain }.deserialize(deserializer)
    }
}

/// What the place of a value says about it.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// Anything.
    Plain,
    /// Under a key that only transcripts have.
    Transcript,
    /// Under a key that transcripts and lists of attempts have.
    Maybe,
}

struct Fill<'a> {
    to: &'a mut Node,
    lean: &'a mut Lean,
    mode: Mode,
}

impl<'de> DeserializeSeed<'de> for Fill<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.lean.values == 0 {
            self.lean.cut = true;
            return IgnoredAny.deserialize_drop(deserializer);
        }
        self.lean.values -= 1;
        deserializer.deserialize_any(self)
    }
}

/// Skips a value.
trait Skip {
    fn deserialize_drop<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error>;
}

impl Skip for IgnoredAny {
    fn deserialize_drop<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_ignored_any(self).map(|_| ())
    }
}

impl<'de> Visitor<'de> for Fill<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E>(self, v: bool) -> Result<(), E> {
        *self.to = Node::Bool(v);
        Ok(())
    }
    fn visit_u64<E>(self, v: u64) -> Result<(), E> {
        *self.to = Node::Number(v.into());
        Ok(())
    }
    fn visit_i64<E>(self, v: i64) -> Result<(), E> {
        *self.to = Node::Number(v.into());
        Ok(())
    }
    fn visit_f64<E: de::Error>(self, v: f64) -> Result<(), E> {
        *self.to = Node::Number(within_64_bits(v)?);
        Ok(())
    }
    fn visit_str<E>(self, v: &str) -> Result<(), E> {
        let cap = self.lean.text.min(self.lean.texts);
        let (kept, cut) = crate::readers::json::cut(v, cap);
        self.lean.texts -= kept.len();
        self.lean.cut |= self.lean.texts == 0;
        *self.to = Node::Text(kept.to_owned(), cut);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        *self.to = Node::List(Vec::new());
        let Node::List(list) = self.to else { return Ok(()) };
        let before = self.lean.pointer.len();
        let mut steps = Steps::default();
        let mut index = 0usize;
        loop {
            self.lean.pointer.truncate(before);
            self.lean.pointer.push('/');
            self.lean.pointer.push_str(&index.to_string());
            let mut node = Node::Null;
            let is_step = self.mode == Mode::Transcript;
            let values = self.lean.values;
            if is_step {
                self.lean.values = values.min(STEP_VALUES);
            }
            let left = self.lean.values;
            let texts = self.lean.texts;
            let more = seq.next_element_seed(Fill { to: &mut node, lean: self.lean, mode: Mode::Plain });
            let used = left - self.lean.values;
            let more = match more {
                Ok(more) => more.is_some(),
                Err(error) => {
                    // What came of a broken element is worth as much as the whole ones.
                    if !is_step && node != Node::Null {
                        list.push(node);
                    }
                    self.lean.pointer.truncate(before);
                    return Err(error);
                }
            };
            if !more {
                // What the next step would have had is no bound of what follows the list.
                self.lean.values = values;
                break;
            }
            index += 1;
            if is_step || (self.mode == Mode::Maybe && words::is_step(&node)) {
                usage::sum_step(&node, &mut steps);
                // A step is looked at and forgotten.
                self.lean.values = values;
                self.lean.texts = texts;
            } else {
                self.lean.values = values - used.min(values);
                list.push(node);
            }
        }
        self.lean.pointer.truncate(before);
        if steps.count > 0 {
            // A path may be long, and is kept once for each transcript.
            match self.lean.paths.checked_sub(self.lean.pointer.len() + SUMS) {
                Some(left) => {
                    self.lean.paths = left;
                    self.lean.steps.insert(self.lean.pointer.clone(), steps);
                }
                None => self.lean.cut = true,
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        *self.to = Node::Map(Vec::new());
        let Node::Map(map) = self.to else { return Ok(()) };
        let before = self.lean.pointer.len();
        let mut names = Names::default();
        while let Some(key) = access.next_key::<String>()? {
            let key = short(&key);
            names.check(map, key)?;
            let Some(texts) = self.lean.texts.checked_sub(key.len()) else {
                self.lean.cut = true;
                access.next_value::<IgnoredAny>()?;
                continue;
            };
            self.lean.texts = texts;
            self.lean.pointer.truncate(before);
            self.lean.pointer.push('/');
            self.lean.pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            let mode = match words::normal(key).as_str() {
                _ if !self.lean.sums => Mode::Plain,
                key if words::TRANSCRIPTS.contains(&key) => Mode::Transcript,
                key if words::MAYBE_TRANSCRIPTS.contains(&key) => Mode::Maybe,
                _ => Mode::Plain,
            };
            let mut node = Node::Null;
            let done = access.next_value_seed(Fill { to: &mut node, lean: self.lean, mode });
            map.push((key.to_owned(), node));
            if let Err(error) = done {
                self.lean.pointer.truncate(before);
                return Err(error);
            }
        }
        self.lean.pointer.truncate(before);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Lean {
        let mut lean = Lean::default();
        lean.take(&mut serde_json::Deserializer::from_str(json)).unwrap();
        lean
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn paths_of_transcripts_below_long_names_are_kept_up_to_a_bound() {
        const MESSAGES: &str = "{\"messages\": [{\"role\": \"assistant\"}]}";
        let many: Vec<String> = (0..3_000).map(|number| format!("\"a{number}\": {MESSAGES}")).collect();
        let below = |names: usize, letters: usize| {
            let (begin, end) = (format!("{{\"{}\":", "k".repeat(letters)).repeat(names), "}".repeat(names));
            read(&format!("{begin}{{{}}}{end}", many.join(",")))
        };
        let bytes = |lean: &Lean| lean.steps.keys().map(String::len).sum::<usize>();
        // One name of a megabyte, as a million of letters above each transcript.
        let long = below(1, 1 << 20);
        assert_eq!((long.steps.len(), long.cut), (3_000, false));
        assert!(bytes(&long) < 1 << 20, "{}", bytes(&long));
        // Many names, one in the other.
        let deep = (0..8).map(|_| format!("{{{}}}", many.join(","))).collect::<Vec<_>>();
        let begin = format!("{{\"{}\":", "k".repeat(KEY)).repeat(100);
        let deep = read(&format!("{begin}[{}]{}", deep.join(","), "}".repeat(100)));
        assert!(deep.cut && bytes(&deep) <= PATHS, "{}", bytes(&deep));
        // Transcripts in the steps of one.
        let inner = vec![MESSAGES; 150_000].join(",");
        let nested = read(&format!("{{\"messages\": [{inner}]}}"));
        assert!(nested.cut && nested.steps.len() < 150_000, "{}", nested.steps.len());
        assert_eq!(below(2, 10).steps.len(), 3_000);
    }
}
