//! How a trial ends, and what is recorded of that.

use model::EndReason;
use sandbox::SandboxError;

use super::trial::Trial;
use crate::blocking::blocking;
use crate::episode::EpisodeEnd;
use crate::live::Phase;
use crate::record::{Exception, exception};
use crate::reopen::{self, keep_score};
use crate::run_context::Ending;
use crate::{RunError, clock, kill_points};

/// How the steps ended.
pub(super) enum StepsEnd {
    /// The trial is over.
    Finished(EndReason, Option<Exception>),
    /// The run ended before the trial was over.
    Unfinished,
}

impl Trial<'_> {
    /// How a trial ends whose last step is decided.
    pub(super) fn chain_ended(&self) -> StepsEnd {
        let all = self.trajectory.stamina() == self.planned.turns;
        let last = self.trajectory.current.as_ref().and_then(|turn| turn.attempts.last());
        let last_reason = last.and_then(|last| last.end_reason).unwrap_or(EndReason::TestsFailed);
        StepsEnd::Finished(if all { EndReason::PassedAll } else { last_reason }, None)
    }

    /// How a trial ends whose engine failed: with the run, where the engine or the disk is gone, else by itself.
    pub(super) fn broken(&self, error: &SandboxError) -> StepsEnd {
        match error {
            SandboxError::Engine { is_gone: true, .. }
            | SandboxError::NoRoom { .. }
            | SandboxError::NoEngine { .. } => {
                self.context.end(Ending::Broken(error.to_string()));
                StepsEnd::Unfinished
            }
            _ if self.context.stop.is_cancelled() => StepsEnd::Unfinished,
            error => {
                let hint = error.hint().map(|hint| format!(". {hint}")).unwrap_or_default();
                let message = self.context.scrub.text(&format!("{error}{hint}"));
                StepsEnd::Finished(EndReason::Environment, Some(exception("EnvironmentError", &message)))
            }
        }
    }

    /// How a trial ends whose container could not be prepared for a step; `None` = it could. What the end of the run cuts off
    /// says nothing of the trial.
    pub(super) fn unless_prepared(
        &self,
        prepared: Result<Option<(EndReason, Exception)>, SandboxError>,
    ) -> Option<StepsEnd> {
        if self.context.stop.is_cancelled() {
            return Some(StepsEnd::Unfinished);
        }
        match prepared {
            Ok(None) => None,
            Ok(Some((reason, exception))) => Some(StepsEnd::Finished(reason, Some(exception))),
            Err(error) => Some(self.broken(&error)),
        }
    }

    /// It is not played: what is recorded of it stays as it is. One that a budget keeps from being continued is over.
    pub(super) async fn stay(&mut self, ended: StepsEnd) -> Result<EpisodeEnd, RunError> {
        self.status.stop_clocks();
        let is_over = self.trajectory.end.finished_at.is_some();
        match ended {
            StepsEnd::Finished(reason, exception) if !is_over => self.end_trial(reason, exception).await,
            StepsEnd::Finished(..) => {
                keep_score(self.context, self.planned, &self.trajectory);
                reopen::show_finished(&self.status, self.planned, &self.trajectory);
                let folders = self.folders.clone();
                blocking(move || {
                    reopen::close(&folders, false);
                    Ok(())
                })
                .await?;
                Ok(EpisodeEnd::Finished)
            }
            StepsEnd::Unfinished => {
                keep_score(self.context, self.planned, &self.trajectory);
                self.status.leave();
                Ok(EpisodeEnd::Unfinished)
            }
        }
    }

    /// Ends the trial.
    pub(super) async fn end_trial(
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
        self.status.stop_clocks();
        self.status.set(|shown| {
            shown.phase = Phase::Over;
            shown.end_reason = Some(reason);
            shown.now = None;
        });
        reopen::end(self.context, self.planned, &self.folders, &self.trajectory, (reason, false)).await?;
        Ok(EpisodeEnd::Finished)
    }

    /// The run ends before the trial does: its trajectory says why, until a resume retries it.
    pub(super) fn leave(&mut self) -> Result<EpisodeEnd, RunError> {
        self.status.leave();
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
