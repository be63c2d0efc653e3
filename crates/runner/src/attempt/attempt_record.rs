//! The record of an attempt, and the feedback on it.

use model::{EndReason, Verdict};
use validation::client::CaseStatus;

use super::{Attempt, FinishedAttempt, Prompt, TestResult, UntestedAttempt};
use crate::agent::AgentCall;
use crate::agent_end::AgentEnd;
use crate::attempt_verdict::{SuiteOutcome, attempt_verdict};
use crate::blocking::blocking;
use crate::prompt::{self, AttemptOutcome};
use crate::record::{AttemptFiles, AttemptOutput, AttemptRecord, Exception, exception, pytest};
use crate::secrets::SecretFilter;
use crate::state::SessionState;
use crate::{RunError, clock};

/// Bytes of a server's log that feedback uses.
const LOG_BYTES: usize = 16 << 10;

impl Attempt<'_> {
    /// Assembles and writes the record. `cut_off`: the run's budget, or something else outside, ended it before a verdict. It
    /// is shown with its cost and files, and a resume retries it.
    pub(super) async fn record(
        &self,
        untested: UntestedAttempt,
        tested: TestResult,
        end: AgentEnd,
        cut_off: bool,
    ) -> Result<FinishedAttempt, RunError> {
        let UntestedAttempt { started, started_at, called, prompt, cost, spent_budget, code } = untested;
        let tests = match &tested.verdicts {
            Some(_) if tested.has_passed() => SuiteOutcome::Passed,
            Some(_) => SuiteOutcome::Failed,
            None => SuiteOutcome::NoResult,
        };
        let verdict = attempt_verdict(tests, cut_off);
        let passed = verdict == Verdict::Passed;
        let end_reason = if passed { None } else { end.reason.or(tested.reason) };
        let server_exception =
            tested.server_problem.as_deref().map(|problem| exception("ServerError", problem));
        let exception = end
            .exception
            .or(server_exception)
            .map(|exception| Exception { message: self.context.scrub.text(&exception.message), ..exception });
        let feedback =
            (!passed && !cut_off).then(|| self.context.scrub.text(&self.feedback(&tested, end.reason)));
        let mut after = SessionState {
            session: self.known.session.clone(),
            session_before: self.known.session_before.clone(),
            calls: self.known.calls.saturating_add(1),
            feedback,
            worked: self.known.worked || called.outcome.end != Some(EndReason::Environment),
            seconds: self.status.seconds(),
            spent: self.context.spent_of(self.status, &self.owner.episode).await,
        };
        if let Some(session) = called.outcome.session.clone()
            && !called.end.exit.disk_full
        {
            after.session = scrub_session(session, &self.context.scrub);
        }
        let turn = self.data.turn;
        let outcomes = tested
            .verdicts
            .as_ref()
            .map(|v| v.cases.iter().map(|case| pytest::letter(case.status)).collect());
        let (tests_passed, total) = tested.verdicts.as_ref().map_or((None, None), |v| {
            let passed = v.cases.iter().filter(|case| case.status == CaseStatus::Passed).count();
            (Some(passed as u32), Some(v.total as u32))
        });
        let agent_seconds = called.end.seconds;
        let steps = &called.outcome.steps;
        let tool_calls =
            (!steps.is_empty()).then(|| steps.iter().map(|step| step.tool_calls.len() as u32).sum());
        let model_requests = called
            .summary
            .as_ref()
            .map(|recorded| u32::try_from(recorded.spent.requests).unwrap_or(u32::MAX));
        let harness_tokens = Some(called.outcome.usage).filter(|tokens| !tokens.is_unknown());

        let Prompt { text: prompt, restarts } = prompt;
        let (code, left_out) =
            code.map_or((None, None), |snapshot| (Some(snapshot.folder), Some(snapshot.left_out)));
        let (left_out, left_out_more) = left_out.map_or((None, 0), |left| (Some(left.names), left.more));
        let files = self.write_files(called, &tested, prompt, code).await?;
        let total_seconds = started.elapsed().as_secs_f64();
        let own_seconds = (total_seconds - agent_seconds - tested.seconds.unwrap_or(0.0)).max(0.0);
        let record = AttemptRecord {
            attempt: self.number,
            verdict,
            success: passed,
            passed: tests_passed,
            total,
            outcomes,
            end_reason,
            tokens: cost.tokens,
            cost_usd: cost.cost_usd,
            tool_calls,
            started_at,
            finished_at: clock::now(),
            agent_seconds: Some(agent_seconds),
            test_seconds: tested.seconds,
            exception,
            files,
            own_seconds: Some(own_seconds),
            model_requests,
            agent_end: end.reason,
            harness_tokens,
            repeats: self.repeats.count,
            session_restarted: restarts,
            left_out,
            left_out_more,
            ..AttemptRecord::default()
        };
        tracing::debug!(turn, attempt = self.number, ?verdict, own_seconds, "an attempt ended");
        Ok(FinishedAttempt { record, after, spent_budget, own_seconds })
    }

    fn feedback(&self, tested: &TestResult, reason: Option<EndReason>) -> String {
        let kind = self.context.settings.feedback;
        if let Some(verdicts) = &tested.verdicts {
            return prompt::feedback(kind, &AttemptOutcome::Tests(verdicts));
        }
        match (reason, &tested.server_problem) {
            (Some(reason), None) => prompt::feedback(kind, &AttemptOutcome::Ended(reason)),
            (
                Some(
                    EndReason::AgentTimeout
                    | EndReason::AttemptBudget
                    | EndReason::ContextOverflow
                    | EndReason::KilledItself,
                ),
                _,
            ) if tested.log.is_none() => {
                prompt::feedback(kind, &AttemptOutcome::Ended(reason.unwrap_or(EndReason::AgentError)))
            }
            (_, problem) => {
                let log = tested.log.as_deref().unwrap_or_default();
                let log = String::from_utf8_lossy(&log[log.len().saturating_sub(LOG_BYTES)..]).into_owned();
                let problem = problem.as_deref().unwrap_or_default();
                prompt::feedback(kind, &AttemptOutcome::NoServer { problem, log: &log })
            }
        }
    }

    async fn write_files(
        &self,
        called: AgentCall,
        tested: &TestResult,
        prompt: String,
        code: Option<String>,
    ) -> Result<AttemptFiles, RunError> {
        let (turn, attempt) = (self.data.turn, self.number);
        let test_output = tested.verdicts.as_ref().map(|v| pytest::write(turn, &v.cases, v.seconds));
        let server_log = tested.log.clone();
        let (results, call) = (self.results.clone(), self.known.calls.saturating_add(1));
        let files = blocking(move || {
            let (stdout, stderr, steps) = (called.end.stdout, called.end.stderr, called.outcome.steps);
            let left = AttemptOutput {
                turn,
                attempt,
                call,
                stdout: &stdout,
                stderr: &stderr,
                prompt: &prompt,
                steps: &steps,
                server_log: server_log.as_deref(),
                test_output: test_output.as_deref(),
            };
            results.attempt(&left)
        });
        let mut files = files.await?;
        files.code = code;
        Ok(files)
    }
}

/// The session to keep. Its id comes from the agent: if it contains a secret value it is not kept, and the next call begins a
/// new session.
fn scrub_session(session: harness::Session, scrub: &SecretFilter) -> Option<harness::Session> {
    let is_clean = session.id.as_ref().is_none_or(|id| scrub.text(id) == *id);
    is_clean.then_some(session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_with_a_secret_value_is_not_kept() {
        let values = ["agent=MOCK", "output_dir=x"].map(str::to_owned);
        let settings = crate::settings::resolve(&[], &values).unwrap();
        let scrub = SecretFilter::new(&[("HF_TOKEN".to_owned(), "hf-12345678".to_owned())], &settings);
        let session = |id: &str| harness::Session { id: Some(id.to_owned()), ..harness::Session::default() };
        assert_eq!(scrub_session(session("ses_1"), &scrub), Some(session("ses_1")));
        assert_eq!(scrub_session(session("ses_hf-12345678"), &scrub), None);
    }
}
