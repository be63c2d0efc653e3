//! Makes the index of transcripts and logs, in bounded memory, time and space, whatever lies there.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use files::{Stamp, Tree};
use model::{Artifact, Episode};
use sandbox::Process;
use store::{TextCoverage, TextOwner, UnindexedEpisode};

use super::{is_log, pieces, read_log, texts_of};
use crate::Workbench;
use crate::api::ApiError;
use crate::episode_details::{FoundEpisode, name_of};
use crate::sources::is_there;
use crate::transcripts::{places_of, print_of};

/// Words that are put into the index in one write.
const WORDS_AT_ONCE: usize = 100_000;

/// Different words of an attempt, a turn or an episode that are indexed. Each costs memory until it is written.
const MOST_WORDS: usize = 200_000;

/// What indexing one source may cost, in bytes that are read: hours of work, and some hundred megabytes of index.
const MOST_COST: u64 = 4 << 30;

/// What a word that is indexed costs, in bytes that are read.
const COST_OF_A_WORD: u64 = 128;

/// A log of so many bytes is indexed once for all episodes that name it.
const SHARED_BYTES: u64 = 4 << 10;

/// What this process knows of the index.
#[derive(Debug, Default)]
pub(crate) struct Texts(Mutex<IndexState>);

#[derive(Debug, Default)]
struct IndexState {
    /// The process ends; it claims nothing more.
    is_leaving: bool,
    /// What indexing a source has cost so far.
    costs: HashMap<i64, u64>,
}

impl Texts {
    fn lock(&self) -> MutexGuard<'_, IndexState> {
        model::lock(&self.0)
    }
}

/// The logs among the files of an episode.
fn logs_of(episode: &Episode) -> Vec<&Artifact> {
    let mut artifacts: Vec<&Artifact> = episode.artifacts.iter().collect();
    for turn in &episode.turns {
        artifacts.extend(&turn.artifacts);
        artifacts.extend(turn.attempts.iter().flat_map(|attempt| &attempt.artifacts));
    }
    artifacts.retain(|artifact| is_log(artifact.kind));
    artifacts
}

/// What a log is known by that other episodes may name, too. One that grew is another.
fn shared_file(tree: &Tree, artifact: &Artifact) -> Option<u64> {
    let size = tree.entry(&artifact.path)?.size;
    (size >= SHARED_BYTES).then(|| Stamp::new().text(&name_of(artifact)).number(size).finish())
}

/// The indexing of an episode: its words, and what they cost.
struct Indexing<'a> {
    tree: &'a Tree,
    /// Logs that are indexed for another episode.
    elsewhere: HashSet<u64>,
    /// Logs of this one that another may name, with whether they are indexed for it.
    files: HashMap<u64, bool>,
    texts: Vec<(TextOwner, HashSet<String>)>,
    /// Words of `texts`.
    words: usize,
    bytes: u64,
    cost: u64,
    /// What is left of the budget of the source.
    most_cost: u64,
    is_cut: bool,
    is_readable: bool,
}

impl<'a> Indexing<'a> {
    fn new(tree: &'a Tree, elsewhere: HashSet<u64>, most_cost: u64) -> Self {
        Self {
            tree,
            elsewhere,
            files: HashMap::new(),
            texts: Vec::new(),
            words: 0,
            bytes: 0,
            cost: 0,
            most_cost,
            is_cut: false,
            is_readable: true,
        }
    }

    /// Adds the words of a text. Gives whether there is room for more.
    fn add(&mut self, text: &str, words: &mut HashSet<String>) -> bool {
        for piece in pieces(text) {
            if words.len() >= MOST_WORDS || self.cost >= self.most_cost {
                self.is_cut = true;
                return false;
            }
            let before = words.len();
            store::add_words(piece, words);
            self.bytes += piece.len() as u64;
            self.cost += piece.len() as u64 + COST_OF_A_WORD * (words.len() - before) as u64;
        }
        true
    }

    fn add_logs(&mut self, artifacts: &[Artifact], words: &mut HashSet<String>) {
        let tree = self.tree;
        for artifact in artifacts.iter().filter(|artifact| is_log(artifact.kind)) {
            if let Some(file) = shared_file(tree, artifact) {
                let is_elsewhere = !self.elsewhere.insert(file);
                self.files.entry(file).or_insert(!is_elsewhere);
                if is_elsewhere {
                    continue;
                }
            }
            let mut is_full = false;
            let read = read_log(tree, artifact, |_, line| {
                is_full = !self.add(line, words);
                is_full
            });
            // A file that is gone holds nothing; the others are searched.
            drop(read);
            if is_full {
                return;
            }
        }
    }

    fn put(&mut self, owner: TextOwner, words: HashSet<String>) {
        if !words.is_empty() {
            self.words += words.len();
            self.texts.push((owner, words));
        }
    }
}

impl Workbench {
    /// Makes the transcripts and logs of one more episode searchable. Gives the bytes of their texts; `None` = none is left.
    pub(crate) fn index_episode_texts(&self) -> Result<Option<u64>, ApiError> {
        if self.store.is_read_only() {
            return Ok(None);
        }
        let Some(next) = self.claim_texts()? else { return Ok(None) };
        let spent = self.spent_on(next.source)?;
        if spent >= MOST_COST {
            self.store.end_texts(&next, TextCoverage::InPart, 0, &HashMap::new())?;
            self.store.leave_texts(next.source)?;
            return Ok(Some(0));
        }
        match self.index_texts_of(&next, MOST_COST - spent) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) => {
                // The claim is not to last as long as this process.
                drop(self.store.end_texts(&next, TextCoverage::Unreadable, 0, &HashMap::new()));
                Err(error)
            }
        }
    }

    /// Claims an episode. Where a process stays, an end in the middle sets the source aside, as one over its reading does; whoever
    /// ends a command, or the app while it plays into the source, had another reason.
    fn claim_texts(&self) -> Result<Option<UnindexedEpisode>, ApiError> {
        let known = self.texts.lock();
        if known.is_leaving {
            return Ok(None);
        }
        let sets_aside = |source| self.opened_sources.stays && !self.is_played_within(source);
        Ok(self.store.begin_texts(Process::current().label(), sets_aside)?)
    }

    /// What indexing a source has cost so far. Over the budget it is summed again: episodes may have gone.
    fn spent_on(&self, source: i64) -> Result<u64, ApiError> {
        let known = self.texts.lock().costs.get(&source).copied();
        if let Some(cost) = known.filter(|cost| *cost < MOST_COST) {
            return Ok(cost);
        }
        let cost = self.store.text_cost(source)?;
        self.texts.lock().costs.insert(source, cost);
        Ok(cost)
    }

    /// Ends the claims of processes that do not live any more, and sets aside the sources over which one ended.
    pub(crate) fn settle_texts(&self) -> Result<(), ApiError> {
        if self.store.is_read_only() {
            return Ok(());
        }
        for claim in self.store.text_claims()? {
            if Process::from_label(&claim.process).lives() {
                continue;
            }
            if claim.sets_aside {
                let source = claim.source;
                tracing::warn!(source, "a process ended while it indexed this source; it is set aside");
                self.store.set_aside(source)?;
            }
            self.store.release_texts(claim.id)?;
        }
        Ok(())
    }

    /// Ends the claims of this process, which ends in good order and makes no more of them.
    pub(crate) fn end_text_claims(&self) -> Result<(), ApiError> {
        self.texts.lock().is_leaving = true;
        if self.store.is_read_only() {
            return Ok(());
        }
        Ok(self.store.release_texts_by_process(Process::current().label())?)
    }

    /// Makes every transcript and log searchable that is not yet. Gives the bytes of their texts.
    pub fn index_texts(&self) -> Result<u64, ApiError> {
        self.index_texts_with(&|_, _| {})
    }

    /// [`Workbench::index_texts`]; where there is something to read, `progress` is called before it and after each episode, with
    /// the episodes read and how many there are.
    pub(super) fn index_texts_with(&self, progress: &dyn Fn(u32, u32)) -> Result<u64, ApiError> {
        if self.store.is_read_only() {
            return Ok(0);
        }
        self.settle_texts()?;
        self.store.retry_texts()?;
        let all_episodes = self.store.texts_waiting()?;
        if all_episodes > 0 {
            progress(0, all_episodes);
        }
        let (mut bytes, mut episodes_read) = (0, 0);
        while let Some(episode_bytes) = self.index_episode_texts()? {
            bytes += episode_bytes;
            episodes_read += 1;
            progress(episodes_read, all_episodes);
        }
        Ok(bytes)
    }

    /// Bytes that the index of transcripts and logs takes.
    pub fn text_index_bytes(&self) -> Result<u64, ApiError> {
        Ok(self.store.text_index_bytes()?)
    }

    /// Indexes a claimed episode and ends the claim. Gives the bytes of its texts.
    fn index_texts_of(&self, next: &UnindexedEpisode, most_cost: u64) -> Result<u64, ApiError> {
        let unreadable = || -> Result<u64, ApiError> {
            self.store.end_texts(next, TextCoverage::Unreadable, 0, &HashMap::new())?;
            Ok(0)
        };
        let Ok(found) = self.find(&next.run, &next.episode) else { return unreadable() };
        let Some(episode) = self.store.whole_episode(next.id)? else { return unreadable() };
        // A file system that does not answer any more holds up this episode, and the others are indexed.
        if !is_there(Path::new(&found.run.source_path)) {
            return unreadable();
        }
        let Ok(tree) = self.tree_of(&found.run) else { return unreadable() };
        let files: Vec<u64> =
            logs_of(&episode).into_iter().filter_map(|log| shared_file(&tree, log)).collect();
        let elsewhere = self.store.texts_elsewhere(next, &files)?;
        let mut indexing = Indexing::new(&tree, elsewhere, most_cost);
        let holds = self.index_turns(&mut indexing, next, &found, &episode)? && {
            let mut words = HashSet::new();
            indexing.add_logs(&episode.artifacts, &mut words);
            indexing.put(TextOwner { turn: None, attempt: None }, words);
            self.store.put_texts(next, &indexing.texts)?
        };
        // Else the episode was read again, and waits.
        if holds {
            let read = match (indexing.is_readable, indexing.is_cut) {
                (false, _) => TextCoverage::Unreadable,
                (true, true) => TextCoverage::InPart,
                (true, false) => TextCoverage::Whole,
            };
            self.store.end_texts(next, read, indexing.cost, &indexing.files)?;
        }
        *self.texts.lock().costs.entry(next.source).or_default() += indexing.cost;
        Ok(indexing.bytes)
    }

    /// Gives whether the claim still holds.
    fn index_turns(
        &self,
        indexing: &mut Indexing<'_>,
        next: &UnindexedEpisode,
        found: &FoundEpisode,
        episode: &Episode,
    ) -> Result<bool, ApiError> {
        let mut earlier: Option<((u32, u32), Vec<u64>)> = None;
        for turn in &episode.turns {
            for attempt in &turn.attempts {
                let turn_and_attempt = (turn.number, attempt.number);
                let mut words = HashSet::new();
                match self.transcript_in(found, &attempt.artifacts) {
                    Ok(Some(transcript)) => {
                        let prints: Vec<u64> = transcript.steps.iter().map(print_of).collect();
                        let before =
                            earlier.as_ref().filter(|(before, _)| before.0 + 1 >= turn_and_attempt.0);
                        let left_out = before
                            .and_then(|(_, earlier)| places_of(&prints, earlier, u64::eq))
                            .unwrap_or_default();
                        let steps = transcript.steps.iter().enumerate();
                        let own = steps.filter(|(place, _)| left_out.binary_search(place).is_err());
                        // Where there is no room for more, the rest is not looked at.
                        let _ = own
                            .flat_map(|(_, step)| texts_of(step))
                            .all(|text| indexing.add(text, &mut words));
                        earlier = Some((turn_and_attempt, prints));
                    }
                    Ok(None) => earlier = None,
                    Err(_) => indexing.is_readable = false,
                }
                indexing.add_logs(&attempt.artifacts, &mut words);
                indexing.put(
                    TextOwner { turn: Some(turn_and_attempt.0), attempt: Some(turn_and_attempt.1) },
                    words,
                );
                if !self.put_if_many(indexing, next)? {
                    return Ok(false);
                }
            }
            let mut words = HashSet::new();
            indexing.add_logs(&turn.artifacts, &mut words);
            indexing.put(TextOwner { turn: Some(turn.number), attempt: None }, words);
            if !self.put_if_many(indexing, next)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Writes the words so far if they are many. Gives whether the claim still holds.
    fn put_if_many(&self, indexing: &mut Indexing<'_>, next: &UnindexedEpisode) -> Result<bool, ApiError> {
        if indexing.words <= WORDS_AT_ONCE {
            return Ok(true);
        }
        indexing.words = 0;
        Ok(self.store.put_texts(next, &std::mem::take(&mut indexing.texts))?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::a_log;
    use super::*;

    /// Letters for numbers, so that each is a word of its own.
    fn word(mut number: usize) -> String {
        let mut word = String::from("w");
        for _ in 0..5 {
            word.push(char::from(b'a' + (number % 26) as u8));
            number /= 26;
        }
        word
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn a_log_of_different_words_is_indexed_up_to_a_bound() {
        let text: String =
            (0..MOST_WORDS + 50_000).map(|n| word(n) + if n % 9 == 0 { "\n" } else { " " }).collect();
        let (_folder, tree, artifact) = a_log(text.as_bytes());
        let mut indexing = Indexing::new(&tree, HashSet::new(), u64::MAX);
        let mut words = HashSet::new();
        indexing.add_logs(std::slice::from_ref(&artifact), &mut words);
        assert!(indexing.is_cut && (MOST_WORDS..MOST_WORDS + 10_000).contains(&words.len()));
        // The budget of the source, too.
        let mut indexing = Indexing::new(&tree, HashSet::new(), 1 << 20);
        let mut words = HashSet::new();
        indexing.add_logs(&[artifact], &mut words);
        assert!(indexing.is_cut && indexing.cost < 2 << 20, "it cost {}", indexing.cost);
    }
}
