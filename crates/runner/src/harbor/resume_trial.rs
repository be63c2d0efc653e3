//! How a trial that was cut off is taken up: from the last snapshot of its container, or from its first step.

use model::EndReason;

use super::end::StepsEnd;
use super::snapshot::{ReopenedTrial, StateBeforeStep, forget_snapshots};
use super::snapshot_record::{self, Continuation, Record};
use super::trial::Trial;
use crate::blocking::blocking;
use crate::dropped_attempt::Repeats;
use crate::record::{End, EpisodeFolder, ResumePoint, ResumedFrom, Trajectory};
use crate::reopen::keep_score;
use crate::{RunError, clock, copy, disk};

/// Most resumes of a trial that its trajectory keeps, the latest ones.
const MOST_RESUMES: usize = 1000;

/// Where a trial begins in this part of its run.
#[derive(Default)]
pub(super) struct Start {
    /// The steps before it are recorded.
    pub(super) steps_before: usize,
    /// The first attempt at its first step, from 1.
    pub(super) attempt: u32,
    /// The snapshot of that step, in a container of which the trial is open; `None` = it is opened anew.
    pub(super) before: Option<StateBeforeStep>,
}

impl Trial<'_> {
    /// The head of its trajectory says which task it is.
    pub(super) fn name_trajectory(&mut self) {
        let head = &mut self.trajectory.head;
        head.task = Some(self.task.name.clone());
        head.title.clone_from(&self.file.title);
        let alone = self.context.settings.tasks.as_ref().filter(|tasks| tasks.plays_alone());
        head.protocol = alone.and_then(|tasks| tasks.protocol);
    }

    /// Where it continues: from the last snapshot of its container, where its steps have one, else from its first step. The inner
    /// error is how it ends where it does not continue.
    pub(super) async fn take_up(&mut self) -> Result<Result<Start, StepsEnd>, RunError> {
        let path = self.record_path();
        let record = blocking(move || Ok(Record::read(&path))).await?;
        let rules = self.rules();
        snapshot_record::take_back(&mut self.trajectory, record.as_ref());
        let progress = snapshot_record::progress(&self.trajectory, record.as_ref(), rules);
        let reason = match snapshot_record::continuation(record, progress, rules) {
            Continuation::ChainEnded => return Ok(Err(self.chain_ended())),
            Continuation::FirstStep(reason) => reason,
            Continuation::Snapshot(kept_trial, attempt) => {
                let (step, has_session) = (kept_trial.step, kept_trial.known.session.is_some());
                let reopened = self.reopen(kept_trial).await;
                if self.context.stop.is_cancelled() {
                    return Ok(Err(StepsEnd::Unfinished));
                }
                match reopened {
                    Ok(Some(ReopenedTrial::Open(before))) => {
                        return self.continue_from(before, (step, attempt), has_session).await.map(Ok);
                    }
                    Ok(Some(ReopenedTrial::Not((reason, exception)))) => {
                        return Ok(Err(StepsEnd::Finished(reason, Some(exception))));
                    }
                    Ok(None) => "its snapshot is not there any more, or was kept for another folder",
                    Err(error) => return Ok(Err(self.broken(&error))),
                }
            }
        };
        self.begin_anew(reason).await?;
        Ok(Ok(Start { attempt: 1, ..Start::default() }))
    }

    /// Continues from a snapshot in which the container was opened.
    async fn continue_from(
        &mut self,
        before: StateBeforeStep,
        (step, attempt): (u32, u32),
        has_session: bool,
    ) -> Result<Start, RunError> {
        self.keep_record(&before, None).await?;
        self.is_resumed = true;
        let keeps_session = self.player.is_none().then_some(has_session).filter(|_| self.known.calls > 0);
        self.note_resume(ResumedFrom::Snapshot, step, None, keeps_session);
        snapshot_record::retry_from(&mut self.trajectory, step, attempt);
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
            resumes.push(ResumePoint {
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
    async fn begin_anew(&mut self, reason: &str) -> Result<(), RunError> {
        if !self.trajectory.summaries().is_empty() {
            // All its attempts are new ones. Where none was recorded, the first goes on.
            self.status.set_repeats(Repeats::default());
        }
        self.note_resume(ResumedFrom::FirstStep, 1, Some(reason), None);
        let resumes = std::mem::take(&mut self.trajectory.end.resumes);
        forget_snapshots(self.context, &self.owner).await;
        let (path, scrub) = (self.context.paths.episode(&self.planned.name), self.context.scrub.clone());
        self.results = blocking(move || {
            copy::remove(&path).map_err(|error| disk::error_at(&path, error))?;
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
}
