//! The result of a call whose command has ended, as the parts of a harness file read it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::document::{self, DocumentError, is_new};
use super::template::PlaceholderValues;
use super::{HOME_CAP, list};
use crate::{CommandEnd, Session};

/// Key in the memory of a session: how many elements of a transcript document belong to earlier calls.
const ELEMENTS: &str = "elements:transcript";

/// The result of a call, with its session.
pub(super) struct FinishedCall<'a, 'b> {
    pub(super) ended: &'a CommandEnd<'b>,
    pub(super) session: &'a mut Session,
    pub(super) placeholders: &'a PlaceholderValues<'a>,
    /// Files that could not be read, because they are too large.
    pub(super) too_large: BTreeSet<String>,
}

impl FinishedCall<'_, '_> {
    /// The path of a document, if this call has written it.
    pub(super) fn written_path(&mut self, name: &str, path: &str) -> Option<String> {
        let path = self.placeholders.filled(path);
        is_new(self.session, name, self.ended, &path).then_some(path)
    }

    /// The values of some keys at the top of a document.
    pub(super) fn document(&mut self, path: &str, tops: &[&str]) -> Option<Value> {
        match document::read(self.ended, path, tops) {
            Ok(value) => Some(value),
            Err(DocumentError::Nothing) => None,
            Err(DocumentError::TooLarge) => {
                self.too_large.insert(path.to_owned());
                None
            }
        }
    }

    /// Reads the elements of a list in a document that are newer than the last call.
    pub(super) fn elements(&mut self, path: &str, keys: &[&str], keep: &mut dyn FnMut(&Value)) {
        let document = match self.ended.home.read(path, HOME_CAP) {
            Ok(document) => document,
            Err(error) => {
                if matches!(error, files::ReadError::TooLarge { .. }) {
                    self.too_large.insert(path.to_owned());
                }
                return;
            }
        };
        if !is_new(self.session, "transcript", self.ended, path) {
            return;
        }
        let before = self.session.memory.get(ELEMENTS).and_then(|n| n.parse().ok()).unwrap_or(0);
        let mut found = list::read(&document, keys, before, &mut *keep);
        if found.is_some_and(|found| found.count < before && found.whole) {
            // The session was restarted.
            found = list::read(&document, keys, 0, keep);
        }
        // A document that ends before the known elements is half-written. The next call reads its new elements.
        if let Some(found) = found.filter(|found| found.count >= before || found.whole) {
            self.session.memory.insert(ELEMENTS.to_owned(), found.count.to_string());
            if found.too_large {
                self.too_large.insert(path.to_owned());
            }
        }
    }
}
