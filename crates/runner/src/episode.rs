//! One episode: turn after turn, attempt after attempt, in one session of the agent.

use std::sync::Arc;

use gateway::{Scope, StopReason, simulated_model};
use model::{EndReason, Verdict};
use sandbox::Owner;
use scenario::change::Change;
use scenario::ir::Schema;
use scenario::pack::PackError;

use crate::agent_end::budget_spent;
use crate::attempt::FinishedAttempt;
use crate::blocking::blocking;
use crate::folders::Folders;
use crate::live::{Phase, is_resumable};
use crate::may_begin::{self, CannotStart};
use crate::outage;
use crate::record::{AttemptRecord, EpisodeFolder, Exception, Trajectory, TurnRecord, exception};
use crate::reopen::{self, keep_score};
use crate::run_context::RunContext;
use crate::scenarios::{TurnData, Turns};
use crate::settings::EndpointSettings;
use crate::state::{Journal, PlannedEpisode, SessionState, StateAfterAttempt};
use crate::status::Status;
use crate::{Event, RunError, clock, kill_points};

/// How an episode ended in this part of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EpisodeEnd {
    /// The episode is over.
    Finished,
    /// The run ended before the episode was over.
    Unfinished,
}

/// A running episode.
pub(crate) struct Episode<'a> {
    pub(crate) context: &'a RunContext,
    pub(crate) planned: &'a PlannedEpisode,
    pub(crate) owner: Owner,
    pub(crate) folders: Folders,
    pub(crate) results: EpisodeFolder,
    trajectory: Trajectory,
    pub(crate) known: SessionState,
    pub(crate) status: Arc<Status>,
    turns: Turns,
    /// Schemas and changes so far, for the simulated model.
    history: Vec<(Arc<Schema>, Vec<Change>)>,
}

/// What comes after an attempt.
pub(crate) enum NextAction {
    Retry,
    NextTurn,
    EndEpisode(EndReason),
}

/// Runs an episode from its recorded state.
pub(crate) async fn play(context: Arc<RunContext>, planned: PlannedEpisode) -> Result<EpisodeEnd, RunError> {
    let opened = {
        let (context, planned) = (context.clone(), planned.clone());
        blocking(move || reopen::open(&context, &planned)).await?
    };
    let Some(mut opened) = opened else { return Ok(EpisodeEnd::Finished) };
    if reopen::is_cut_off_by_budget(&opened.trajectory)
        && context.spent_budget_of_episode(&opened.status, &planned.name).await.is_none()
    {
        // The budget was raised.
        let state = context.paths.state(&planned.name);
        opened = blocking(move || {
            reopen::take_last_back(&mut opened, &state)?;
            Ok(opened)
        })
        .await?;
        keep_score(&context, &planned, &opened.trajectory);
    }
    let mut episode = Episode {
        owner: Owner { run: context.engine_run.clone(), episode: planned.name.clone() },
        turns: context.scenarios.turns(planned.scenario),
        context: &context,
        planned: &planned,
        folders: opened.folders,
        results: opened.results,
        trajectory: opened.trajectory,
        known: opened.known,
        status: opened.status,
        history: Vec::new(),
    };
    if !outage::wait_for_endpoint(&context, &episode.status).await {
        episode.leave().await?;
        return Ok(EpisodeEnd::Unfinished);
    }
    episode.status.begin();
    let ended = episode.play_turns().await;
    // What stays is removed with the run, which finds it by its labels.
    if let Err(error) = context.connections().await.containers.release(&episode.owner).await {
        tracing::warn!(%error, episode = episode.owner.episode, "its relay to the gateway could not be removed");
    }
    let end = ended?;
    if end == EpisodeEnd::Unfinished {
        episode.leave().await?;
    }
    Ok(end)
}

impl Episode<'_> {
    /// Runs all remaining turns.
    async fn play_turns(&mut self) -> Result<EpisodeEnd, RunError> {
        if let Some((turn, attempt)) = self.trajectory.last()
            && reopen::is_cut_off_by_budget(&self.trajectory)
            && let Err(blocked) = self.may_begin(turn, attempt).await
        {
            return self.end_blocked(blocked).await;
        }
        let first = match self.next_action() {
            // The episode was left between its last attempt and its end.
            Some(NextAction::EndEpisode(reason)) => return self.end_episode(reason, None).await,
            Some(NextAction::NextTurn) => self.trajectory.current.as_ref().map_or(1, |turn| turn.turn + 1),
            Some(NextAction::Retry) | None => self.trajectory.current.as_ref().map_or(1, |turn| turn.turn),
        };
        for turn in first..=self.planned.turns {
            if self.context.stop.is_cancelled() {
                return Ok(EpisodeEnd::Unfinished);
            }
            let data = match self.begin_turn(turn).await {
                Ok(data) => Arc::new(data),
                // Damage in one scenario does not end the others.
                Err(RunError::Pack(error)) => return self.end_unreadable_turn(turn, &error).await,
                Err(error) => return Err(error),
            };
            loop {
                let attempt = self.attempts_so_far() + 1;
                if let Err(blocked) = self.may_begin(turn, attempt).await {
                    return self.end_blocked(blocked).await;
                }
                let Some(next) = self.attempt(&data, attempt).await? else {
                    return Ok(EpisodeEnd::Unfinished);
                };
                match next {
                    NextAction::Retry => {}
                    NextAction::NextTurn => break,
                    NextAction::EndEpisode(reason) => return self.end_episode(reason, None).await,
                }
            }
        }
        let all = self.trajectory.stamina() == self.planned.turns;
        let reason = if all { EndReason::PassedAll } else { self.last_reason() };
        self.end_episode(reason, None).await
    }

    /// Ends the episode if its budget is spent. Otherwise the run ends.
    async fn end_blocked(&mut self, blocked: CannotStart) -> Result<EpisodeEnd, RunError> {
        match blocked {
            CannotStart::Budget(over) => {
                self.context.tell_spent(Some(over.clone())).await;
                self.end_episode(EndReason::Budget, budget_spent(&over).exception).await
            }
            CannotStart::RunEnds => Ok(EpisodeEnd::Unfinished),
        }
    }

    fn attempts_so_far(&self) -> u32 {
        self.trajectory.current.as_ref().map_or(0, |turn| turn.attempts.len() as u32)
    }

    /// What follows the last recorded attempt; `None` without one.
    fn next_action(&self) -> Option<NextAction> {
        let turn = self.trajectory.current.as_ref()?;
        let last = turn.attempts.last()?;
        Some(match last.verdict {
            Verdict::Passed if turn.turn == self.planned.turns => NextAction::EndEpisode(self.final_reason()),
            Verdict::Passed => NextAction::NextTurn,
            Verdict::Unfinished => NextAction::EndEpisode(last.end_reason.unwrap_or(EndReason::Unfinished)),
            _ if last.attempt < self.context.settings.attempt_limit => NextAction::Retry,
            _ if self.context.settings.fail_stop => {
                NextAction::EndEpisode(last.end_reason.unwrap_or(EndReason::TestsFailed))
            }
            _ if turn.turn == self.planned.turns => NextAction::EndEpisode(self.final_reason()),
            _ => NextAction::NextTurn,
        })
    }

    fn final_reason(&self) -> EndReason {
        if self.trajectory.stamina() == self.planned.turns {
            EndReason::PassedAll
        } else {
            self.last_reason()
        }
    }

    /// The end reason of the last attempt of the last turn.
    fn last_reason(&self) -> EndReason {
        let last = self.trajectory.current.as_ref().and_then(|turn| turn.attempts.last());
        match last {
            Some(attempt) if attempt.verdict == Verdict::Passed => EndReason::TestsFailed,
            Some(attempt) => attempt.end_reason.unwrap_or(EndReason::TestsFailed),
            None => EndReason::Unfinished,
        }
    }

    /// Reads the turn's data and writes its files. The trajectory begins the turn unless it has it already.
    async fn begin_turn(&mut self, turn: u32) -> Result<TurnData, RunError> {
        let simulated = self.context.settings.endpoint == EndpointSettings::Oracle;
        let begun_turns = self.history.len() as u32;
        // The sampler moves through a blocking thread and back.
        let mut turns =
            std::mem::replace(&mut self.turns, self.context.scenarios.turns(self.planned.scenario));
        let (mut data, earlier, turns) = blocking(move || {
            let mut earlier = Vec::new();
            if simulated {
                for number in begun_turns + 1..turn {
                    earlier.push(turns.schema(number)?);
                }
            }
            let data = turns.read(turn)?;
            Ok((data, earlier, turns))
        })
        .await?;
        self.turns = turns;
        if simulated {
            self.history.extend(earlier);
            self.history.push((data.schema.clone(), data.changes.clone()));
            self.forget_history();
        }
        let results = self.results.clone();
        let (data, files) = blocking(move || {
            let files = results.turn(&data)?;
            // They are large, and on disk now.
            data.pytest = String::new();
            data.reference = String::new();
            data.schema_text = String::new();
            Ok((data, files))
        })
        .await?;
        self.trajectory.head.title.get_or_insert_with(|| data.about.clone());
        if self.trajectory.current.as_ref().is_none_or(|current| current.turn != turn) {
            let record =
                TurnRecord::new(turn, Some(data.title.clone()), &data.request, data.tests.clone(), files);
            self.trajectory.begin(record);
            self.known.feedback = None;
            self.known.session_before.clone_from(&self.known.session);
        }
        let (about, turn_count) = (self.trajectory.head.title.clone(), self.planned.turns);
        let cells = self.cells();
        self.status.set(|shown| {
            shown.title = about;
            shown.turn = turn;
            shown.attempt = 0;
            shown.cells = cells;
            shown.end_reason = None;
        });
        self.context.events.tell(&Event::Turn {
            at: clock::now(),
            episode: self.planned.name.clone(),
            turn,
            turn_count,
        });
        Ok(data)
    }

    /// A simulated model whose defects do not carry over needs only this turn and the one before. Older schemas are dropped, so
    /// that memory does not grow with turns; their number stays.
    fn forget_history(&mut self) {
        let oracle = &self.context.settings.oracle;
        if oracle.carries_over && oracle.defect_rate > 0.0 {
            return;
        }
        let Some((first, _)) = self.history.first().cloned() else { return };
        let older = self.history.len().saturating_sub(2);
        for entry in self.history.iter_mut().take(older).skip(1) {
            *entry = (first.clone(), Vec::new());
        }
    }

    /// States of the turns that are decided.
    fn cells(&self) -> Vec<model::TurnState> {
        let current = self.trajectory.current.as_ref().filter(|turn| !turn.attempts.is_empty());
        let mut cells: Vec<_> = self.trajectory.summaries().iter().map(|turn| turn.state).collect();
        let cut_off = current
            .and_then(|turn| turn.attempts.last())
            .is_some_and(|last| last.verdict == Verdict::Unfinished);
        // A turn that is retried is not decided.
        if cut_off || current.is_some() && matches!(self.next_action(), Some(NextAction::Retry)) {
            cells.pop();
        }
        cells
    }

    /// Waits while the run is paused, then checks the budgets.
    async fn may_begin(&mut self, turn: u32, attempt: u32) -> Result<(), CannotStart> {
        if !may_begin::wait_out_a_pause(self.context, &self.status).await {
            return Err(CannotStart::RunEnds);
        }
        self.status.set(|shown| (shown.turn, shown.attempt) = (turn, attempt));
        may_begin::check_budgets(self.context, &self.status, &self.planned.name).await
    }

    pub(crate) fn task(&self, data: &TurnData, attempt: u32) -> Option<simulated_model::Task> {
        if self.history.is_empty() {
            return None;
        }
        let summaries = self.trajectory.summaries();
        let before = summaries.iter().take(data.turn as usize - 1).map(|turn| turn.attempts).collect();
        Some(simulated_model::Task {
            scenario: self.planned.scenario,
            turn: data.turn,
            attempt,
            turns: Arc::new(self.history.clone()),
            attempts_before: before,
            feedback: if self.context.settings.restore_before_try {
                simulated_model::Feedback::Anew
            } else {
                self.context.settings.feedback.into()
            },
            solution: None,
        })
    }

    /// Records an attempt: the journal first, then the trajectory, which decides.
    pub(crate) async fn commit(
        &mut self,
        data: &TurnData,
        played: FinishedAttempt,
    ) -> Result<NextAction, RunError> {
        let FinishedAttempt { record, after, spent_budget, own_seconds } = played;
        let turn = data.turn;
        self.write(record.clone(), after).await?;
        let (cells, spent) = (self.cells(), self.known.spent);
        self.status.set(|shown| {
            shown.cells = cells;
            shown.spent = spent;
        });
        keep_score(self.context, self.planned, &self.trajectory);
        self.context.tell_attempt(&self.planned.name, turn, &record, own_seconds);
        self.context.tell_spent(spent_budget.clone()).await;
        let next = self.next_action().unwrap_or(NextAction::Retry);
        // After the last turn has passed, no budget can cut anything off.
        let is_done = matches!(next, NextAction::EndEpisode(EndReason::PassedAll));
        if !is_done && matches!(spent_budget, Some(StopReason::Budget { scope: Scope::Episode, .. })) {
            return Ok(NextAction::EndEpisode(EndReason::Budget));
        }
        Ok(next)
    }

    async fn write(&mut self, record: AttemptRecord, after: SessionState) -> Result<(), RunError> {
        let turn = self.trajectory.current.as_ref().map_or(0, |turn| turn.turn);
        let attempt = record.attempt;
        let journal = Journal {
            before: self.known.clone(),
            after: Some(StateAfterAttempt { turn, attempt, known: after.clone() }),
        };
        let state = self.context.paths.state(&self.planned.name);
        if let Some(current) = &mut self.trajectory.current {
            current.attempts.push(record);
        }
        kill_points::point("about to record");
        self.trajectory = self
            .with_trajectory(move |trajectory| {
                journal.write(&state)?;
                kill_points::point("journal written");
                trajectory.write()
            })
            .await?;
        kill_points::point("recorded");
        self.known = after;
        Ok(())
    }

    /// Does blocking work with the trajectory.
    async fn with_trajectory(
        &mut self,
        work: impl FnOnce(&mut Trajectory) -> Result<(), RunError> + Send + 'static,
    ) -> Result<Trajectory, RunError> {
        let empty = Trajectory::new(self.results.path(), "", 0, 0);
        let mut trajectory = std::mem::replace(&mut self.trajectory, empty);
        blocking(move || {
            work(&mut trajectory)?;
            Ok(trajectory)
        })
        .await
    }

    /// Ends an episode with an unreadable turn. It is not attributed to the agent, and a resume tries again.
    async fn end_unreadable_turn(&mut self, turn: u32, error: &PackError) -> Result<EpisodeEnd, RunError> {
        let message = self.context.scrub.text(&format!("Turn {turn} cannot be read. {error}"));
        tracing::warn!("{}: {message}", self.planned.name);
        self.end_episode(EndReason::Environment, Some(exception("PackError", &message))).await
    }

    /// Ends the episode.
    async fn end_episode(
        &mut self,
        reason: EndReason,
        exception: Option<Exception>,
    ) -> Result<EpisodeEnd, RunError> {
        self.trajectory.end.finished_at = Some(clock::now());
        self.trajectory.end.end_reason = Some(reason);
        self.trajectory.end.exception = exception;
        kill_points::point("about to end an episode");
        self.trajectory = self.with_trajectory(Trajectory::write).await?;
        kill_points::point("episode ended");
        let cells = self.cells();
        self.status.stop_clocks();
        self.status.set(|shown| {
            shown.phase = Phase::Over;
            shown.cells = cells;
            shown.end_reason = Some(reason);
            shown.now = None;
        });
        let end = (reason, is_resumable(reason));
        reopen::end(self.context, self.planned, &self.folders, &self.trajectory, end).await?;
        Ok(EpisodeEnd::Finished)
    }

    /// The run ends before the episode. Its trajectory says why, until a resume.
    async fn leave(&mut self) -> Result<(), RunError> {
        self.status.leave();
        // Even if no attempt was recorded: the episode had begun.
        if let Some(reason) = self.context.end_reason()
            && self.trajectory.current.is_some()
        {
            self.trajectory.end.end_reason = Some(reason);
            self.trajectory = self.with_trajectory(Trajectory::write).await?;
            keep_score(self.context, self.planned, &self.trajectory);
        }
        let folders = self.folders.clone();
        blocking(move || folders.served()).await
    }
}
