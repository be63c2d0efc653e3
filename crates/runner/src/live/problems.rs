//! What of a run's folder cannot be read, in sentences.

use crate::RunError;

/// Most sentences; what is more is counted.
const MOST: usize = 20;
/// Most characters of why a file cannot be read: an error may quote what the file holds.
const LONGEST: usize = 200;

/// What cannot be read. What a file says that is among them is unknown.
#[derive(Debug, Default)]
pub(super) struct Problems {
    sentences: Vec<String>,
    more: u64,
}

impl Problems {
    /// A file that cannot be read, by its name below the runner's own folder.
    pub(super) fn add(&mut self, file: &str, error: &RunError) {
        let reason: String = model::plain_line(&error.reason()).chars().take(LONGEST).collect();
        self.push(format!(".stamina/{file} cannot be read: {reason}"));
    }

    /// A file that is missing, though it was written, by its name below the runner's own folder.
    pub(super) fn add_missing(&mut self, file: &str) {
        self.push(format!(".stamina/{} is missing", model::plain_line(file)));
    }

    /// A log with lines at its end that are no JSON.
    pub(super) fn add_lines(&mut self, file: &str, lines: u64) {
        if lines > 0 {
            let hold = if lines == 1 { "holds" } else { "hold" };
            let lines = model::counted(lines, "line");
            self.push(format!(".stamina/{file} cannot be read in full: {lines} at its end {hold} no JSON"));
        }
    }

    fn push(&mut self, sentence: String) {
        if self.sentences.len() < MOST {
            self.sentences.push(sentence);
        } else {
            self.more += 1;
        }
    }

    /// All of them, in the order in which they were found.
    pub(super) fn into_sentences(mut self) -> Vec<String> {
        if self.more > 0 {
            self.sentences
                .push(format!("{} cannot be read either", model::counted(self.more, "more record")));
        }
        self.sentences
    }
}
