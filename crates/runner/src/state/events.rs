//! `events.jsonl`: what happened in a run.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::sync::Mutex;

use files::confined_path;
use rustix::fs::OFlags;

use super::RunPaths;
use crate::{Event, OnEvent, RunError, disk};

/// What happens, written down and told.
pub(crate) struct Events {
    file: Mutex<File>,
    on_event: OnEvent,
}

impl Events {
    pub(crate) fn open(paths: &RunPaths, on_event: OnEvent) -> Result<Self, RunError> {
        let path = paths.events();
        let file = confined_path::open_file(&path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE);
        let mut file = file.map_err(|error| disk::error_at(&path, error))?;
        // A line that a killed process did not end would swallow the next one.
        if let Ok(length) = file.seek(std::io::SeekFrom::End(0))
            && length > 0
        {
            let mut last = [0];
            let _ = file.seek(std::io::SeekFrom::Start(length - 1)).and_then(|_| file.read_exact(&mut last));
            if last != [b'\n'] {
                let _ = file.write_all(b"\n");
            }
        }
        Ok(Self { file: Mutex::new(file), on_event })
    }

    /// Writes an event and calls the listener, even if the write fails: the results do not depend on it.
    pub(crate) fn tell(&self, event: &Event) {
        if let Ok(mut line) = serde_json::to_vec(event) {
            line.push(b'\n');
            let mut file = model::lock(&self.file);
            if let Err(error) = disk::block_briefly(|| file.write_all(&line)) {
                tracing::warn!("an event could not be written down: {error}");
            }
        }
        (self.on_event)(event);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock;

    #[test]
    fn an_event_after_a_broken_line_stands_on_its_own() {
        let room = tempfile::tempdir().unwrap();
        let paths = RunPaths::new(room.path());
        disk::folder(&paths.stamina_folder()).unwrap();
        std::fs::write(paths.events(), "{\"event\":\"tu").unwrap();
        let events = Events::open(&paths, Arc::new(|_| {})).unwrap();
        let turn = Event::Turn { at: clock::now(), episode: "scenario_0".into(), turn: 1, turn_count: 2 };
        events.tell(&turn);
        let text = std::fs::read_to_string(paths.events()).unwrap();
        let last: Event = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!((last, text.lines().count()), (turn, 2));
    }
}
