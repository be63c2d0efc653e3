//! Names that stand twice in one object: where the members lie that a later one of the same name replaces.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

/// Nested deeper, no parser here reads it.
const DEPTH: usize = 256;
/// Members that are remembered at a time, and ranges that are kept. Beyond, the rest of the file is not looked at.
const MEMBERS: usize = 1 << 20;
/// Bytes of a name that is compared. A longer one counts as new.
const NAME_CAP: usize = 64 << 10;

/// Follows a document byte by byte.
#[derive(Debug, Default)]
pub(super) struct Members {
    position: u64,
    open: Vec<OpenValue>,
    /// Members of all open objects.
    held: usize,
    state: State,
    name: Vec<u8>,
    found: Vec<Range<u64>>,
    repeated: u64,
    hasher: RandomState,
    given_up: bool,
}

/// An object or list that is not closed yet.
#[derive(Debug, Default)]
struct OpenValue {
    is_object: bool,
    name_is_due: bool,
    /// Which member had a name last, by a hash of the name.
    last: HashMap<u64, usize>,
    /// Where each member begins.
    begins: Vec<u64>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Outside,
    Text {
        is_name: bool,
        escaped: bool,
    },
}

impl Members {
    /// Takes the next byte.
    pub(super) fn take(&mut self, byte: u8) {
        if !self.given_up {
            match self.state {
                State::Outside => self.read_outside(byte),
                State::Text { is_name, escaped } => self.text(byte, is_name, escaped),
            }
        }
        self.position += 1;
    }

    /// How many members a later one replaces, and where they lie: sorted, apart from each other.
    pub(super) fn superseded_ranges(mut self) -> (u64, Vec<Range<u64>>) {
        self.found.sort_by_key(|range| range.start);
        let mut merged: Vec<Range<u64>> = Vec::new();
        for range in self.found {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        (self.repeated, merged)
    }

    fn read_outside(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => {
                let is_object = byte == b'{';
                self.open.push(OpenValue { is_object, name_is_due: is_object, ..OpenValue::default() });
                self.given_up = self.open.len() > DEPTH;
            }
            b'}' | b']' => {
                self.held -= self.open.pop().map_or(0, |open| open.begins.len());
            }
            b',' => {
                if let Some(open) = self.open.last_mut() {
                    open.name_is_due = open.is_object;
                }
            }
            b'"' => {
                let is_name = self.open.last_mut().is_some_and(|open| std::mem::take(&mut open.name_is_due));
                self.state = State::Text { is_name, escaped: false };
                if is_name {
                    self.name.clear();
                    self.name.push(byte);
                    self.held += 1;
                    if let Some(open) = self.open.last_mut() {
                        open.begins.push(self.position);
                    }
                    self.given_up = self.held > MEMBERS || self.found.len() > MEMBERS;
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, byte: u8, is_name: bool, escaped: bool) {
        if is_name && self.name.len() <= NAME_CAP {
            self.name.push(byte);
        }
        if byte == b'"' && !escaped {
            self.state = State::Outside;
            if is_name && self.name.len() <= NAME_CAP {
                self.named();
            }
            return;
        }
        self.state = State::Text { is_name, escaped: byte == b'\\' && !escaped };
    }

    /// A member has got its name.
    fn named(&mut self) {
        // The same name may be written in two ways: `"a"`, `"\u0061"`.
        let hash = match serde_json::from_slice::<String>(&self.name) {
            Ok(name) => self.hasher.hash_one(name.as_bytes()),
            Err(_) => self.hasher.hash_one(&self.name[..]),
        };
        let Some(open) = self.open.last_mut() else { return };
        let index = open.begins.len() - 1;
        if let Some(before) = open.last.insert(hash, index) {
            self.repeated += 1;
            self.found.push(open.begins[before]..open.begins[before + 1]);
        }
    }
}
