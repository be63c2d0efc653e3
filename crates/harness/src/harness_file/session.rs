//! The id of the session of a call.

use super::HarnessFile;
use super::format::SessionSource;
use crate::outcome_code::Program;
use crate::shell::{is_id, is_uuid};
use crate::{AMBIGUOUS, Call, Harness, HarnessError, HomeFile, session_file};

impl HarnessFile {
    /// Whether the id of a session may be used. It comes from a container and becomes an argument.
    pub(super) fn is_usable(&self, id: &str) -> bool {
        if self.description.session.uuid { is_uuid(id) } else { is_id(id) }
    }

    /// The id of the session of a later call, if it may be used.
    pub(super) fn known_id(&self, call: &Call<'_>) -> Option<String> {
        call.session.and_then(|s| s.id.as_deref()).filter(|id| self.is_usable(id)).map(str::to_owned)
    }

    /// The id of the session for a call; `None` = there is none.
    pub(super) fn session_of(&self, call: &Call<'_>) -> Result<Option<String>, HarnessError> {
        let description = &self.description.session;
        let known = self.known_id(call);
        let Some(session) = call.session else {
            let is_chosen = description.source() == SessionSource::Caller;
            return Ok(is_chosen.then(|| call.session_id.to_owned()));
        };
        let reason = match description.source() {
            SessionSource::Caller => return Ok(Some(known.unwrap_or_else(|| call.session_id.to_owned()))),
            SessionSource::None | SessionSource::File => return Ok(None),
            _ if known.is_some() => return Ok(known),
            SessionSource::Stdout => {
                format!("no line of its output had {}", description.key.as_deref().unwrap_or("a key"))
            }
            SessionSource::Files => {
                format!("not just one file was ~/{}", description.files.as_deref().unwrap_or("…"))
            }
            SessionSource::Outcome => self.description.outcome.map_or("", Program::no_session).to_owned(),
        };
        let commands = self.description.call_parts(call.endpoint.is_direct()).commands;
        if commands.later_without_id.is_some() && !session.memory.contains_key(AMBIGUOUS) {
            return Ok(None);
        }
        Err(HarnessError::NoSession { harness: self.title().to_owned(), reason })
    }

    /// The files of the session to write into HOME before a call.
    pub(super) fn files_before(&self, call: &Call<'_>) -> Vec<HomeFile> {
        let (Some(program), Some(session)) = (self.description.outcome, call.session) else {
            return Vec::new();
        };
        program.files_before(session)
    }

    /// The file of the session of a call, below HOME.
    pub(super) fn session_file(&self, call: &Call<'_>) -> Option<String> {
        let usual = self.description.session.file.as_deref()?;
        Some(session_file(call, usual))
    }

    /// The text for the `*` in `session.files`, if exactly one file or folder matches.
    pub(super) fn only_file(&self, home: &files::Tree) -> Option<String> {
        let (folder, before, after) = self.description.session.pattern()?;
        let mut found = home.list(folder).into_iter().filter_map(|entry| {
            let id = entry.name.strip_prefix(before)?.strip_suffix(after)?;
            self.is_usable(id).then(|| id.to_owned())
        });
        let only = found.next()?;
        found.next().is_none().then_some(only)
    }
}
