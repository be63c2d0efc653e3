//! What is recorded of a step: its files, its line in the trajectory, and its attempts.

use std::time::Instant;

use gateway::StopReason;
use model::{EndReason, Tokens, Verdict, case_lines};

use super::file::StepFile;
use super::reward;
use super::step_result::{StepResult, WithoutProcesses};
use super::task::Task;
use super::trial::Trial;
use crate::attempt_verdict::{SuiteOutcome, attempt_verdict};
use crate::blocking::blocking;
use crate::record::{
    AttemptOutput, AttemptRecord, Exception, OmittedFiles, ProcessesLeft, TaskFiles, TurnRecord, exception,
};
use crate::reopen::keep_score;
use crate::{Event, RunError, clock, disk, kill_points};

/// Longest title, in characters.
const TITLE: usize = 120;

impl Trial<'_> {
    /// The files of a step, and its line in the trajectory.
    pub(super) async fn begin(&mut self, step: &StepFile, number: u32) -> Result<(), RunError> {
        let (tasks, results) = (self.tasks.clone(), self.results.clone());
        let (index, step_file) = (self.planned.scenario as usize, step.clone());
        let (request, files) = blocking(move || {
            let task = tasks.list.get(index);
            let text = |path: Option<String>| {
                path.and_then(|path| tasks.tree.read_text(&path, 8 << 20).ok()).map(|(text, _)| text)
            };
            let request =
                task.and_then(|task| task.instruction(&tasks.tree, &step_file).ok()).unwrap_or_default();
            let script = |task: &Task| {
                let step_path = task.step_path(&tasks.tree, &step_file, "tests/test.sh");
                step_path.or_else(|| task.task_path(&tasks.tree, "tests/test.sh"))
            };
            let suite = text(task.and_then(script));
            let solution = task.and_then(|task| task.solution(&tasks.tree, &step_file));
            let reference = text(solution.map(|folder| files::join(&folder, "solve.sh")));
            let turn_files = TaskFiles {
                turn: number,
                request: &request,
                reference: reference.as_deref(),
                suite: suite.as_deref(),
            };
            let files = results.task_turn(&turn_files)?;
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
            turn_count: self.planned.turns,
        });
        Ok(())
    }

    /// Puts together what is recorded of a step, and writes its files.
    pub(super) async fn record(
        &self,
        step: &StepFile,
        number: u32,
        played: StepResult,
        started: Instant,
        started_at: String,
    ) -> Result<AttemptRecord, RunError> {
        let log = played.tests.as_deref().map(|output| case_lines::parse(&String::from_utf8_lossy(output)));
        let log = log.unwrap_or_default();
        let counts = case_counts(&log);
        let raised = played.raised.as_ref().map(|(reason, _)| *reason);
        let passed = played.rewards.as_ref().and_then(reward::passed);
        // Tests that print cases and printed none had nothing to test.
        let has_no_cases = passed == Some(false) && counts.is_none() && raised.is_none();
        let is_bare = has_no_cases && {
            let (tasks, planned) = (self.tasks.clone(), self.planned.clone());
            let look = move || Ok(tasks.task(&planned).is_some_and(|task| task.uses_cases(&tasks.tree)));
            blocking(look).await?
        };
        let outcome = match passed {
            Some(true) => SuiteOutcome::Passed,
            Some(false) if is_bare => SuiteOutcome::NoCases,
            Some(false) => SuiteOutcome::Failed,
            None => SuiteOutcome::NoResult,
        };
        let verdict = attempt_verdict(outcome, raised == Some(EndReason::Endpoint));
        let counts = if is_bare { Some((0, 0)) } else { counts };
        let end_reason = match passed {
            Some(true) => None,
            Some(false) if is_bare => Some(EndReason::BuildFailed),
            Some(false) => Some(raised.unwrap_or(EndReason::TestsFailed)),
            None => Some(raised.unwrap_or(EndReason::NoVerdict)),
        };
        let reward = played.rewards.as_ref().and_then(reward::decisive);
        let rewards = played.rewards.and_then(|rewards| reward::named_rewards(rewards, &played.kept_files));
        let results = self.results.clone();
        let prompt = match &played.call {
            Some(call) => call.prompt.clone(),
            None => self.task.instruction(self.tree(), step).unwrap_or_default(),
        };
        let (agent, tests, kept_files) = (played.agent, played.tests, played.kept_files);
        let (attempt, call) = (self.attempt, self.calls);
        let harness_call = played.call;
        let steps = harness_call.as_ref().map(|call| call.steps.clone()).unwrap_or_default();
        let tool_calls =
            (!steps.is_empty()).then(|| steps.iter().map(|step| step.tool_calls.len() as u32).sum());
        let files = blocking(move || {
            let output = tests.as_deref().map(String::from_utf8_lossy);
            let files = results.attempt(&AttemptOutput {
                turn: number,
                attempt,
                call,
                stdout: &agent.stdout,
                stderr: &agent.stderr,
                prompt: &prompt,
                steps: &steps,
                server_log: None,
                test_output: output.as_deref(),
            })?;
            for file in &kept_files {
                results.keep_step_file(number, attempt, &file.path, &file.content)?;
            }
            Ok(files)
        })
        .await?;
        let (agent_seconds, test_seconds) = (played.agent_seconds, played.test_seconds);
        let others = agent_seconds.unwrap_or(0.0) + test_seconds.unwrap_or(0.0);
        let without = played.without_processes;
        let exception = played
            .raised
            .map(|(_, raised)| raised)
            .or_else(|| without.as_ref().and_then(process_exception))
            .map(|raised| Exception { message: self.context.scrub.text(&raised.message), ..raised });
        let (processes_left, rewards_with_processes) = match without {
            None => (None, None),
            Some(WithoutProcesses::Same) => (Some(ProcessesLeft::SameVerdict), None),
            // The verifier may have come to none in the container.
            Some(WithoutProcesses::Other(other_rewards)) => {
                (Some(ProcessesLeft::OtherVerdict), Some(other_rewards).filter(|rewards| !rewards.is_empty()))
            }
            Some(WithoutProcesses::Unconfirmed(_)) => (Some(ProcessesLeft::Unconfirmed), None),
        };
        let count = played.left_out.len() as u64;
        let left_out = OmittedFiles::new(played.left_out, count);
        Ok(AttemptRecord {
            attempt,
            verdict,
            success: verdict == Verdict::Passed,
            passed: counts.map(|(passed, _)| passed),
            total: counts.map(|(_, total)| total),
            outcomes: None,
            end_reason,
            tokens: harness_call.as_ref().map_or_else(Tokens::default, |call| call.cost.tokens),
            cost_usd: harness_call.as_ref().and_then(|call| call.cost.cost_usd),
            tool_calls,
            started_at,
            finished_at: clock::now(),
            agent_seconds,
            test_seconds,
            exception,
            files,
            own_seconds: Some((started.elapsed().as_secs_f64() - others).max(0.0)),
            model_requests: harness_call.as_ref().and_then(|call| call.model_requests),
            agent_end: harness_call
                .as_ref()
                .and_then(|call| call.end)
                .or(raised.filter(|reason| *reason == EndReason::AgentTimeout)),
            harness_tokens: harness_call.as_ref().map(|call| call.usage).filter(|usage| !usage.is_unknown()),
            repeats: self.repeats.count,
            session_restarted: harness_call.as_ref().is_some_and(|call| call.restarts),
            resumed: self.is_resumed,
            reward,
            rewards,
            left_out: Some(left_out.names),
            left_out_more: left_out.more,
            ends_chain: false,
            references_failed: self.references_failed.clone(),
            processes_left,
            rewards_with_processes,
        })
    }

    /// The step counts once the trajectory names it.
    pub(super) async fn commit(
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
        let own_seconds = record.own_seconds.unwrap_or(0.0);
        self.context.tell_attempt(&self.planned.name, number, &record, own_seconds);
        self.context.tell_spent(over).await;
        Ok(())
    }

    /// Writes the trajectory.
    pub(super) fn write(&mut self) -> Result<(), RunError> {
        disk::block_briefly(|| self.trajectory.write())
    }
}

/// Passed cases and all of them, in the output of a verifier.
pub(super) fn case_counts(log: &case_lines::CaseLog) -> Option<(u32, u32)> {
    match log.summary {
        Some(summary) => Some((summary.passed, summary.total)),
        None => (!log.is_empty()).then_some((log.passed, log.total)),
    }
}

/// What an attempt says of a verdict that depends on processes that the agent has left.
fn process_exception(processes: &WithoutProcesses) -> Option<Exception> {
    let message = match processes {
        WithoutProcesses::Same => return None,
        WithoutProcesses::Other(_) => {
            "the agent has left processes, and with them the verifier came to other results than without them. The \
             results of a container of the same files count, where the processes cannot write the verdict. harbor.background=keep \
             counts what they write"
                .to_owned()
        }
        WithoutProcesses::Unconfirmed(reason) => format!(
            "the agent has left processes. No second verification could be carried out where they cannot write its verdict; \
             the verdict is that with them: {reason}"
        ),
    };
    Some(exception("ProcessesLeft", &message))
}

/// The first line of an instruction that says something, without the marks of a heading.
fn first_line(request: &str) -> Option<String> {
    let line = request
        .lines()
        .map(|line| line.trim().trim_start_matches('#').trim())
        .find(|line| !line.is_empty())?;
    Some(model::one_line(line, TITLE))
}
