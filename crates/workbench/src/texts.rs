//! Search in transcripts and logs: makes the index, and finds the places of words in the files that it names.
//!
//! The index holds words only ([`store::add_words`]), so every place that is given was read in its source just now.

use std::cell::Cell;
use std::collections::HashSet;
use std::time::{Duration, Instant};

use files::Tree;
use ingest::view::MAX_LIMIT;
use model::{Artifact, ArtifactKind, Step, Transcript, counted, strip_ansi};
use store::{TextCandidate, TextOwner, UnindexedEpisode};

use crate::Workbench;
use crate::api::{ApiError, Search, TextHit, TextHits, TextKind};
use crate::inspect::{Found, artifact_text, log, name_of};
use crate::transcripts::leave_out;

/// Bytes of a log that are searched, from its beginning.
const LOG_BYTES: u64 = 8 << 20;

/// Words that are put into the index in one write.
const WORDS_AT_ONCE: usize = 100_000;

/// How long a page waits for places.
const PATIENCE: Duration = Duration::from_secs(2);

/// Candidates that are asked for at once.
const CANDIDATES: u32 = 20;

/// Whether a file is searched as a log. Requests have an index of their own; suites and references are of the benchmark.
const fn is_log(kind: ArtifactKind) -> bool {
    matches!(
        kind,
        ArtifactKind::TestOutput | ArtifactKind::ServerLog | ArtifactKind::AgentLog | ArtifactKind::Log
    )
}

/// A place in a file, and how many of the words it holds.
struct Place {
    /// The step or line.
    number: u32,
    text: String,
    words: u32,
}

/// The words that are looked for, in lower case.
struct Wanted(Vec<String>);

impl Wanted {
    fn new(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_lowercase).collect())
    }

    /// Which of the words begin in a text, as bits; words after the 64th are not looked for.
    fn found_in(&self, text: &str) -> u64 {
        let low = text.to_lowercase();
        self.0
            .iter()
            .take(64)
            .enumerate()
            .filter(|(_, word)| {
                let is_word = word.starts_with(char::is_alphanumeric);
                low.match_indices(word.as_str())
                    .any(|(at, _)| !is_word || !low[..at].ends_with(char::is_alphanumeric))
            })
            .fold(0, |bits, (at, _)| bits | (1 << at))
    }

    fn all(&self) -> u64 {
        u64::MAX.checked_shr(64_u32.saturating_sub(self.0.len() as u32)).unwrap_or(0)
    }

    /// The place with the most words among texts that together hold every word; the first of several.
    fn best<'a>(&self, texts: impl Iterator<Item = (u32, &'a str)>, so_far: &mut (u64, Option<Place>)) {
        for (number, text) in texts {
            let bits = self.found_in(text);
            so_far.0 |= bits;
            let words = bits.count_ones();
            if words > so_far.1.as_ref().map_or(0, |place| place.words) {
                so_far.1 = Some(Place { number, text: text.to_owned(), words });
                if bits == self.all() {
                    return;
                }
            }
        }
    }

    /// The best place, if every word was found.
    fn place(&self, (bits, place): (u64, Option<Place>)) -> Option<Place> {
        place.filter(|_| bits == self.all())
    }

    fn snippet(&self, text: &str) -> String {
        store::around(text, &self.0)
    }
}

/// The texts of a step: what was reasoned, said, called, and came back.
fn texts_of(step: &Step) -> impl Iterator<Item = &str> {
    let calls = step.tool_calls.iter().flat_map(|call| {
        let texts = [
            Some(call.name.as_str()),
            Some(call.summary.as_str()),
            Some(call.arguments.as_str()),
            call.result.as_deref(),
        ];
        texts.into_iter().flatten()
    });
    step.reasoning.as_deref().into_iter().chain(std::iter::once(step.text.as_str())).chain(calls)
}

/// Calls `read` with each piece of a log, of whole lines, until it says that this was enough.
fn read_log(
    tree: &Tree,
    artifact: &Artifact,
    mut read: impl FnMut(&str) -> bool,
) -> Result<(), files::ReadError> {
    let mut offset = 0;
    let mut open = String::new();
    loop {
        let page = artifact_text(tree, artifact, i64::try_from(offset).unwrap_or(i64::MAX), MAX_LIMIT)?;
        open.push_str(&page.text);
        let next = page.next_offset.filter(|next| *next < LOG_BYTES && *next > offset);
        let end = if next.is_some() { open.rfind('\n').map_or(0, |at| at + 1) } else { open.len() };
        if read(&open[..end]) {
            return Ok(());
        }
        open.drain(..end);
        let Some(next) = next else { return Ok(()) };
        offset = next;
    }
}

impl Workbench {
    /// Makes the transcripts and logs of one more episode searchable. Gives the bytes of their texts; `None` = none is left.
    pub(crate) fn index_episode_texts(&self) -> Result<Option<u64>, ApiError> {
        if self.store.is_read_only() {
            return Ok(None);
        }
        let Some(next) = self.store.begin_texts()? else { return Ok(None) };
        let (readable, bytes) = self.index_texts_of(&next)?;
        self.store.end_texts(next.id, readable)?;
        Ok(Some(bytes))
    }

    /// Makes every transcript and log searchable that is not yet. Gives the bytes of their texts.
    pub fn index_texts(&self) -> Result<u64, ApiError> {
        if self.store.is_read_only() {
            return Ok(0);
        }
        self.store.retry_texts()?;
        let mut bytes = 0;
        while let Some(of_episode) = self.index_episode_texts()? {
            bytes += of_episode;
        }
        Ok(bytes)
    }

    /// Bytes that the index of transcripts and logs takes.
    pub fn text_index_bytes(&self) -> Result<u64, ApiError> {
        Ok(self.store.text_index_bytes()?)
    }

    /// Gives whether everything could be read, and the bytes of the texts.
    fn index_texts_of(&self, next: &UnindexedEpisode) -> Result<(bool, u64), ApiError> {
        let Ok(found) = self.find(&next.run, &next.episode) else { return Ok((false, 0)) };
        let Some(episode) = self.store.whole_episode(next.id)? else { return Ok((false, 0)) };
        let Ok(tree) = self.tree_of(&found.run) else { return Ok((false, 0)) };
        let (mut readable, mut size) = (true, 0);
        let bytes = Cell::new(0);
        let add = |text: &str, words: &mut HashSet<String>| {
            bytes.set(bytes.get() + text.len() as u64);
            store::add_words(text, words);
        };
        let mut texts: Vec<(TextOwner, HashSet<String>)> = Vec::new();
        let mut earlier: Option<((u32, u32), Transcript)> = None;
        let add_logs = |artifacts: &[Artifact], words: &mut HashSet<String>| {
            for artifact in artifacts.iter().filter(|artifact| is_log(artifact.kind)) {
                let read = read_log(&tree, artifact, |text| {
                    text.lines().for_each(|line| add(&strip_ansi(line), words));
                    false
                });
                // A file that is gone holds nothing; the others are searched.
                drop(read);
            }
        };
        for turn in &episode.turns {
            for attempt in &turn.attempts {
                let at = (turn.number, attempt.number);
                let mut words = HashSet::new();
                match self.transcript_in(&found, &attempt.artifacts) {
                    Ok(Some(transcript)) => {
                        let mut steps = transcript.steps.clone();
                        if let Some((before, earlier)) = &earlier
                            && before.0 + 1 >= at.0
                        {
                            leave_out(&mut steps, &earlier.steps, *before);
                        }
                        for text in steps.iter().flat_map(texts_of) {
                            add(text, &mut words);
                        }
                        earlier = Some((at, transcript));
                    }
                    Ok(None) => earlier = None,
                    Err(_) => readable = false,
                }
                add_logs(&attempt.artifacts, &mut words);
                size += words.len();
                texts.push((TextOwner { turn: Some(at.0), attempt: Some(at.1) }, words));
            }
            let mut words = HashSet::new();
            add_logs(&turn.artifacts, &mut words);
            size += words.len();
            texts.push((TextOwner { turn: Some(turn.number), attempt: None }, words));
            if size > WORDS_AT_ONCE {
                texts.retain(|(_, words)| !words.is_empty());
                if !self.store.put_texts(next.id, &texts)? {
                    return Ok((false, bytes.get()));
                }
                texts.clear();
                size = 0;
            }
        }
        let mut words = HashSet::new();
        add_logs(&episode.artifacts, &mut words);
        texts.push((TextOwner { turn: None, attempt: None }, words));
        texts.retain(|(_, words)| !words.is_empty());
        Ok((self.store.put_texts(next.id, &texts)? && readable, bytes.get()))
    }

    /// Looks in transcripts and logs, as long as a page waits.
    pub fn search_texts(&self, request: Search) -> Result<TextHits, ApiError> {
        let limit = if request.limit == 0 { 20 } else { request.limit.min(200) };
        self.find_in_texts(&request.text, limit as usize, Some(PATIENCE))
    }

    /// Looks in transcripts and logs.
    fn find_in_texts(
        &self,
        text: &str,
        limit: usize,
        patience: Option<Duration>,
    ) -> Result<TextHits, ApiError> {
        let begin = Instant::now();
        let wanted = Wanted::new(text);
        let mut hits = Vec::new();
        let mut after = None;
        let mut more = false;
        'candidates: loop {
            let candidates = self.store.find_texts(text, after, CANDIDATES)?;
            let Some(last) = candidates.last() else { break };
            after = Some(last.at);
            for candidate in &candidates {
                if hits.len() >= limit || patience.is_some_and(|patience| begin.elapsed() > patience) {
                    more = true;
                    break 'candidates;
                }
                hits.extend(self.places_in(candidate, &wanted)?);
            }
        }
        hits.truncate(limit);
        Ok(TextHits { hits, complete: self.store.texts_are_complete()?, more })
    }

    /// The place of the words in each file of a candidate. A file that cannot be read any more has none.
    fn places_in(&self, candidate: &TextCandidate, wanted: &Wanted) -> Result<Vec<TextHit>, ApiError> {
        let Ok(found) = self.find(&candidate.run, &candidate.episode) else { return Ok(Vec::new()) };
        let Ok(tree) = self.tree_of(&found.run) else { return Ok(Vec::new()) };
        let TextOwner { turn, attempt } = candidate.owner;
        let artifacts = self.artifacts(&found, turn, attempt)?;
        let hit = |kind: TextKind, place: String, snippet: String| TextHit {
            kind,
            run: candidate.run.clone(),
            episode: candidate.episode.clone(),
            scenario: candidate.scenario.clone(),
            title: candidate.title.clone(),
            turn,
            attempt,
            test: None,
            step: None,
            log: None,
            line: None,
            place,
            snippet,
            simulated: candidate.simulated,
        };
        let mut hits = Vec::new();
        if let (Some(turn), Some(attempt)) = (turn, attempt)
            && artifacts.iter().any(|artifact| artifact.kind == ArtifactKind::Transcript)
            && let Some(place) = self.step_with(&found, (turn, attempt), wanted)
        {
            let words = format!("transcript, step {}", place.number);
            let place_hit = hit(TextKind::Transcript, words, wanted.snippet(&place.text));
            hits.push(TextHit { step: Some(place.number), ..place_hit });
        }
        for artifact in artifacts.iter().filter(|artifact| is_log(artifact.kind)) {
            let Some(place) = line_with(&tree, artifact, wanted) else { continue };
            let label = log(None, artifact).label;
            let words = format!("{label}, line {}", place.number);
            let place_hit = hit(TextKind::Log, words, wanted.snippet(&place.text));
            hits.push(TextHit { log: Some(name_of(artifact)), line: Some(place.number), ..place_hit });
        }
        Ok(hits)
    }

    /// The step of an attempt's transcript that holds the most of the words.
    fn step_with(&self, found: &Found, (turn, attempt): (u32, u32), wanted: &Wanted) -> Option<Place> {
        let of = crate::api::AttemptRef {
            run: found.run.entry.slug.clone(),
            episode: found.episode.entry.slug.clone(),
            turn,
            attempt,
        };
        let transcript = self.get_transcript(of).ok()?;
        let mut so_far = (0, None);
        for step in &transcript.steps {
            wanted.best(texts_of(step).map(|text| (step.index, text)), &mut so_far);
            if so_far.1.as_ref().is_some_and(|place| place.words as usize == wanted.0.len()) {
                break;
            }
        }
        wanted.place(so_far)
    }

    /// Looks in requests, failing tests, transcripts and logs; first makes searchable what is not yet. For the command line.
    pub fn search_everything(&self, text: &str, limit: u32) -> Result<TextHits, ApiError> {
        if !text.contains(char::is_alphanumeric) {
            return Err(ApiError::new("search.empty", "The search holds no letter or digit")
                .hint("Give the words to look for: stamina search connection refused"));
        }
        while !self.store.is_read_only() && self.store.index_text(200)? {}
        self.index_texts()?;
        // Names are found too, and take their share of the limit: they are none of these places.
        let known = self.store.search(text, limit.saturating_mul(4))?;
        let mut hits = Vec::new();
        for of in known.hits {
            let kind = match of.kind {
                store::MatchKind::Request => TextKind::Request,
                store::MatchKind::Failure => TextKind::Failure,
                store::MatchKind::Run | store::MatchKind::Episode => continue,
            };
            let Some(episode) = of.episode else { continue };
            let entry = self.find(&of.run, &episode)?.episode.entry;
            let place = match (&of.test, of.also) {
                (Some(test), _) => format!("test {test}"),
                (None, 0) => "request".to_owned(),
                (None, also) => format!("request, the same in {}", counted(u64::from(also), "more turn")),
            };
            hits.push(TextHit {
                kind,
                run: of.run,
                episode,
                scenario: entry.scenario,
                title: of.title,
                turn: of.turn,
                attempt: of.attempt,
                test: of.test,
                step: None,
                log: None,
                line: None,
                place,
                snippet: of.detail,
                simulated: of.simulated,
            });
        }
        let limit = limit as usize;
        let texts = self.find_in_texts(text, limit, None)?;
        let more = texts.more || hits.len() + texts.hits.len() > limit;
        // Neither kind crowds out the other.
        let kept = limit.saturating_sub(texts.hits.len()).max(limit / 2);
        hits.truncate(kept);
        hits.extend(texts.hits);
        hits.truncate(limit);
        Ok(TextHits { hits, complete: known.complete && texts.complete, more })
    }
}

/// The line of a log that holds the most of the words.
fn line_with(tree: &Tree, artifact: &Artifact, wanted: &Wanted) -> Option<Place> {
    let mut so_far = (0, None);
    let mut lines = 0;
    let read = read_log(tree, artifact, |text| {
        for line in text.lines() {
            lines += 1;
            let line = strip_ansi(line);
            wanted.best(std::iter::once((lines, &*line)), &mut so_far);
            if so_far.1.as_ref().is_some_and(|place| place.words as usize == wanted.0.len()) {
                return true;
            }
        }
        false
    });
    read.ok()?;
    wanted.place(so_far)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_where_they_begin_and_the_best_place_is_the_first_with_the_most() {
        let wanted = Wanted::new("Route items 404");
        assert_eq!(wanted.all(), 0b111);
        assert_eq!(wanted.found_in("GET /items: 404"), 0b110);
        assert_eq!(wanted.found_in("reroute"), 0, "a word begins where a word begins");
        let lines = ["no route", "items", "GET /items gave 404", "items 404", "route"];
        let mut so_far = (0, None);
        wanted.best((1..).zip(lines), &mut so_far);
        let place = wanted.place(so_far).expect("every word is there");
        assert_eq!((place.number, place.words), (3, 2));
        let mut so_far = (0, None);
        wanted.best((1..).zip(["items 404"]), &mut so_far);
        assert!(wanted.place(so_far).is_none(), "a word is missing");
    }
}
