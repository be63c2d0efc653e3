//! JSON of any form within bounds, of which transcripts need not reach memory.
//!
//! The value is filled in place, so that a file that breaks off leaves what came before the break. [`Transcripts`]
//! decides which lists are transcripts and what is kept of their steps; for [`KeepAll`] none is.

use std::collections::BTreeMap;
use std::fmt;

use files::JsonSink;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::readers::json::{Names, Node, within_64_bits};

/// Values that are kept of one file.
const VALUES: usize = 600_000;
/// Bytes of text that are kept of one file.
const TEXTS: usize = 48 << 20;
/// Bytes that are kept of one key.
pub(super) const KEY: usize = 256;
/// Bytes of paths and sums of transcripts that are kept of one file, and those of the sums of one.
pub(super) const PATHS: usize = 32 << 20;
const SUMS: usize = 256;
/// Values that are read in one step of a transcript.
const STEP_VALUES: usize = 4_000;

/// The name of a field as it is kept, and as it stands in pointers.
pub(super) fn short(key: &str) -> &str {
    crate::readers::json::cut(key, KEY).0
}

/// Which lists of a document are transcripts, and what is kept of those.
pub(super) trait Transcripts {
    /// What is kept of the steps of one.
    type Steps: Default + fmt::Debug;
    /// Bytes that are kept of one text.
    const TEXT: usize;
    /// What a list under a key holds.
    fn elements(key: &str) -> Elements;
    /// Whether an element of a list of [`Elements::PerhapsSteps`] is a step.
    fn is_step(element: &Node) -> bool;
    /// Adds a step, which is then forgotten.
    fn add(steps: &mut Self::Steps, step: &Node);
}

/// What a list holds, by its key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Elements {
    /// Anything that is kept.
    Values,
    /// Steps of a transcript.
    Steps,
    /// Steps, or anything else: each element decides.
    PerhapsSteps,
}

/// Keeps every value: no list is a transcript.
#[derive(Debug)]
pub(super) struct KeepAll;

impl Transcripts for KeepAll {
    type Steps = ();
    const TEXT: usize = 64 << 10;

    fn elements(_: &str) -> Elements {
        Elements::Values
    }

    fn is_step(_: &Node) -> bool {
        false
    }

    fn add((): &mut (), _: &Node) {}
}

/// A document without its transcripts; also a budget that several values share.
#[derive(Debug)]
pub(super) struct BoundedDocument<T: Transcripts> {
    /// The document.
    pub(super) root: Node,
    /// Transcripts by their JSON pointer.
    pub(super) steps: BTreeMap<String, T::Steps>,
    /// Whether there was more than is kept.
    pub(super) cut: bool,
    pointer: String,
    values: usize,
    texts: usize,
    /// Not given back by steps that are forgotten: transcripts in them stay.
    paths: usize,
}

impl<T: Transcripts> BoundedDocument<T> {
    /// Whether nothing more is kept.
    pub(super) const fn is_used_up(&self) -> bool {
        self.values == 0 || self.texts == 0
    }
}

impl<T: Transcripts> Default for BoundedDocument<T> {
    fn default() -> Self {
        Self {
            root: Node::Null,
            steps: BTreeMap::new(),
            cut: false,
            pointer: String::new(),
            values: VALUES,
            texts: TEXTS,
            paths: PATHS,
        }
    }
}

impl<T: Transcripts> JsonSink for BoundedDocument<T> {
    fn restart(&mut self) {
        *self = Self::default();
    }
    fn take<'de, D: Deserializer<'de>>(&mut self, json: D) -> Result<(), D::Error> {
        let mut root = Node::Null;
        let done = Fill { node: &mut root, document: self, elements: Elements::Values }.deserialize(json);
        self.root = root;
        // Every document that is read here has parts; a lone text or number would say nothing and not be missed.
        if done.is_ok() && !matches!(self.root, Node::Map(_) | Node::List(_)) {
            return Err(de::Error::custom("it is a single value, neither an object nor a list"));
        }
        done
    }
}

/// Fills one value out of a budget that several share.
pub(super) struct Value<'a, T: Transcripts> {
    /// Where it goes.
    pub(super) node: &'a mut Node,
    /// The budget.
    pub(super) document: &'a mut BoundedDocument<T>,
}

impl<'de, T: Transcripts> DeserializeSeed<'de> for Value<'_, T> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        Fill { node: self.node, document: self.document, elements: Elements::Values }
            .deserialize(deserializer)
    }
}

struct Fill<'a, T: Transcripts> {
    node: &'a mut Node,
    document: &'a mut BoundedDocument<T>,
    /// Of the value, where it is a list.
    elements: Elements,
}

impl<'de, T: Transcripts> DeserializeSeed<'de> for Fill<'_, T> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.document.values == 0 {
            self.document.cut = true;
            return IgnoredAny.deserialize_drop(deserializer);
        }
        self.document.values -= 1;
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

impl<'de, T: Transcripts> Visitor<'de> for Fill<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_bool<E>(self, v: bool) -> Result<(), E> {
        *self.node = Node::Bool(v);
        Ok(())
    }
    fn visit_u64<E>(self, v: u64) -> Result<(), E> {
        *self.node = Node::Number(v.into());
        Ok(())
    }
    fn visit_i64<E>(self, v: i64) -> Result<(), E> {
        *self.node = Node::Number(v.into());
        Ok(())
    }
    fn visit_f64<E: de::Error>(self, v: f64) -> Result<(), E> {
        *self.node = Node::Number(within_64_bits(v)?);
        Ok(())
    }
    fn visit_str<E>(self, v: &str) -> Result<(), E> {
        let cap = T::TEXT.min(self.document.texts);
        let (kept, cut) = crate::readers::json::cut(v, cap);
        self.document.texts -= kept.len();
        self.document.cut |= self.document.texts == 0;
        *self.node = Node::Text(kept.to_owned(), cut);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        *self.node = Node::List(Vec::new());
        let Node::List(list) = self.node else { return Ok(()) };
        let parent_length = self.document.pointer.len();
        let (mut steps, mut has_steps) = (T::Steps::default(), false);
        let mut index = 0usize;
        loop {
            self.document.pointer.truncate(parent_length);
            self.document.pointer.push('/');
            self.document.pointer.push_str(&index.to_string());
            let mut node = Node::Null;
            let is_step = self.elements == Elements::Steps;
            let values = self.document.values;
            if is_step {
                self.document.values = values.min(STEP_VALUES);
            }
            let left = self.document.values;
            let texts = self.document.texts;
            let has_more = seq.next_element_seed(Fill {
                node: &mut node,
                document: self.document,
                elements: Elements::Values,
            });
            let used = left - self.document.values;
            let has_more = match has_more {
                Ok(has_more) => has_more.is_some(),
                Err(error) => {
                    // What came of a broken element is worth as much as the whole ones.
                    if !is_step && node != Node::Null {
                        list.push(node);
                    }
                    self.document.pointer.truncate(parent_length);
                    return Err(error);
                }
            };
            if !has_more {
                // What the next step would have had is no bound of what follows the list.
                self.document.values = values;
                break;
            }
            index += 1;
            if is_step || (self.elements == Elements::PerhapsSteps && T::is_step(&node)) {
                T::add(&mut steps, &node);
                has_steps = true;
                // A step is read and freed.
                self.document.values = values;
                self.document.texts = texts;
            } else {
                self.document.values = values - used.min(values);
                list.push(node);
            }
        }
        self.document.pointer.truncate(parent_length);
        if has_steps {
            // A path may be long, and is kept once for each transcript.
            match self.document.paths.checked_sub(self.document.pointer.len() + SUMS) {
                Some(left) => {
                    self.document.paths = left;
                    self.document.steps.insert(self.document.pointer.clone(), steps);
                }
                None => self.document.cut = true,
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        *self.node = Node::Map(Vec::new());
        let Node::Map(map) = self.node else { return Ok(()) };
        let parent_length = self.document.pointer.len();
        let mut names = Names::default();
        while let Some(key) = access.next_key::<String>()? {
            let key = short(&key);
            names.check(map, key)?;
            let Some(texts) = self.document.texts.checked_sub(key.len()) else {
                self.document.cut = true;
                access.next_value::<IgnoredAny>()?;
                continue;
            };
            self.document.texts = texts;
            self.document.pointer.truncate(parent_length);
            self.document.pointer.push('/');
            self.document.pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            let elements = T::elements(key);
            let mut node = Node::Null;
            let done = access.next_value_seed(Fill { node: &mut node, document: self.document, elements });
            map.push((key.to_owned(), node));
            if let Err(error) = done {
                self.document.pointer.truncate(parent_length);
                return Err(error);
            }
        }
        self.document.pointer.truncate(parent_length);
        Ok(())
    }
}
