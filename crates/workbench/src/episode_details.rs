//! From an episode down to one failing test: turns, attempts, logs, transcripts, code.
//!
//! Only files that the store's artifacts name can be read, and only through the source's [`Tree`].

use std::collections::HashMap;
use std::sync::Arc;

use analysis::failures::history::Standing;
use files::{ReadError, Tree};
use ingest::view;
use model::{
    Artifact, ArtifactKind, Attempt, Episode, Request, TestOutcome, TestResult, Turn, TurnState, Verdict,
};
use store::{EpisodeRecord, RunRecord};

use crate::Workbench;
use crate::api::{
    ApiError, AttemptDetail, CodeChanges, CodeFile, CodeFileRequest, CodeRequest, EpisodeDetail, EpisodeRef,
    GridSort, LogInfo, ReadText, TestHistory, TextPage, TurnDetail, TurnRef, TurnRow,
};
use crate::episodes::run_record;
use crate::failures::{histories, history_of};
use crate::library::{grid_rows, row};

/// Failing tests of the first turn not passed that the run page shows.
const FIRST_FAILING: usize = 5;

/// An episode with where it lies.
pub(crate) struct FoundEpisode {
    pub(crate) run: RunRecord,
    pub(crate) episode: EpisodeRecord,
}

impl Workbench {
    pub(crate) fn find(&self, run: &str, episode: &str) -> Result<FoundEpisode, ApiError> {
        let run = run_record(&self.store, run)?;
        let found = self.store.episode(run.entry.id, episode)?.ok_or_else(|| {
            ApiError::new(
                "episode.not_found",
                format!("There is no episode \"{episode}\" in {}", run.entry.slug),
            )
            .hint("Its source may have been read again without it")
        })?;
        Ok(FoundEpisode { run, episode: found })
    }

    pub(crate) fn tree_of(&self, run: &RunRecord) -> Result<Arc<Tree>, ApiError> {
        self.opened_sources.tree(run.entry.source, &run.source_path)
    }

    pub(crate) fn turn_of(&self, found: &FoundEpisode, number: u32) -> Result<Option<Turn>, ApiError> {
        Ok(self.store.turn(found.episode.entry.id, number)?)
    }

    /// An episode with its turns.
    pub fn get_episode(&self, request: EpisodeRef) -> Result<EpisodeDetail, ApiError> {
        let found = self.find(&request.run, &request.episode)?;
        self.episode_detail(&found)
    }

    /// An episode as it was read, with every attempt and test; touches the library only, not the source.
    pub fn whole_episode(&self, episode_ref: &EpisodeRef) -> Result<Episode, ApiError> {
        let found = self.find(&episode_ref.run, &episode_ref.episode)?;
        self.store.whole_episode(found.episode.entry.id)?.ok_or_else(|| {
            ApiError::new("episode.not_found", "The episode was read again just now").hint("Ask again")
        })
    }

    fn episode_detail(&self, found: &FoundEpisode) -> Result<EpisodeDetail, ApiError> {
        let policy = self.store.get_policy()?;
        let rows =
            grid_rows(&found.run, self.store.all_episodes(found.run.entry.id)?, &policy, GridSort::Stamina);
        let slug = &found.episode.entry.slug;
        let index = rows.iter().position(|r| r.episode == *slug).ok_or_else(|| {
            ApiError::new("episode.not_found", "The episode was read again just now").hint("Open it again")
        })?;
        let neighbor = |i: Option<usize>| i.and_then(|i| rows.get(i)).map(|r| r.episode.clone());
        let neighbors = (neighbor(index.checked_sub(1)), neighbor(Some(index + 1)));
        let first_failing = match found.episode.entry.failed_turn {
            Some(number) => self
                .turn_of(found, number)?
                .and_then(|turn| turn.attempts.into_iter().next_back())
                .map(|a| a.tests.into_iter().filter(TestResult::is_failing).take(FIRST_FAILING).collect())
                .unwrap_or_default(),
            None => Vec::new(),
        };
        let tree = self.tree_of(&found.run).ok();
        Ok(EpisodeDetail {
            position: (index as u32 + 1, rows.len() as u32),
            neighbors,
            turns: turn_rows(&found.episode),
            first_failing,
            reported: found.episode.reported.clone(),
            exception: found.episode.exception.clone(),
            tokens: found.episode.entry.tokens,
            cost_usd: found.episode.entry.cost_usd,
            timing: found.episode.timing.clone(),
            logs: logs(tree.as_deref(), &found.episode.artifacts),
            extra: found.episode.extra.clone(),
            row: rows
                .into_iter()
                .nth(index)
                .ok_or_else(|| ApiError::new("episode.not_found", "No such episode"))?,
        })
    }

    /// A turn with its attempts and failing tests.
    pub fn get_turn(&self, request: TurnRef) -> Result<TurnDetail, ApiError> {
        let found = self.find(&request.run, &request.episode)?;
        let policy = self.store.get_policy()?;
        let detail = self.episode_detail(&found)?;
        if request.turn == 0 || !detail.turns.iter().any(|t| t.number == request.turn) {
            return Err(ApiError::new(
                "turn.not_found",
                format!("Episode \"{}\" has no turn {}", request.episode, request.turn),
            )
            .hint(format!("It has turns 1 to {}", detail.turns.len())));
        }
        let tree = self.tree_of(&found.run).ok();
        let turn = self.turn_of(&found, request.turn)?.unwrap_or_else(|| Turn::new(request.turn));
        let histories = match self.store.whole_episode(found.episode.entry.id)? {
            Some(mut episode) => {
                // What came later says nothing of how a test stood before.
                episode.turns.retain(|turn| turn.number <= request.turn);
                histories(&episode)
            }
            None => HashMap::new(),
        };
        let state =
            detail.turns.iter().find(|t| t.number == request.turn).map_or(TurnState::NotReached, |t| t.state);
        let request_text = match (&turn.request, &tree) {
            (Some(Request::Text(text)), _) => Some(whole_text(view::escape(text))),
            (Some(Request::File(artifact)), Some(tree)) => artifact_text(tree, artifact, 0, 0).ok(),
            _ => None,
        };
        let mut files = logs(tree.as_deref(), &turn.artifacts);
        if let Some(Request::File(artifact)) = &turn.request
            && artifact.pointer.is_none()
        {
            files.insert(0, log(tree.as_deref(), artifact));
        }
        Ok(TurnDetail {
            run: row(found.run.entry.clone(), 0, &policy, &self.source_labels()?),
            number: request.turn,
            title: turn.title,
            state,
            request: request_text,
            attempts: turn
                .attempts
                .into_iter()
                .map(|attempt| attempt_detail(tree.as_deref(), request.turn, attempt, &histories))
                .collect(),
            files,
            episode: detail,
        })
    }

    /// A piece of a log or other text file of the source.
    pub fn read_text(&self, request: ReadText) -> Result<TextPage, ApiError> {
        let found = self.find(&request.run, &request.episode)?;
        let artifacts = self.artifacts(&found, request.turn, request.attempt)?;
        let artifact =
            artifacts.iter().find(|a| is_text(a.kind) && name_of(a) == request.path).ok_or_else(|| {
                ApiError::new("text.not_found", "No log of this name belongs here").with_path(&request.path)
            })?;
        let tree = self.tree_of(&found.run)?;
        artifact_text(&tree, artifact, request.offset, request.limit)
            .map_err(|e| unreadable(&request.path, &e))
    }

    pub(crate) fn artifacts(
        &self,
        found: &FoundEpisode,
        turn: Option<u32>,
        attempt: Option<u32>,
    ) -> Result<Vec<Artifact>, ApiError> {
        let Some(number) = turn else { return Ok(found.episode.artifacts.clone()) };
        let Some(turn) = self.turn_of(found, number)? else { return Ok(Vec::new()) };
        Ok(match attempt {
            Some(attempt) => turn
                .attempts
                .into_iter()
                .find(|a| a.number == attempt)
                .map(|a| a.artifacts)
                .unwrap_or_default(),
            None => {
                let mut artifacts = turn.artifacts;
                if let Some(Request::File(request)) = turn.request {
                    artifacts.push(request);
                }
                artifacts
            }
        })
    }

    /// Which files an attempt changed.
    pub fn code_changes(&self, request: CodeRequest) -> Result<CodeChanges, ApiError> {
        let (found, pair) = self.code_pair(&request)?;
        let tree = self.tree_of(&found.run)?;
        let compared = view::compare(&tree, pair.before.as_deref(), &pair.after);
        Ok(CodeChanges {
            against: pair.against,
            choices: pair.choices,
            added: compared.added,
            removed: compared.removed,
            cut: compared.cut,
            files: compared.files,
        })
    }

    /// Both sides of a file.
    pub fn code_file(&self, request: CodeFileRequest) -> Result<CodeFile, ApiError> {
        let (found, pair) = self.code_pair(&request.code)?;
        let tree = self.tree_of(&found.run)?;
        view::file_pair(&tree, pair.before.as_deref(), &pair.after, &request.path)
            .map_err(|e| unreadable(&request.path, &e))
    }

    /// The code of an attempt and the code to compare it with.
    fn code_pair(&self, request: &CodeRequest) -> Result<(FoundEpisode, CodePair), ApiError> {
        let attempt_ref = &request.attempt;
        let found = self.find(&attempt_ref.run, &attempt_ref.episode)?;
        // Everything up to this attempt that has a snapshot, in order; the last is the attempt itself.
        let mut snapshots: Vec<((u32, u32), String)> = Vec::new();
        for entry in found.episode.turns.iter().filter(|t| t.number <= attempt_ref.turn && t.attempts > 0) {
            let Some(turn) = self.turn_of(&found, entry.number)? else { continue };
            for attempt in turn
                .attempts
                .iter()
                .filter(|a| (turn.number, a.number) <= (attempt_ref.turn, attempt_ref.attempt))
            {
                if let Some(code) = attempt.artifacts.iter().find(|a| a.kind == ArtifactKind::Code) {
                    snapshots.push(((turn.number, attempt.number), code.path.clone()));
                }
            }
        }
        let after = match snapshots.pop() {
            Some((place, path)) if place == (attempt_ref.turn, attempt_ref.attempt) => path,
            _ => {
                return Err(ApiError::new(
                    "code.not_found",
                    "This source keeps no snapshot of the code of this attempt",
                ));
            }
        };
        let chosen = match request.against {
            Some(wanted) => Some(snapshots.iter().find(|(place, _)| *place == wanted).ok_or_else(|| {
                ApiError::new(
                    "code.not_found",
                    format!("There is no code of turn {}, attempt {}", wanted.0, wanted.1),
                )
            })?),
            None => snapshots.last(),
        };
        let pair = CodePair {
            against: chosen.map(|(place, _)| *place),
            before: chosen.map(|(_, path)| path.clone()),
            after,
            choices: snapshots.iter().map(|(place, _)| *place).collect(),
        };
        Ok((found, pair))
    }
}

/// The text of an artifact: a whole file, or what a pointer names in a JSON file.
pub(crate) fn artifact_text(
    tree: &Tree,
    artifact: &Artifact,
    offset: i64,
    limit: u32,
) -> Result<TextPage, ReadError> {
    match &artifact.pointer {
        None => view::text_page(tree, &artifact.path, offset, limit),
        // Such texts are cut to a size that is given at once.
        Some(pointer) => view::text_at(tree, &artifact.path, pointer).map(whole_text),
    }
}

fn whole_text(text: String) -> TextPage {
    TextPage { total: text.len() as u64, text, offset: 0, next_offset: None }
}

/// What names an artifact towards a caller: its path, and the pointer into it where only a part is meant.
pub(crate) fn name_of(artifact: &Artifact) -> String {
    match &artifact.pointer {
        None => artifact.path.clone(),
        Some(pointer) => format!("{}#{pointer}", artifact.path),
    }
}

/// Two snapshots to compare.
struct CodePair {
    against: Option<(u32, u32)>,
    before: Option<String>,
    after: String,
    choices: Vec<(u32, u32)>,
}

/// Every turn of the episode, planned ones that were not reached included.
fn turn_rows(episode: &EpisodeRecord) -> Vec<TurnRow> {
    // A library of an earlier version may hold larger numbers.
    (1..=episode.entry.known_turns.min(store::limits::GRID_TURNS))
        .map(|number| match episode.turns.binary_search_by_key(&number, |t| t.number) {
            Ok(i) => episode.turns[i].clone(),
            Err(_) => TurnRow {
                number,
                title: None,
                state: TurnState::NotReached,
                passed: None,
                total: None,
                attempts: 0,
            },
        })
        .collect()
}

fn attempt_detail(
    tree: Option<&Tree>,
    turn: u32,
    attempt: Attempt,
    histories: &HashMap<(u32, u32, usize), TestHistory>,
) -> AttemptDetail {
    let logs = logs(tree, &attempt.artifacts);
    let has_kind = |kind| attempt.artifacts.iter().any(|a| a.kind == kind);
    let (has_transcript, has_code) = (has_kind(ArtifactKind::Transcript), has_kind(ArtifactKind::Code));
    let failing_not_described = attempt.failing_not_described();
    let unnamed_passed = unnamed_tests_passed(&attempt);
    let unknown = history_of(Standing::Unknown);
    let history = |index: usize| histories.get(&(turn, attempt.number, index)).copied().unwrap_or(unknown);
    let failing_at = attempt.tests.iter().enumerate().filter(|(_, test)| test.is_failing());
    let histories = failing_at.map(|(index, _)| history(index)).collect();
    let (failing, others): (Vec<TestResult>, Vec<TestResult>) =
        attempt.tests.into_iter().partition(TestResult::is_failing);
    let ids_with = |outcome: TestOutcome| -> Vec<String> {
        others.iter().filter(|t| t.outcome == outcome).map(|t| t.id.clone()).collect()
    };
    AttemptDetail {
        number: attempt.number,
        verdict: attempt.verdict,
        end_reason: attempt.end_reason,
        passed: attempt.passed,
        total: attempt.total,
        reward: attempt.reward,
        failing_not_described,
        histories,
        failing,
        passed_tests: ids_with(TestOutcome::Passed),
        skipped_tests: ids_with(TestOutcome::Skipped),
        unnamed_passed,
        tokens: attempt.tokens,
        cost_usd: attempt.cost_usd,
        tool_calls: attempt.tool_calls,
        steps: attempt.steps,
        timing: attempt.timing,
        exception: attempt.exception,
        grader_places: attempt.grader_places.map(|places| places.into_iter().collect()),
        logs,
        has_transcript,
        has_code,
        extra: attempt.extra,
    }
}

/// Whether a test that the source does not name passed: it names every other test, and not all that passed.
fn unnamed_tests_passed(attempt: &Attempt) -> bool {
    // Where the suite itself did not come to a verdict, silence says nothing.
    let (Verdict::Passed | Verdict::Failed, Some(passed), Some(total)) =
        (attempt.verdict, attempt.passed, attempt.total)
    else {
        return false;
    };
    let named = |outcome: TestOutcome| -> u64 {
        attempt.tests.iter().filter(|test| test.outcome == outcome).count() as u64
    };
    // Skipped tests are known to be in the total only where the source states how many failed.
    let skipped = if attempt.stated_failing().is_some() { named(TestOutcome::Skipped) } else { 0 };
    let others = named(TestOutcome::Failed) + named(TestOutcome::Error) + skipped;
    // A reward may pass an attempt with tests that failed. Where each test that passed has a name, another one did not run.
    attempt.failing_not_described() == 0
        && u64::from(passed) + others >= u64::from(total)
        && named(TestOutcome::Passed) < u64::from(passed)
}

/// Whether an artifact is read as text (transcripts and code have views of their own).
const fn is_text(kind: ArtifactKind) -> bool {
    !matches!(kind, ArtifactKind::Transcript | ArtifactKind::Code)
}

fn logs(tree: Option<&Tree>, artifacts: &[Artifact]) -> Vec<LogInfo> {
    artifacts.iter().filter(|a| is_text(a.kind)).map(|a| log(tree, a)).collect()
}

pub(crate) fn log(tree: Option<&Tree>, artifact: &Artifact) -> LogInfo {
    let part = artifact.pointer.as_deref().unwrap_or(&artifact.path);
    let name = part.rsplit('/').next().unwrap_or(part);
    let label = match artifact.kind {
        ArtifactKind::TestOutput => "Test output".to_owned(),
        ArtifactKind::ServerLog => "Server log".to_owned(),
        ArtifactKind::AgentLog => format!("Agent log, {name}"),
        ArtifactKind::Request => "Request".to_owned(),
        ArtifactKind::Reference => "Reference".to_owned(),
        ArtifactKind::Suite => format!("Suite, {name}"),
        ArtifactKind::Schema => "Schema".to_owned(),
        ArtifactKind::Log | ArtifactKind::Transcript | ArtifactKind::Code => name.to_owned(),
    };
    LogInfo {
        kind: artifact.kind,
        label,
        path: name_of(artifact),
        bytes: tree
            .filter(|_| artifact.pointer.is_none())
            .and_then(|t| t.entry(&artifact.path))
            .map(|e| e.size),
    }
}

pub(crate) fn unreadable(path: &str, error: &ReadError) -> ApiError {
    ApiError::new(error.code(), format!("It cannot be read: {error}"))
        .with_path(path)
        .hint("The source may have changed since it was read; look for changes in it")
}

#[cfg(test)]
mod tests {
    use model::STATED_FAILING;

    use super::*;

    const PASSED: TestOutcome = TestOutcome::Passed;
    const FAILED: TestOutcome = TestOutcome::Failed;
    const SKIPPED: TestOutcome = TestOutcome::Skipped;

    fn attempt(
        verdict: Verdict,
        passed: Option<u32>,
        total: Option<u32>,
        outcomes: &[TestOutcome],
    ) -> Attempt {
        let tests = (1..).zip(outcomes).map(|(n, outcome)| TestResult::new(format!("c{n}"), *outcome));
        Attempt { passed, total, tests: tests.collect(), ..Attempt::new(1, verdict) }
    }

    /// 41 passed and 2 failed of 44: the one that did neither was said to have passed.
    #[test]
    fn a_test_without_a_name_is_unknown_where_some_neither_passed_nor_failed() {
        let assumed_passed = |verdict, passed, total, outcomes: &[TestOutcome]| {
            unnamed_tests_passed(&attempt(verdict, passed, total, outcomes))
        };
        assert!(!assumed_passed(Verdict::Failed, Some(41), Some(44), &[FAILED, FAILED]));
        assert!(assumed_passed(Verdict::Failed, Some(41), Some(43), &[FAILED, FAILED]));
        assert!(assumed_passed(Verdict::Passed, Some(44), Some(44), &[]));
        // A reward passed an attempt of which four tests did not: each of them was said to have passed.
        assert!(!assumed_passed(Verdict::Passed, Some(40), Some(44), &[]));
        assert!(assumed_passed(Verdict::Passed, Some(42), Some(44), &[FAILED, FAILED]));
        assert!(!assumed_passed(Verdict::Failed, None, Some(43), &[FAILED, FAILED]));
        assert!(!assumed_passed(Verdict::Error, Some(0), Some(0), &[]));
    }

    /// A test that ran in the other run only was said to have passed in this one, which names every test that it ran.
    #[test]
    fn a_test_without_a_name_is_unknown_where_every_test_has_one() {
        let mut all = attempt(Verdict::Failed, Some(2), Some(3), &[PASSED, PASSED, FAILED]);
        assert!(!unnamed_tests_passed(&all));
        all.tests.remove(0);
        assert!(unnamed_tests_passed(&all), "one of two that passed has no name");
    }

    #[test]
    fn skipped_tests_are_named_and_fill_a_total_only_where_they_are_in_it() {
        let mut skipped = attempt(Verdict::Failed, Some(41), Some(44), &[FAILED, FAILED, SKIPPED]);
        assert!(!unnamed_tests_passed(&skipped), "a third may have failed");
        skipped.extra.insert(STATED_FAILING.to_owned(), 2.into());
        assert!(unnamed_tests_passed(&skipped));
        skipped.tests.push(TestResult::new("c4", PASSED));
        let detail = attempt_detail(None, 1, skipped, &HashMap::new());
        assert_eq!(detail.passed_tests, ["c4"]);
        assert_eq!(detail.skipped_tests, ["c3"]);
        assert_eq!(detail.failing.len(), 2);
    }
}
