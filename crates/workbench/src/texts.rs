//! Search in transcripts and logs: finds the places of words in the files that the index names.
//!
//! The index holds words only ([`store::add_words`]), so every place that is given was read in its source just now.

mod index;
mod searched_words;

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use files::Tree;
use ingest::view::MAX_LIMIT;
use model::{Artifact, ArtifactKind, Step, counted, strip_ansi};
use store::{MatchRank, TextCandidate, TextOwner, by_rank};

use crate::Workbench;
use crate::api::{ApiError, SearchRequest, TextHit, TextHits, TextKind};
use crate::episode_details::{FoundEpisode, artifact_text, log, name_of};
use crate::sources::is_there;

pub(crate) use self::index::Texts;
use self::searched_words::{Place, SearchedWords};

/// Bytes of a log that are searched, from its beginning.
const LOG_BYTES: u64 = 8 << 20;

/// Bytes of a text that are looked at at once: a longer line is taken in pieces.
const PIECE_BYTES: usize = 64 << 10;

/// How far before the end of a piece a border between words is looked for.
const WORD_BYTES: usize = 256;

/// How long a page waits for more places once there is one.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long it waits for the first one. In a large library the index alone may take longer than for more of them.
const PATIENCE_WITHOUT_HITS: Duration = Duration::from_secs(10);

/// Candidates that are asked for at once.
const CANDIDATES: u32 = 20;

/// How many places are read for each that is wanted, to find those first that have the words as a phrase.
const PLACES_PER_HIT: usize = 3;

/// How many more places are read than are wanted, at most.
const MORE_PLACES: usize = 200;

/// How many places are enough to choose from.
fn enough_places(limit: usize) -> usize {
    limit.saturating_mul(PLACES_PER_HIT).min(limit.saturating_add(MORE_PLACES))
}

/// Whether a file is searched as a log. Requests have an index of their own; suites and references are of the benchmark.
const fn is_log(kind: ArtifactKind) -> bool {
    matches!(
        kind,
        ArtifactKind::TestOutput | ArtifactKind::ServerLog | ArtifactKind::AgentLog | ArtifactKind::Log
    )
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

/// A text in pieces of bounded length, which end between words where that is possible.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = rest.floor_char_boundary(PIECE_BYTES);
        if end < rest.len() {
            let start = rest.floor_char_boundary(end - WORD_BYTES);
            end = rest[start..end].rfind(|c: char| !c.is_alphanumeric()).map_or(end, |index| start + index);
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Calls `read` with each line of a log and its number, long lines in pieces, until it says that this was enough.
fn read_log(
    tree: &Tree,
    artifact: &Artifact,
    mut read: impl FnMut(u32, &str) -> bool,
) -> Result<(), files::ReadError> {
    let mut offset = 0;
    let mut number = 1;
    let mut open = String::new();
    loop {
        let page = artifact_text(tree, artifact, i64::try_from(offset).unwrap_or(i64::MAX), MAX_LIMIT)?;
        open.push_str(&page.text);
        let next = page.next_offset.filter(|next| *next < LOG_BYTES && *next > offset);
        // The line that the next page continues waits for it, unless it is long.
        let whole = open.rfind('\n').map_or(0, |index| index + 1);
        let end = if next.is_some() && open.len() - whole <= PIECE_BYTES { whole } else { open.len() };
        for line in open[..end].split_inclusive('\n') {
            if pieces(line.trim_end_matches('\n')).any(|piece| read(number, &strip_ansi(piece))) {
                return Ok(());
            }
            number += u32::from(line.ends_with('\n'));
        }
        open.drain(..end);
        let Some(next) = next else { return Ok(()) };
        offset = next;
    }
}

impl Workbench {
    /// Looks in transcripts and logs, as long as a page waits.
    pub fn search_texts(&self, request: SearchRequest) -> Result<TextHits, ApiError> {
        let limit = if request.limit == 0 { 20 } else { request.limit.min(200) };
        let deadlines = Deadlines::new(PATIENCE, PATIENCE_WITHOUT_HITS);
        let found = self.find_in_texts(&request.text, limit as usize, Some(deadlines))?;
        let TextPlaces { hits, complete, in_part, has_more } = found;
        Ok(TextHits { hits: by_rank(vec![hits]), complete, in_part, has_more })
    }

    /// Looks in transcripts and logs, of the latest attempts first, until there are enough places with the phrase, or enough to
    /// choose from.
    fn find_in_texts(
        &self,
        text: &str,
        limit: usize,
        deadlines: Option<Deadlines>,
    ) -> Result<TextPlaces, ApiError> {
        let mut text_search = TextSearch::new(text, deadlines);
        let mut hits: Vec<(MatchRank, TextHit)> = Vec::new();
        let mut after = None;
        let mut has_more = false;
        'candidates: loop {
            let candidates = self.store.find_texts(text, after, CANDIDATES)?;
            let Some(last) = candidates.last() else { break };
            after = Some(last.position);
            for candidate in &candidates {
                let with_phrase = hits.iter().filter(|(rank, _)| *rank == MatchRank::Phrase).count();
                let is_enough = with_phrase >= limit || hits.len() >= enough_places(limit);
                if is_enough || text_search.is_over() {
                    has_more = true;
                    break 'candidates;
                }
                hits.extend(self.places_in(candidate, &mut text_search)?);
            }
        }
        let has_more = has_more || hits.len() > limit || text_search.is_cut;
        hits.sort_by_key(|(rank, _)| *rank);
        hits.truncate(limit);
        let known = self.store.texts_known()?;
        Ok(TextPlaces { hits, complete: known.complete, in_part: known.in_part, has_more })
    }

    /// The place of the words in each file of a candidate. A file that cannot be read any more has none.
    fn places_in(
        &self,
        candidate: &TextCandidate,
        text_search: &mut TextSearch,
    ) -> Result<Vec<(MatchRank, TextHit)>, ApiError> {
        let Ok(found) = self.find(&candidate.run, &candidate.episode) else { return Ok(Vec::new()) };
        if !is_there(Path::new(&found.run.source_path)) {
            return Ok(Vec::new());
        }
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
            && let Some(place) = self.step_with(&found, (turn, attempt), &text_search.wanted)
        {
            let words = format!("transcript, step {}", place.number);
            let place_hit = hit(TextKind::Transcript, words, text_search.wanted.snippet(&place.text));
            let rank = text_search.wanted.rank(&place);
            hits.push((rank, TextHit { step: Some(place.number), ..place_hit }));
            text_search.has_hits = true;
        }
        for artifact in artifacts.iter().filter(|artifact| is_log(artifact.kind)) {
            if text_search.is_over() {
                text_search.is_cut = true;
                break;
            }
            // Many episodes may name one log.
            if !text_search.searched_files.insert((found.run.entry.source, name_of(artifact))) {
                continue;
            }
            let Some(place) = line_with(&tree, artifact, text_search) else { continue };
            let label = log(None, artifact).label;
            let words = format!("{label}, line {}", place.number);
            let place_hit = hit(TextKind::Log, words, text_search.wanted.snippet(&place.text));
            let rank = text_search.wanted.rank(&place);
            let name = Some(name_of(artifact));
            hits.push((rank, TextHit { log: name, line: Some(place.number), ..place_hit }));
            text_search.has_hits = true;
        }
        Ok(hits)
    }

    /// The step of an attempt's transcript that holds the phrase, or else the most of the words.
    fn step_with(
        &self,
        found: &FoundEpisode,
        (turn, attempt): (u32, u32),
        wanted: &SearchedWords,
    ) -> Option<Place> {
        let attempt_ref = crate::api::AttemptRef {
            run: found.run.entry.slug.clone(),
            episode: found.episode.entry.slug.clone(),
            turn,
            attempt,
        };
        let transcript = self.get_transcript(attempt_ref).ok()?;
        let mut so_far = (0, None);
        for step in &transcript.steps {
            let texts = texts_of(step).flat_map(pieces);
            wanted.best(texts.map(|text| (step.index, text)), &mut so_far);
            if so_far.1.as_ref().is_some_and(|place| place.has_phrase) {
                break;
            }
        }
        wanted.place(so_far)
    }

    /// Looks in requests, failing tests, transcripts and logs; first makes searchable what is not yet. For the command line.
    ///
    /// `progress` is called with the episodes whose transcripts and logs were read for that, and how many there are to read.
    pub fn search_everything(
        &self,
        text: &str,
        limit: u32,
        progress: &dyn Fn(u32, u32),
    ) -> Result<TextHits, ApiError> {
        if !text.contains(char::is_alphanumeric) {
            return Err(ApiError::new("search.empty", "The search holds no letter or digit")
                .hint("Give the words to look for: stamina search connection refused"));
        }
        while !self.store.is_read_only() && self.store.index_text(200)? {}
        self.index_texts_with(progress)?;
        // Names are found too, and take their share of the limit: they are none of these places.
        let known = self.store.search(text, limit.saturating_mul(4))?;
        let (mut requests, mut tests) = (Vec::new(), Vec::new());
        let mut is_in_part = false;
        for hit in known.hits {
            is_in_part |= hit.also_is_least;
            let kind = match hit.kind {
                store::MatchKind::Request => TextKind::Request,
                store::MatchKind::Failure => TextKind::Failure,
                store::MatchKind::Run | store::MatchKind::Episode => continue,
            };
            let Some(episode) = hit.episode.clone() else { continue };
            let entry = self.find(&hit.run, &episode)?.episode.entry;
            let origin =
                hit.test.as_ref().map_or_else(|| "request".to_owned(), |test| format!("test {test}"));
            let place = match other_places(&hit) {
                Some(places) => format!("{origin}, the same in {places}"),
                None => origin,
            };
            let rank = hit.rank;
            let text_hit = TextHit {
                kind,
                run: hit.run,
                episode,
                scenario: entry.scenario,
                title: hit.title,
                turn: hit.turn,
                attempt: hit.attempt,
                test: hit.test,
                step: None,
                log: None,
                line: None,
                place,
                snippet: hit.detail,
                simulated: hit.simulated,
            };
            let hits = if kind == TextKind::Request { &mut requests } else { &mut tests };
            hits.push((rank, text_hit));
        }
        let limit = limit as usize;
        let texts = self.find_in_texts(text, limit, None)?;
        let found = requests.len() + tests.len() + texts.hits.len();
        let has_more = texts.has_more || found > limit || is_in_part;
        // No kind crowds out another that matches as well.
        let mut hits = by_rank(vec![requests, tests, texts.hits]);
        hits.truncate(limit);
        Ok(TextHits { hits, complete: known.complete && texts.complete, in_part: texts.in_part, has_more })
    }
}

/// The other places of a request or failing test, in words; `None` = none is known.
fn other_places(hit: &store::SearchHit) -> Option<String> {
    let noun = match (hit.kind, hit.also_in_runs) {
        (store::MatchKind::Failure, _) => "more place",
        (_, true) => "more run",
        (_, false) => "more turn",
    };
    let at_least = if hit.also_is_least { "at least " } else { "" };
    (hit.also > 0).then(|| format!("{at_least}{}", counted(hit.also.into(), noun)))
}

/// Places in transcripts and logs, each with how well it matches.
struct TextPlaces {
    hits: Vec<(MatchRank, TextHit)>,
    complete: bool,
    in_part: u32,
    has_more: bool,
}

/// When whoever waits has waited long enough.
#[derive(Debug, Clone, Copy)]
struct Deadlines {
    /// Where there is a place.
    with_hits: Instant,
    /// Where there is none.
    without_hits: Instant,
}

impl Deadlines {
    fn new(patience_with_hits: Duration, patience_without_hits: Duration) -> Self {
        let now = Instant::now();
        Self { with_hits: now + patience_with_hits, without_hits: now + patience_without_hits }
    }
}

/// A search in texts.
struct TextSearch {
    wanted: SearchedWords,
    /// `None` = nobody hurries.
    deadlines: Option<Deadlines>,
    /// Whether there is a place.
    has_hits: bool,
    /// Whether files were not looked at to their end because a deadline passed.
    is_cut: bool,
    /// Logs that were looked at: source and name.
    searched_files: HashSet<(i64, String)>,
}

impl TextSearch {
    fn new(text: &str, deadlines: Option<Deadlines>) -> Self {
        Self {
            wanted: SearchedWords::new(text),
            deadlines,
            has_hits: false,
            is_cut: false,
            searched_files: HashSet::new(),
        }
    }

    fn is_over(&self) -> bool {
        self.deadlines.is_some_and(|deadlines| {
            let until = if self.has_hits { deadlines.with_hits } else { deadlines.without_hits };
            Instant::now() >= until
        })
    }
}

/// The line of a log that holds the phrase, or else the most of the words.
fn line_with(tree: &Tree, artifact: &Artifact, text_search: &mut TextSearch) -> Option<Place> {
    let wanted = &text_search.wanted;
    let mut so_far = (0, None);
    let mut pieces = 0_u32;
    let mut is_cut = false;
    let read = read_log(tree, artifact, |number, line| {
        wanted.best(std::iter::once((number, line)), &mut so_far);
        pieces += 1;
        let has_phrase = so_far.1.as_ref().is_some_and(|place: &Place| place.has_phrase);
        is_cut = !has_phrase && pieces.is_multiple_of(64) && text_search.is_over();
        has_phrase || is_cut
    });
    read.ok()?;
    let place = wanted.place(so_far);
    text_search.is_cut |= is_cut;
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn a_log(bytes: &[u8]) -> (tempfile::TempDir, Tree, Artifact) {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.log"), bytes).expect("a file");
        let tree = Tree::open(folder.path()).expect("a tree");
        (folder, tree, Artifact::new(ArtifactKind::AgentLog, "a.log"))
    }

    /// Where the index took all of the patience, no place was read and none was given.
    #[test]
    fn a_search_that_took_long_gives_a_place_and_says_that_there_are_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let db = Some(folder.path().join("library.sqlite"));
        let workbench =
            Workbench::open(crate::Options { db, ..crate::Options::default() }).expect("a library");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the repository");
        workbench.ingest(&root.join("tests/fixtures/staminabench/own"), &|_, _| {}).expect("read");
        workbench.index_texts().expect("an index");
        let find = |patience: Option<[Duration; 2]>| {
            let deadlines = patience.map(|[with, without]| Deadlines::new(with, without));
            let found = workbench.find_in_texts("passed", 50, deadlines).expect("places");
            (found.hits.len(), found.has_more)
        };
        let (all, has_more) = find(None);
        assert!(all > 1 && !has_more, "{all} places");
        let long = Duration::from_mins(10);
        assert_eq!(find(Some([long, long])), (all, false));
        let (some, has_more) = find(Some([Duration::ZERO, long]));
        assert!((1..all).contains(&some) && has_more, "{some} of {all} places");
        assert_eq!(find(Some([Duration::ZERO, Duration::ZERO])), (0, true));
    }

    #[test]
    fn a_large_limit_reads_few_more_places_than_are_wanted() {
        assert_eq!([0, 1, 20, 100].map(enough_places), [0, 3, 60, 300]);
        assert_eq!([101, 1_000_000].map(enough_places), [301, 1_000_200]);
        assert_eq!(enough_places(usize::MAX), usize::MAX);
    }

    #[test]
    fn long_lines_are_taken_in_pieces_that_end_between_words() {
        let text = "a word und ein größeres Wort ".repeat(10_000);
        let taken: Vec<&str> = pieces(&text).collect();
        assert!(taken.len() > 3 && taken.iter().all(|piece| piece.len() <= PIECE_BYTES));
        assert_eq!(taken.concat(), text);
        assert!(taken[1..].iter().all(|piece| piece.starts_with(' ')), "no word is cut");
        let one_word = "ß".repeat(PIECE_BYTES);
        assert_eq!(pieces(&one_word).collect::<String>(), one_word);
        assert_eq!(pieces("").count(), 0);
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn a_line_without_end_is_searched_in_little_memory() {
        // What is escaped is four times as long; the words stand on both sides of a border between pages.
        let mut bytes = b"first line\nbegin ".to_vec();
        bytes.resize((2 << 20) + 200_000, 0);
        bytes.extend(b" end\nlast line");
        let (_folder, tree, artifact) = a_log(&bytes);
        let mut longest = 0;
        read_log(&tree, &artifact, |_, line| {
            longest = longest.max(line.len());
            false
        })
        .expect("read");
        assert!(longest <= PIECE_BYTES);
        let line_of = |words| line_with(&tree, &artifact, &mut TextSearch::new(words, None));
        let place = line_of("begin end").expect("both are in line 2");
        assert_eq!((place.number, place.words), (2, 1));
        let place = line_of("last").expect("found");
        assert_eq!((place.number, place.text.as_str()), (3, "last line"));
    }

    #[test]
    // docs/security.md: An opened folder or zip
    fn nobody_waits_for_a_large_log_longer_than_was_said() {
        let text = "nothing of it\n".repeat(1000) + "zwiebelkuchen\n";
        let (_folder, tree, artifact) = a_log(text.as_bytes());
        let [no_time, long] = [Duration::ZERO, Duration::from_mins(1)];
        for (patience, has_hits, line) in [
            (None, false, Some(1001)),
            (Some([long, long]), true, Some(1001)),
            (Some([no_time, long]), false, Some(1001)),
            (Some([no_time, long]), true, None),
            (Some([long, no_time]), false, None),
        ] {
            let deadlines = patience.map(|[with, without]| Deadlines::new(with, without));
            let mut text_search = TextSearch::new("zwiebelkuchen", deadlines);
            text_search.has_hits = has_hits;
            let place = line_with(&tree, &artifact, &mut text_search);
            assert_eq!(place.map(|place| place.number), line);
            assert_eq!(text_search.is_cut, line.is_none(), "what was not looked at is known");
        }
    }
}
