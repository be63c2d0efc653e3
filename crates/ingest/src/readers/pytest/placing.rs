//! Which test an entry of FAILURES or ERRORS is about: pytest titles it with the test's name, without its file.

use std::collections::HashMap;

use model::TestOutcome;

use super::Reading;
use super::block::{Block, Phase};

/// Failing tests that pytest titles alike. Entries come in the order of the tests, so each list is walked once.
#[derive(Default)]
struct SameTitleTests {
    /// By the last part of their file's path.
    by_file: HashMap<String, Queue>,
    all: Queue,
}

#[derive(Default)]
struct Queue {
    tests: Vec<usize>,
    next: usize,
}

impl Queue {
    /// The first test that is not taken.
    fn free(&mut self, taken: &[bool]) -> Option<usize> {
        while self.tests.get(self.next).is_some_and(|i| taken[*i]) {
            self.next += 1;
        }
        self.tests.get(self.next).copied()
    }
}

impl SameTitleTests {
    /// The test that an entry is about: one of a file in its traceback that has no entry yet, else one without an entry,
    /// else one that has one (it failed, and then its teardown did).
    fn find(&mut self, block: &Block, taken: &[bool]) -> Option<usize> {
        let mut used = None;
        for file in &block.files {
            if let Some(queue) = self.by_file.get_mut(file_name(file)) {
                if let Some(free) = queue.free(taken) {
                    return Some(free);
                }
                used = used.or(queue.tests.last().copied());
            }
        }
        self.all.free(taken).or(used).or(self.all.tests.last().copied())
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl Reading<'_> {
    /// Gives each entry of FAILURES and ERRORS to its test, by name and file; an entry that no line names is a test
    /// of its own.
    pub(super) fn place_blocks(&mut self) {
        let mut by_name: HashMap<String, SameTitleTests> = HashMap::new();
        for (index, test) in self.log.tests.iter().enumerate().filter(|(_, t)| t.is_failing()) {
            let alike = by_name.entry(entry_title(&test.id)).or_default();
            let file = test.id.split("::").next().unwrap_or("");
            alike.by_file.entry(file_name(file).to_owned()).or_default().tests.push(index);
            alike.all.tests.push(index);
        }
        let mut taken = vec![false; self.log.tests.len()];
        let mut unnamed_collection = 0;
        for block in std::mem::take(&mut self.blocks) {
            let message = block.message();
            let found = if let Some(id) = &block.crashed_at {
                self.by_id.get(id).copied()
            } else if block.phase == Phase::Collection {
                unnamed_collection += 1;
                self.by_id.get(&block.name).copied()
            } else {
                by_name.get_mut(&block.name).and_then(|alike| alike.find(&block, &taken))
            };
            let outcome = if block.phase == Phase::Call { TestOutcome::Failed } else { TestOutcome::Error };
            let Some(index) = found.or_else(|| self.name(&block_test_id(&block), outcome)) else { continue };
            if taken.len() <= index {
                taken.resize(index + 1, false);
            }
            taken[index] = true;
            let test = &mut self.log.tests[index];
            match (&mut test.message, message) {
                (slot @ None, message) => *slot = message,
                (Some(first), Some(more)) if first.len() + more.len() < 8 * 1024 => {
                    first.push_str("\n\n");
                    first.push_str(&more);
                }
                _ => {}
            }
        }
        self.log.collection_errors = self.log.collection_errors.max(unnamed_collection);
    }
}

/// How pytest titles the entry of a test: `TestOrders.test_cancel[a::b]`.
fn entry_title(id: &str) -> String {
    let name = id.split_once("::").map_or(id, |(_, name)| name);
    match name.find('[') {
        Some(index) => format!("{}{}", name[..index].replace("::", "."), &name[index..]),
        None => name.replace("::", "."),
    }
}

/// The id of a test that only its entry names.
fn block_test_id(block: &Block) -> String {
    if let Some(id) = &block.crashed_at {
        return id.clone();
    }
    if block.phase == Phase::Collection {
        return block.name.clone();
    }
    let name = match block.name.find('[') {
        Some(index) => format!("{}{}", block.name[..index].replace('.', "::"), &block.name[index..]),
        None => block.name.replace('.', "::"),
    };
    // The first place in a traceback is the test itself, unless a fixture raised.
    match block.files.first().filter(|_| block.phase == Phase::Call) {
        Some(file) => format!("{file}::{name}"),
        None => name,
    }
}
