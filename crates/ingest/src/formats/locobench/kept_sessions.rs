//! The sessions of an agent that are kept, and which of those in its files are the same.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::session::SessionEpisode;

/// Most sessions without room that are compared with each other; of further ones each counts.
const OMITTED_CAP: usize = 500_000;

/// Sessions for which there is no room. The same session in two files is one.
#[derive(Clone, Default)]
pub(super) struct OmittedSessions {
    /// Hashes of scenario and id.
    sessions: HashSet<u64>,
    further: u32,
    /// Transcripts that were not opened.
    pub(super) transcripts: u32,
}

impl OmittedSessions {
    fn push(&mut self, scenario: &str, id: &str) {
        let mut hasher = DefaultHasher::new();
        (scenario, id).hash(&mut hasher);
        if self.sessions.len() < OMITTED_CAP {
            self.sessions.insert(hasher.finish());
        } else if !self.sessions.contains(&hasher.finish()) {
            self.further = self.further.saturating_add(1);
        }
    }

    /// How many they are.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.sessions.len()).unwrap_or(u32::MAX).saturating_add(self.further)
    }
}

/// The sessions of an agent, as many as memory should bear.
pub(super) struct Sessions {
    /// In the order of the files.
    pub(super) list: Vec<SessionEpisode>,
    /// Bytes that there is room for.
    pub(super) room: usize,
    pub(super) left_out: OmittedSessions,
}

impl Sessions {
    /// None yet, and room for so many bytes.
    pub(super) fn new(room: usize) -> Self {
        Self { list: Vec::new(), room, left_out: OmittedSessions::default() }
    }

    /// Takes a session that was not met before, if there is room for it.
    pub(super) fn push_new(&mut self, session: SessionEpisode, counts: &mut SessionCounts) {
        let scenario = &session.episode.scenario;
        if self.room == 0 {
            if !counts.contains(scenario, &session.id) {
                self.left_out.push(scenario, &session.id);
            }
        } else if counts.is_new(scenario, &session.id) {
            self.room = self.room.saturating_sub(session.bytes());
            self.list.push(session);
        }
    }
}

/// How often each session was met in one file, and in all before: the same record in two files is one, twice in one file is two.
#[derive(Default)]
pub(super) struct SessionCounts {
    earlier_files: HashMap<String, usize>,
    /// Those of the file that is being read.
    pub(super) current_file: HashMap<String, usize>,
}

impl SessionCounts {
    /// Another file begins.
    pub(super) fn next_file(&mut self) {
        for (id, count) in self.current_file.drain() {
            let earlier = self.earlier_files.entry(id).or_default();
            *earlier = count.max(*earlier);
        }
    }

    fn key(scenario: &str, id: &str) -> String {
        format!("{scenario}\n{id}")
    }

    fn contains(&self, scenario: &str, id: &str) -> bool {
        let key = Self::key(scenario, id);
        self.current_file.contains_key(&key) || self.earlier_files.contains_key(&key)
    }

    fn is_new(&mut self, scenario: &str, id: &str) -> bool {
        let key = Self::key(scenario, id);
        let count = self.current_file.entry(key.clone()).or_default();
        *count += 1;
        *count > self.earlier_files.get(&key).copied().unwrap_or(0)
    }
}
