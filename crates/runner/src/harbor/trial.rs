//! A trial: one task from its first step to its last, in one container.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use files::Tree;
use gateway::{Scope, StopReason};
use model::{EndReason, Verdict};
use sandbox::{OpenTask, Owner, SandboxError, TaskContainer};
use tokio_util::sync::CancellationToken;

use super::file::{StepFile, TaskFile};
use super::kept::{self, Continuation, Record};
use super::player::{self, Player};
use super::recorded::first_line;
use super::reward;
use super::snapshot::{Before, Reopened, forget_snapshots};
use super::step::Played;
use super::task::{Task, Tasks};
use crate::agent::blocking;
use crate::agent_end::{budget_spent, exception};
use crate::episode::EpisodeEnd;
use crate::folders::Folders;
use crate::live::{Phase, is_resumable};
use crate::record::{
    AttemptRecord, End, EpisodeFolder, Exception, Resumed, ResumedFrom, TaskFiles, Trajectory, TurnRecord,
};
use crate::reopen::{self, keep_score};
use crate::run_context::{Ending, RunContext};
use crate::state::{Planned, SessionState};
use crate::status::Status;
use crate::{Event, RunError, clock, copy, disk, kill_points, outage, repeat};

/// How often a pause is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// Most resumes of a trial that its trajectory keeps, the latest ones.
const MOST_RESUMES: usize = 1000;

/// A trial that is played.
pub(super) struct Trial<'a> {
    pub(super) context: &'a RunContext,
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
    pub(super) known: SessionState,
    /// The feedback for the next attempt at the step, if the protocol has it.
    pub(super) feedback: Option<String>,
    /// Where commands run.
    pub(super) workdir: String,
    /// Whether a player has worked in the container: what goes wrong in it from then on may be its doing.
    pub(super) was_played: bool,
    /// Reference solutions that were executed for a later step and did not exit with 0, by step, with their codes.
    pub(super) references_failed: BTreeMap<String, i64>,
    /// Whether a verifier has run in the container.
    pub(super) was_verified: bool,
    /// Whether the container is what the snapshot of the step keeps: nothing was executed in it since.
    pub(super) is_as_kept: bool,
    /// Whether the next attempt begins in a container that a resume opened from a snapshot.
    pub(super) is_resumed: bool,
    /// How often the attempt that is played was retried because the endpoint had ended it.
    pub(super) repeats: u32,
    /// Ends the attempt in flight: with the run, or because a control request asks for a retry.
    pub(super) stop: CancellationToken,
}

/// How the steps ended.
enum Ended {
    Over(EndReason, Option<Exception>),
    Unfinished,
}

/// Where a trial begins in this part of its run.
#[derive(Default)]
struct Start {
    /// The steps before it are recorded.
    steps_before: usize,
    /// The first attempt at its first step, from 1.
    attempt: u32,
    /// The snapshot of that step, in a container of which the trial is open; `None` = it is opened anew.
    before: Option<Before>,
}

/// What came of a step.
enum AfterStep {
    /// The next one begins, from this snapshot if it was made already.
    Next(Option<Before>),
    Ended(Ended),
}

/// Whether a step that did not pass for this reason gets another attempt: not where something outside has ended it.
pub(super) fn is_tried_again(reason: EndReason) -> bool {
    !crate::live::is_resumable(reason)
}

/// That the container of a trial is asked for before it is opened.
pub(super) fn not_open() -> SandboxError {
    SandboxError::Engine {
        doing: "work in the container of a task",
        why: "it is not open".to_owned(),
        is_gone: false,
    }
}

/// Plays a trial. One that was cut off continues from the last snapshot of its container, or is retried from its first step.
pub(crate) async fn play(
    context: Arc<RunContext>,
    planned: Planned,
    tasks: Arc<Tasks>,
) -> Result<EpisodeEnd, RunError> {
    let opened = {
        let (context, planned) = (context.clone(), planned.clone());
        blocking(move || {
            let opened = reopen::look(&context, &planned)?;
            if let Some(opened) = &opened {
                opened.folders.make()?;
                if opened.is_over() {
                    reopen::fulfill(&context, &planned, &opened.status);
                }
            }
            Ok(opened)
        })
        .await?
    };
    let owner = Owner { run: context.id.clone(), episode: planned.name.clone() };
    let Some(opened) = opened else {
        // A kill between the end of the trial and this has left them.
        forget_snapshots(&context, &owner).await;
        return Ok(EpisodeEnd::Over);
    };
    let shared = tasks.clone();
    let of_run = |why: String| RunError::NotResumable { path: context.paths.results.clone(), why };
    let task = shared.task(&planned).ok_or_else(|| of_run(format!("{} is not there", planned.name)))?;
    let file = task.file().map_err(of_run)?;
    let player = player::find(&context.settings.agent).copied();
    let mut trial = Trial {
        owner,
        context: &context,
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
        known: SessionState::default(),
        feedback: None,
        workdir: "/".to_owned(),
        was_played: false,
        references_failed: BTreeMap::new(),
        was_verified: false,
        is_as_kept: false,
        is_resumed: false,
        repeats: 0,
        stop: context.stop.child_token(),
    };
    trial.name_trajectory();
    // What is recorded of it goes only where it is played.
    if player.is_none() && !outage::wait_for_endpoint(&context, &trial.status).await {
        return trial.stay(Ended::Unfinished).await;
    }
    if let Some(ended) = trial.held().await {
        return trial.stay(ended).await;
    }
    let ended = match Box::pin(trial.take_up()).await {
        Ok(Ok(start)) => {
            let title = trial.trajectory.head.title.clone().unwrap_or_else(|| task.name.clone());
            let cells =
                trial.trajectory.summaries().iter().take(start.steps_before).map(|turn| turn.state).collect();
            trial.status.set(|shown| (shown.title, shown.cells) = (Some(title), cells));
            trial.whole(start).await
        }
        Ok(Err(ended)) => Ok(ended),
        Err(error) => Err(error),
    };
    if let Some(container) = trial.container.take()
        && let Err(error) = container.close().await
    {
        tracing::warn!(%error, episode = planned.name, "the container of a task could not be removed");
    }
    trial.release().await;
    match ended? {
        Ended::Over(reason, exception) => {
            let end = trial.over(reason, exception).await?;
            // Once its end is written: a trial without either would be retried from its first step.
            if !is_resumable(reason) {
                forget_snapshots(&context, &trial.owner).await;
            }
            Ok(end)
        }
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
        let alone = self.context.settings.tasks.as_ref().filter(|tasks| tasks.plays_alone());
        head.protocol = alone.and_then(|tasks| tasks.protocol);
    }

    /// Where it continues: from the last snapshot of its container, where its steps have one, else from its first step. The inner
    /// error is how it ends where it does not continue.
    async fn take_up(&mut self) -> Result<Result<Start, Ended>, RunError> {
        let path = self.record_path();
        let record = blocking(move || Ok(Record::read(&path))).await?;
        let rules = self.rules();
        kept::take_back(&mut self.trajectory, record.as_ref());
        let progress = kept::progress(&self.trajectory, record.as_ref(), rules);
        let why = match kept::continuation(record, progress, rules) {
            Continuation::Over => return Ok(Err(self.chain_ended())),
            Continuation::FirstStep(why) => why,
            Continuation::Snapshot(kept, attempt) => {
                let (step, has_session) = (kept.step, kept.known.session.is_some());
                let reopened = self.reopen(kept).await;
                if self.context.stop.is_cancelled() {
                    return Ok(Err(Ended::Unfinished));
                }
                match reopened {
                    Ok(Some(Reopened::Open(before))) => {
                        return self.continue_from(before, (step, attempt), has_session).await.map(Ok);
                    }
                    Ok(Some(Reopened::Not((reason, exception)))) => {
                        return Ok(Err(Ended::Over(reason, Some(exception))));
                    }
                    Ok(None) => "its snapshot is not there any more, or was kept for another folder",
                    Err(error) => return Ok(Err(self.broken(&error))),
                }
            }
        };
        self.begin_anew(why).await?;
        Ok(Ok(Start { attempt: 1, ..Start::default() }))
    }

    /// Continues from a snapshot in which the container was opened.
    async fn continue_from(
        &mut self,
        before: Before,
        (step, attempt): (u32, u32),
        has_session: bool,
    ) -> Result<Start, RunError> {
        self.keep_record(&before, None).await?;
        self.is_resumed = true;
        let keeps_session = self.player.is_none().then_some(has_session).filter(|_| self.known.calls > 0);
        self.note_resume(ResumedFrom::Snapshot, step, None, keeps_session);
        kept::retry_from(&mut self.trajectory, step, attempt);
        keep_score(self.context, self.planned, &self.trajectory);
        tracing::info!(
            episode = self.planned.name,
            step,
            attempt,
            "the trial continues from its last snapshot"
        );
        Ok(Start { steps_before: step.saturating_sub(1) as usize, attempt, before: Some(before) })
    }

    /// Writes down that a resume continued it, if anything of it was recorded, and takes its end away.
    fn note_resume(
        &mut self,
        from: ResumedFrom,
        turn: u32,
        no_snapshot: Option<&str>,
        session_kept: Option<bool>,
    ) {
        let End { end_reason, mut resumes, .. } = std::mem::take(&mut self.trajectory.end);
        let recorded = self.trajectory.summaries();
        let last = recorded.last().map(|turn| (recorded.len() as u32, turn.attempts));
        let (after_turn, after_attempt) = last.unzip();
        if after_turn.is_some() || end_reason.is_some() || from == ResumedFrom::Snapshot {
            let skipped = (resumes.len() + 1).saturating_sub(MOST_RESUMES);
            resumes.drain(..skipped.min(resumes.len()));
            resumes.push(Resumed {
                at: clock::now(),
                after_turn,
                after_attempt,
                why: end_reason.map_or("killed", EndReason::as_str).to_owned(),
                from,
                turn,
                no_snapshot: no_snapshot.map(str::to_owned),
                session_kept,
            });
        }
        self.trajectory.end.resumes = resumes;
    }

    /// Takes away what is recorded of it, its snapshots included: it is played as a whole. Its trajectory says why.
    async fn begin_anew(&mut self, why: &str) -> Result<(), RunError> {
        self.note_resume(ResumedFrom::FirstStep, 1, Some(why), None);
        let resumes = std::mem::take(&mut self.trajectory.end.resumes);
        forget_snapshots(self.context, &self.owner).await;
        let (path, scrub) = (self.context.paths.episode(&self.planned.name), self.context.scrub.clone());
        self.results = blocking(move || {
            copy::remove(&path).map_err(|error| disk::at(&path, error))?;
            EpisodeFolder::new(path, scrub)
        })
        .await?;
        let (name, turns) = (&self.planned.name, self.planned.turns);
        self.trajectory =
            Trajectory::new(self.results.path(), name, turns, self.context.settings.attempt_limit);
        self.trajectory.end.resumes = resumes;
        self.name_trajectory();
        keep_score(self.context, self.planned, &self.trajectory);
        Ok(())
    }

    /// It is not played: what is recorded of it stays as it is. One that a budget keeps from being continued is over.
    async fn stay(&mut self, ended: Ended) -> Result<EpisodeEnd, RunError> {
        self.status.rest();
        let is_over = self.trajectory.end.finished_at.is_some();
        match ended {
            Ended::Over(reason, exception) if !is_over => self.over(reason, exception).await,
            Ended::Over(..) => {
                keep_score(self.context, self.planned, &self.trajectory);
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
                keep_score(self.context, self.planned, &self.trajectory);
                self.status.set(|shown| {
                    shown.phase = Phase::Queued;
                    shown.now = None;
                });
                Ok(EpisodeEnd::Unfinished)
            }
        }
    }

    async fn whole(&mut self, start: Start) -> Result<Ended, RunError> {
        let Start { steps_before, mut attempt, mut before } = start;
        if before.is_none() {
            match self.open().await {
                Ok(None) => {}
                Ok(Some(_)) if self.context.stop.is_cancelled() => return Ok(Ended::Unfinished),
                Ok(Some((reason, exception))) => return Ok(Ended::Over(reason, Some(exception))),
                Err(error) => return Ok(self.broken(&error)),
            }
        }
        let (file, turns) = (self.file, self.planned.turns as usize);
        for (step, number) in file.steps.iter().zip(1_u32..).take(turns).skip(steps_before) {
            if let Some(ended) = self.held().await {
                return Ok(ended);
            }
            match Box::pin(self.whole_step(step, number, attempt, before.take())).await? {
                AfterStep::Next(next) => (before, attempt) = (next, 1),
                AfterStep::Ended(ended) => return Ok(ended),
            }
        }
        Ok(self.chain_ended())
    }

    /// How a trial ends whose last step is decided.
    fn chain_ended(&self) -> Ended {
        let all = self.trajectory.stamina() == self.planned.turns;
        let last = self.trajectory.current.as_ref().and_then(|turn| turn.attempts.last());
        let of_last = last.and_then(|last| last.end_reason).unwrap_or(EndReason::TestsFailed);
        Ended::Over(if all { EndReason::PassedAll } else { of_last }, None)
    }

    /// Plays the attempts at a step that are left, from `first` on. `before` is its snapshot where it was made already.
    async fn whole_step(
        &mut self,
        step: &StepFile,
        number: u32,
        first: u32,
        before: Option<Before>,
    ) -> Result<AfterStep, RunError> {
        let ends = |ended| Ok(AfterStep::Ended(ended));
        let (mut started, mut started_at) = (Instant::now(), clock::now());
        self.begin(step, number).await?;
        let before = match before {
            Some(before) => Some(before),
            None => match self.keep(number).await {
                Ok(None) => None,
                Ok(Some(before)) => {
                    self.keep_record(&before, None).await?;
                    Some(before)
                }
                Err(error) => return ends(self.broken(&error)),
            },
        };
        let (limit, plays_alone) = (self.rules().attempts, self.plays_alone());
        let (mut attempt, mut is_begun, mut next) = (first, false, None);
        while attempt <= limit {
            if std::mem::replace(&mut is_begun, true) {
                if let Some(ended) = self.held().await {
                    return ends(ended);
                }
                (started, started_at) = (Instant::now(), clock::now());
            }
            self.attempt = attempt;
            self.calls = self.trajectory.summaries().iter().map(|turn| turn.attempts).sum::<u32>() + 1;
            self.status.set(|shown| shown.attempt = attempt);
            if let Some(before) = before.as_ref().filter(|_| !self.is_as_kept) {
                let restored = self.restore(before).await;
                if self.context.stop.is_cancelled() {
                    return ends(Ended::Unfinished);
                }
                match restored {
                    Ok(None) => {}
                    Ok(Some((reason, exception))) => return ends(Ended::Over(reason, Some(exception))),
                    Err(error) => return ends(self.broken(&error)),
                }
            }
            let played = Box::pin(self.step_unless_retried(step, before.is_some())).await;
            if self.context.stop.is_cancelled() {
                return ends(Ended::Unfinished);
            }
            if self.stop.is_cancelled() {
                // The attempt is retried from its snapshot. What it has spent stays spent.
                self.stop = self.context.stop.child_token();
                self.count_dropped().await;
                continue;
            }
            let played = match played {
                Ok(played) => played,
                Err(error) => return ends(self.broken(&error)),
            };
            if self.is_repeated(&played).await {
                continue;
            }
            let below = reward::below(&step.min_reward, played.rewards.as_ref());
            let is_over = played.is_over || played.raised.is_some() && played.rewards.is_none();
            let (verifier_output, is_broken) = (self.verifier_output(&played), played.is_over);
            let over = played.call.as_ref().and_then(|call| call.over.clone());
            let mut record = self.record(step, number, played, started, started_at.clone()).await?;
            (self.is_resumed, self.repeats) = (false, 0);
            let passed = record.verdict == Verdict::Passed;
            let reason = record.end_reason.unwrap_or(EndReason::TestsFailed);
            // Without a snapshot a broken container cannot be continued.
            let may_go_on = before.is_some() || !is_broken;
            let is_retried = !passed && attempt < limit && may_go_on && is_tried_again(reason);
            // What comes next does not rest on what this one left, whatever it came to, where steps are played by themselves.
            let stands_alone = plays_alone && (passed || is_tried_again(reason));
            let has_ended = is_over || below.is_some() || !passed && self.context.settings.fail_stop;
            let is_last = number == self.planned.turns;
            let ends_chain = !is_retried && !stands_alone && !is_last && has_ended;
            // What something outside has ended is retried by a resume.
            record.ends_chain = ends_chain && (passed || is_tried_again(reason));
            // The next step is kept before this attempt counts: whichever of both a kill leaves, it has its snapshot.
            let goes_on = !is_retried && !is_last && !plays_alone && !has_ended;
            let kept = match &before {
                Some(before) if goes_on => self.keep_next(before, number, attempt).await?,
                _ => Ok(None),
            };
            self.commit(number, record, over).await?;
            match kept {
                Ok(kept) => next = kept,
                Err(error) => return ends(self.broken(&error)),
            }
            if is_retried {
                self.keep_feedback(reason, verifier_output.as_deref());
                attempt += 1;
                continue;
            }
            if ends_chain {
                return ends(Ended::Over(reason, None));
            }
            break;
        }
        if let Some(before) = before.as_ref().filter(|_| plays_alone && number < self.planned.turns) {
            let advanced = self.advance(before, step).await;
            // What a stop cuts off says nothing of the step.
            if self.context.stop.is_cancelled() {
                return ends(Ended::Unfinished);
            }
            match advanced {
                Ok(None) => {}
                Ok(Some((reason, exception))) => return ends(Ended::Over(reason, Some(exception))),
                Err(error) => return ends(self.broken(&error)),
            }
        }
        Ok(AfterStep::Next(next))
    }

    /// Keeps the container for the step that follows, and records that. The inner error is one of the engine.
    async fn keep_next(
        &self,
        before: &Before,
        number: u32,
        attempt: u32,
    ) -> Result<Result<Option<Before>, SandboxError>, RunError> {
        let next = match self.keep(number + 1).await {
            Ok(next) => next,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(next) = &next {
            self.keep_record(before, Some((attempt, next))).await?;
        }
        Ok(Ok(next))
    }

    /// Runs an attempt. If it has a snapshot, a control request can ask for a retry from there, which cancels `stop`.
    async fn step_unless_retried(
        &mut self,
        step: &StepFile,
        has_snapshot: bool,
    ) -> Result<Played, SandboxError> {
        let (context, planned, status, stop) =
            (self.context, self.planned, self.status.clone(), self.stop.clone());
        if !has_snapshot {
            return self.step(step).await;
        }
        repeat::fulfill_control_requests(context, planned, &status);
        tokio::select! {
            played = self.step(step) => played,
            // The attempt ends by itself once it is stopped; this only stops it.
            never = repeat::retry_on_request(context, planned, &status, &stop) => match never {},
        }
    }

    /// Waits while the run is paused; says how the trial ends where it may not go on.
    async fn held(&mut self) -> Option<Ended> {
        let mut paused = false;
        loop {
            if self.context.stop.is_cancelled() {
                return Some(Ended::Unfinished);
            }
            if !self.context.control_requests.borrow().pause {
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
        match self.context.over(&self.status, &self.planned.name).await? {
            over @ StopReason::Budget { scope: Scope::Run, .. } => {
                self.context.end(Ending::Budget(over));
                Some(Ended::Unfinished)
            }
            over => {
                self.context.tell_spent(Some(over.clone())).await;
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
                self.context.end(Ending::Broken(error.to_string()));
                Ended::Unfinished
            }
            _ if self.context.stop.is_cancelled() => Ended::Unfinished,
            error => {
                let hint = error.hint().map(|hint| format!(". {hint}")).unwrap_or_default();
                let message = self.context.scrub.text(&format!("{error}{hint}"));
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
        // One that a resume continues is in the trajectory.
        if self.trajectory.current.as_ref().is_none_or(|current| current.turn != number) {
            self.trajectory.begin(record);
        }
        self.status.set(|shown| {
            (shown.turn, shown.attempt, shown.end_reason) = (number, 1, None);
        });
        self.context.events.tell(&Event::Turn {
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
        kill_points::point("step about to be recorded");
        self.write()?;
        kill_points::point("step recorded");
        let cells = self.trajectory.summaries().iter().map(|turn| turn.state).collect();
        let spent = self.context.spent_of(&self.status, &self.planned.name).await;
        self.status.set(|shown| (shown.cells, shown.spent) = (cells, spent));
        keep_score(self.context, self.planned, &self.trajectory);
        self.context.events.tell(&Event::Attempt {
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
        self.context.tell_spent(over).await;
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
        kill_points::point("trial about to end");
        self.write()?;
        kill_points::point("trial ended");
        self.status.rest();
        self.status.set(|shown| {
            shown.phase = Phase::Over;
            shown.end_reason = Some(reason);
            shown.now = None;
        });
        reopen::end(self.context, self.planned, &self.folders, &self.trajectory, (reason, false)).await?;
        Ok(EpisodeEnd::Over)
    }

    /// The run ends before the trial does: its trajectory says why, until a resume retries it.
    fn leave(&mut self) -> Result<EpisodeEnd, RunError> {
        self.status.rest();
        self.status.set(|shown| {
            shown.phase = Phase::Queued;
            shown.now = None;
        });
        if let Some(reason) = self.context.end_reason()
            && self.trajectory.current.is_some()
        {
            self.trajectory.end.end_reason = Some(reason);
            self.write()?;
            keep_score(self.context, self.planned, &self.trajectory);
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
