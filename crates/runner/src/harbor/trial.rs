//! A trial: one task from its first step to its last, in one container.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use files::Tree;
use gateway::{Scope, StopReason};
use model::{EndReason, Verdict};
use sandbox::{OpenTask, Owner, SandboxError, TaskContainer};

use super::file::{StepFile, TaskFile};
use super::player::{self, Player};
use super::recorded::first_line;
use super::reward;
use super::task::{Task, Tasks};
use crate::agent::blocking;
use crate::episode::EpisodeEnd;
use crate::folders::Folders;
use crate::live::Phase;
use crate::play::{Ending, Play};
use crate::record::{AttemptRecord, EpisodeFolder, Exception, TaskFiles, Trajectory, TurnRecord};
use crate::reopen::{self, keep_score};
use crate::state::{Known, Planned};
use crate::status::Status;
use crate::verdict::{budget_spent, exception};
use crate::{Event, RunError, clock, copy, disk, outage};

/// How often a pause is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// A trial that is played.
pub(super) struct Trial<'a> {
    pub(super) play: &'a Play,
    pub(super) planned: &'a Planned,
    pub(super) tasks: Arc<Tasks>,
    pub(super) task: &'a Task,
    pub(super) file: &'a TaskFile,
    /// `None` = a harness plays.
    pub(super) player: Option<Player>,
    pub(super) owner: Owner,
    pub(super) results: EpisodeFolder,
    trajectory: Trajectory,
    pub(super) folders: Folders,
    pub(super) status: Arc<Status>,
    pub(super) container: Option<OpenTask>,
    /// What its container is opened from.
    pub(super) what: Option<TaskContainer>,
    /// The step that is played, from 1.
    pub(super) number: u32,
    /// The attempt at it, from 1.
    pub(super) attempt: u32,
    /// Attempts so far, this one included, for the names of their logs.
    pub(super) calls: u32,
    /// What is known of the harness's session.
    pub(super) known: Known,
    /// What the next attempt at the step is told, where there is feedback.
    pub(super) feedback: Option<String>,
    /// Where commands run.
    pub(super) workdir: String,
    /// Whether a player has worked in the container: what goes wrong in it from then on may be its doing.
    pub(super) was_played: bool,
    /// Reference solutions that were executed for a later step and did not exit with 0, by step, with their codes.
    pub(super) references_failed: BTreeMap<String, i64>,
    /// Whether a verifier has run in the container.
    pub(super) was_verified: bool,
}

/// How the steps ended.
enum Ended {
    Over(EndReason, Option<Exception>),
    Unfinished,
}

/// Whether a step that did not pass for this reason gets another attempt: not where something outside has ended it.
fn is_tried_again(reason: EndReason) -> bool {
    !matches!(
        reason,
        EndReason::Endpoint
            | EndReason::Environment
            | EndReason::Budget
            | EndReason::Cancelled
            | EndReason::Unfinished
    )
}

/// That the container of a trial is asked for before it is opened.
pub(super) fn not_open() -> SandboxError {
    SandboxError::Engine {
        doing: "work in the container of a task",
        why: "it is not open".to_owned(),
        is_gone: false,
    }
}

/// Plays a trial. One that was cut off is retried from its first step: its container is gone.
pub(crate) async fn play(
    play: Arc<Play>,
    planned: Planned,
    tasks: Arc<Tasks>,
) -> Result<EpisodeEnd, RunError> {
    let opened = {
        let (play, planned) = (play.clone(), planned.clone());
        blocking(move || {
            let opened = reopen::look(&play, &planned)?;
            if let Some(opened) = &opened {
                opened.folders.make()?;
                if opened.is_over() {
                    reopen::fulfill(&play, &planned, &opened.status);
                }
            }
            Ok(opened)
        })
        .await?
    };
    let Some(opened) = opened else { return Ok(EpisodeEnd::Over) };
    let shared = tasks.clone();
    let of_run = |why: String| RunError::NotResumable { path: play.place.results.clone(), why };
    let task = shared.task(&planned).ok_or_else(|| of_run(format!("{} is not there", planned.name)))?;
    let file = task.file().map_err(of_run)?;
    let player = player::find(&play.settings.agent).copied();
    let mut trial = Trial {
        owner: Owner { run: play.id.clone(), episode: planned.name.clone() },
        play: &play,
        planned: &planned,
        tasks,
        task,
        file,
        player,
        results: opened.results,
        trajectory: opened.trajectory,
        folders: opened.folders,
        status: opened.status,
        container: None,
        what: None,
        number: 1,
        attempt: 1,
        calls: 0,
        known: Known::default(),
        feedback: None,
        workdir: "/".to_owned(),
        was_played: false,
        references_failed: BTreeMap::new(),
        was_verified: false,
    };
    trial.name_trajectory();
    // What is recorded of it goes only where it is played.
    if player.is_none() && !outage::waited_out(&play, &trial.status).await {
        return trial.stay(Ended::Unfinished).await;
    }
    if let Some(ended) = trial.held().await {
        return trial.stay(ended).await;
    }
    trial.begin_anew().await?;
    let title = trial.trajectory.head.title.clone().unwrap_or_else(|| task.name.clone());
    trial.status.set(|shown| {
        shown.title = Some(title);
        shown.cells.clear();
    });
    let ended = trial.whole().await;
    if let Some(container) = trial.container.take()
        && let Err(error) = container.close().await
    {
        tracing::warn!(%error, episode = planned.name, "the container of a task could not be removed");
    }
    trial.forget().await;
    match ended? {
        Ended::Over(reason, exception) => trial.over(reason, exception).await,
        Ended::Unfinished => trial.leave(),
    }
}

impl Trial<'_> {
    pub(super) fn tree(&self) -> &Tree {
        &self.tasks.tree
    }

    pub(super) fn container(&self) -> Result<&OpenTask, SandboxError> {
        self.container.as_ref().ok_or_else(not_open)
    }

    /// The head of its trajectory says which task it is.
    fn name_trajectory(&mut self) {
        let head = &mut self.trajectory.head;
        head.task = Some(self.task.name.clone());
        head.title.clone_from(&self.file.title);
        let alone = self.play.settings.tasks.as_ref().filter(|tasks| tasks.plays_alone());
        head.protocol = alone.and_then(|tasks| tasks.protocol);
    }

    /// Takes away what is recorded of it: its container is gone, so it is played as a whole.
    async fn begin_anew(&mut self) -> Result<(), RunError> {
        let (path, scrub) = (self.play.place.episode(&self.planned.name), self.play.scrub.clone());
        self.results = blocking(move || {
            copy::remove(&path).map_err(|error| disk::at(&path, error))?;
            EpisodeFolder::new(path, scrub)
        })
        .await?;
        let (name, turns) = (&self.planned.name, self.planned.turns);
        self.trajectory = Trajectory::new(self.results.path(), name, turns, self.play.settings.attempt_limit);
        self.name_trajectory();
        keep_score(self.play, self.planned, &self.trajectory);
        Ok(())
    }

    /// It is not played: what is recorded of it stays as it is. One that a budget keeps from being continued is over.
    async fn stay(&mut self, ended: Ended) -> Result<EpisodeEnd, RunError> {
        self.status.rest();
        let is_over = self.trajectory.end.finished_at.is_some();
        match ended {
            Ended::Over(reason, exception) if !is_over => self.over(reason, exception).await,
            Ended::Over(..) => {
                keep_score(self.play, self.planned, &self.trajectory);
                reopen::show_over(&self.status, self.planned, &self.trajectory);
                let folders = self.folders.clone();
                blocking(move || {
                    reopen::close(&folders, false);
                    Ok(())
                })
                .await?;
                Ok(EpisodeEnd::Over)
            }
            Ended::Unfinished => {
                keep_score(self.play, self.planned, &self.trajectory);
                self.status.set(|shown| {
                    shown.phase = Phase::Queued;
                    shown.now = None;
                });
                Ok(EpisodeEnd::Unfinished)
            }
        }
    }

    async fn whole(&mut self) -> Result<Ended, RunError> {
        match self.open().await {
            Ok(None) => {}
            Ok(Some(_)) if self.play.stop.is_cancelled() => return Ok(Ended::Unfinished),
            Ok(Some((reason, exception))) => return Ok(Ended::Over(reason, Some(exception))),
            Err(error) => return Ok(self.broken(&error)),
        }
        let (file, plays_alone) = (self.file, self.plays_alone());
        for (step, number) in file.steps.iter().take(self.planned.turns as usize).zip(1_u32..) {
            if let Some(ended) = self.held().await {
                return Ok(ended);
            }
            let (mut since, mut started_at) = (Instant::now(), clock::now());
            self.begin(step, number).await?;
            let before = match self.keep(number).await {
                Ok(before) => before,
                Err(error) => return Ok(self.broken(&error)),
            };
            for attempt in 1..=self.play.settings.attempt_limit.max(1) {
                if attempt > 1 {
                    if let Some(ended) = self.held().await {
                        return Ok(ended);
                    }
                    (since, started_at) = (Instant::now(), clock::now());
                }
                self.attempt = attempt;
                self.calls += 1;
                self.status.set(|shown| shown.attempt = attempt);
                // The first attempt at the first step finds it as it was kept.
                if let Some(before) = before.as_ref().filter(|_| number > 1 || attempt > 1) {
                    let restored = self.restore(before).await;
                    if self.play.stop.is_cancelled() {
                        return Ok(Ended::Unfinished);
                    }
                    match restored {
                        Ok(None) => {}
                        Ok(Some((reason, exception))) => return Ok(Ended::Over(reason, Some(exception))),
                        Err(error) => return Ok(self.broken(&error)),
                    }
                }
                let played = match self.step(step).await {
                    Ok(played) => played,
                    Err(error) => return Ok(self.broken(&error)),
                };
                if self.play.stop.is_cancelled() {
                    return Ok(Ended::Unfinished);
                }
                let below = reward::below(&step.min_reward, played.rewards.as_ref());
                let is_over = played.is_over || played.raised.is_some() && played.rewards.is_none();
                let (told, is_broken) = (self.told(&played), played.is_over);
                let over = played.call.as_ref().and_then(|call| call.over.clone());
                let record = self.record(step, number, played, since, started_at.clone()).await?;
                let passed = record.verdict == Verdict::Passed;
                let reason = record.end_reason.unwrap_or(EndReason::TestsFailed);
                self.commit(number, record, over).await?;
                // Without a snapshot there is nothing to go on with where the container does not do what it should.
                let may_go_on = before.is_some() || !is_broken;
                let has_more = attempt < self.play.settings.attempt_limit;
                if !passed && has_more && may_go_on && is_tried_again(reason) {
                    self.keep_feedback(reason, told.as_deref());
                    continue;
                }
                let is_last = number == self.planned.turns;
                // What comes next does not rest on what this one left, whatever it came to.
                if plays_alone && (passed || is_tried_again(reason)) {
                    break;
                }
                if !is_last && (is_over || below.is_some() || !passed && self.play.settings.fail_stop) {
                    return Ok(Ended::Over(reason, None));
                }
                break;
            }
            if let Some(before) = before.as_ref().filter(|_| plays_alone && number < self.planned.turns) {
                let advanced = self.advance(before, step).await;
                // What a stop cuts off says nothing of the step.
                if self.play.stop.is_cancelled() {
                    return Ok(Ended::Unfinished);
                }
                match advanced {
                    Ok(None) => {}
                    Ok(Some((reason, exception))) => return Ok(Ended::Over(reason, Some(exception))),
                    Err(error) => return Ok(self.broken(&error)),
                }
            }
        }
        let all = self.trajectory.stamina() == self.planned.turns;
        let last = self.trajectory.current.as_ref().and_then(|turn| turn.attempts.last());
        let of_last = last.and_then(|last| last.end_reason).unwrap_or(EndReason::TestsFailed);
        Ok(Ended::Over(if all { EndReason::PassedAll } else { of_last }, None))
    }

    /// Waits while the run is paused; says how the trial ends where it may not go on.
    async fn held(&mut self) -> Option<Ended> {
        let mut paused = false;
        loop {
            if self.play.stop.is_cancelled() {
                return Some(Ended::Unfinished);
            }
            if !self.play.wishes.borrow().pause {
                break;
            }
            if !paused {
                paused = true;
                self.status.rest();
                self.status.phase(Phase::Paused, "paused");
            }
            tokio::time::sleep(LOOK).await;
        }
        self.status.begin();
        match self.play.over(&self.status, &self.planned.name).await? {
            over @ StopReason::Budget { scope: Scope::Run, .. } => {
                self.play.end(Ending::Budget(over));
                Some(Ended::Unfinished)
            }
            over => {
                self.play.tell_spent(Some(over.clone())).await;
                Some(Ended::Over(EndReason::Budget, budget_spent(&over).exception))
            }
        }
    }

    /// How a trial ends whose engine failed: with the run, where the engine or the disk is gone, else by itself.
    fn broken(&self, error: &SandboxError) -> Ended {
        match error {
            SandboxError::Engine { is_gone: true, .. }
            | SandboxError::NoRoom { .. }
            | SandboxError::NoEngine { .. } => {
                self.play.end(Ending::Broken(error.to_string()));
                Ended::Unfinished
            }
            _ if self.play.stop.is_cancelled() => Ended::Unfinished,
            error => {
                let hint = error.hint().map(|hint| format!(". {hint}")).unwrap_or_default();
                let message = self.play.scrub.text(&format!("{error}{hint}"));
                Ended::Over(EndReason::Environment, Some(exception("EnvironmentError", &message)))
            }
        }
    }

    /// The files of a step, and its line in the trajectory.
    async fn begin(&mut self, step: &StepFile, number: u32) -> Result<(), RunError> {
        let (tasks, results) = (self.tasks.clone(), self.results.clone());
        let (index, of_step) = (self.planned.scenario as usize, step.clone());
        let (request, files) = blocking(move || {
            let task = tasks.list.get(index);
            let text = |path: Option<String>| {
                path.and_then(|path| tasks.tree.read_text(&path, 8 << 20).ok()).map(|(text, _)| text)
            };
            let request =
                task.and_then(|task| task.instruction(&tasks.tree, &of_step).ok()).unwrap_or_default();
            let script = |task: &Task| {
                let of_step = task.of_step(&tasks.tree, &of_step, "tests/test.sh");
                of_step.or_else(|| task.of_task(&tasks.tree, "tests/test.sh"))
            };
            let suite = text(task.and_then(script));
            let solution = task.and_then(|task| task.solution(&tasks.tree, &of_step));
            let reference = text(solution.map(|folder| files::join(&folder, "solve.sh")));
            let of_turn = TaskFiles {
                turn: number,
                request: &request,
                reference: reference.as_deref(),
                suite: suite.as_deref(),
            };
            let files = results.task_turn(&of_turn)?;
            Ok((request, files))
        })
        .await?;
        let title = first_line(&request);
        let mut record = TurnRecord::new(number, title, &request, Vec::new(), files);
        record.step = Some(step.name.clone());
        (self.number, self.attempt, self.feedback) = (number, 1, None);
        self.trajectory.begin(record);
        self.status.set(|shown| {
            (shown.turn, shown.attempt, shown.end_reason) = (number, 1, None);
        });
        self.play.events.tell(&Event::Turn {
            at: clock::now(),
            episode: self.planned.name.clone(),
            turn: number,
            of: self.planned.turns,
        });
        Ok(())
    }

    /// The step counts once the trajectory names it.
    async fn commit(
        &mut self,
        number: u32,
        record: AttemptRecord,
        over: Option<StopReason>,
    ) -> Result<(), RunError> {
        if let Some(current) = &mut self.trajectory.current {
            current.attempts.push(record.clone());
        }
        self.write()?;
        let cells = self.trajectory.summaries().iter().map(|turn| turn.state).collect();
        let spent = self.play.spent_of(&self.status, &self.planned.name).await;
        self.status.set(|shown| (shown.cells, shown.spent) = (cells, spent));
        keep_score(self.play, self.planned, &self.trajectory);
        self.play.events.tell(&Event::Attempt {
            at: clock::now(),
            episode: self.planned.name.clone(),
            turn: number,
            attempt: record.attempt,
            verdict: record.verdict,
            passed: record.passed,
            total: record.total,
            end_reason: record.end_reason,
            tokens: record.tokens,
            cost_usd: record.cost_usd,
            agent_seconds: record.agent_seconds,
            test_seconds: record.test_seconds,
            own_seconds: record.own_seconds.unwrap_or(0.0),
        });
        self.play.tell_spent(over).await;
        Ok(())
    }

    fn write(&mut self) -> Result<(), RunError> {
        disk::briefly(|| self.trajectory.write())
    }

    async fn over(
        &mut self,
        reason: EndReason,
        exception: Option<Exception>,
    ) -> Result<EpisodeEnd, RunError> {
        self.trajectory.end.finished_at = Some(clock::now());
        self.trajectory.end.end_reason = Some(reason);
        self.trajectory.end.exception = exception;
        self.write()?;
        self.status.rest();
        self.status.set(|shown| {
            shown.phase = Phase::Over;
            shown.end_reason = Some(reason);
            shown.now = None;
        });
        reopen::end(self.play, self.planned, &self.folders, &self.trajectory, (reason, false)).await?;
        Ok(EpisodeEnd::Over)
    }

    /// The run ends before the trial does: its trajectory says why, until a resume retries it.
    fn leave(&mut self) -> Result<EpisodeEnd, RunError> {
        self.status.rest();
        self.status.set(|shown| {
            shown.phase = Phase::Queued;
            shown.now = None;
        });
        if let Some(reason) = self.play.end_reason()
            && self.trajectory.current.is_some()
        {
            self.trajectory.end.end_reason = Some(reason);
            self.write()?;
            keep_score(self.play, self.planned, &self.trajectory);
        }
        Ok(EpisodeEnd::Unfinished)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_agent_has_to_answer_for_is_tried_again() {
        let outside = [
            EndReason::Endpoint,
            EndReason::Environment,
            EndReason::Budget,
            EndReason::Cancelled,
            EndReason::Unfinished,
        ];
        for reason in outside {
            assert!(!is_tried_again(reason), "{reason:?}");
        }
        for reason in [EndReason::TestsFailed, EndReason::AgentTimeout, EndReason::KilledItself] {
            assert!(is_tried_again(reason), "{reason:?}");
        }
    }
}
