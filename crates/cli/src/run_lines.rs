//! What a run in the foreground shows to people: plain lines or, in a terminal, one line per episode that is redrawn.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use model::{TurnState, bounded, counted, dollars, plain_line};
use runner::{Event, Finish};
use unicode_width::UnicodeWidthChar;
use workbench::api::{LiveEpisode, LivePhase, LiveRunDetail};
use workbench::runs::{self, duration, endpoint_attempts, short};

use crate::print::note;

/// Most episodes that are drawn; the rest is counted.
const MOST_LINES: usize = 30;
/// Width of a terminal that does not report its own.
const DEFAULT_COLUMNS: usize = 80;

/// Shows the events of a run, and its running episodes.
pub(crate) struct RunLines {
    folder: PathBuf,
    /// Whether episodes have lines that are redrawn.
    draws: bool,
    /// Number of lines that are drawn at the end of the terminal.
    drawn: usize,
    /// Whether the simulated model answers, which costs nothing.
    simulated: bool,
}

impl RunLines {
    pub(crate) fn new(folder: &Path) -> Self {
        let plain =
            std::env::var_os("NO_COLOR").is_some() || std::env::var_os("TERM").is_none_or(|t| t == "dumb");
        let draws = !plain && std::io::stderr().is_terminal();
        Self { folder: folder.to_owned(), draws, drawn: 0, simulated: false }
    }

    /// Shows an event of the run.
    pub(crate) fn show_event(&mut self, event: &Event) {
        if let Event::Started { simulated, .. } = event {
            self.simulated = *simulated;
        }
        let Some(line) = line(event, self.simulated) else { return };
        // The drawn lines show turns and attempts.
        if self.draws && matches!(event, Event::Turn { .. } | Event::Attempt { .. }) {
            return;
        }
        self.show_line(&line);
    }

    /// Shows a line that stays.
    pub(crate) fn show_line(&mut self, line: &str) {
        self.clear();
        note(line);
    }

    /// Draws the lines of running episodes anew.
    pub(crate) fn redraw(&mut self) {
        if !self.draws {
            return;
        }
        let Ok(run) = runs::read_run_detail(&self.folder) else { return };
        self.clear();
        let lines = lines(&run, columns());
        self.drawn = lines.len();
        drop(std::io::stderr().write_all(format!("{}\n", lines.join("\n")).as_bytes()));
    }

    /// Removes the drawn lines and draws no further ones.
    pub(crate) fn finish(&mut self) {
        self.clear();
        self.draws = false;
    }

    fn clear(&mut self) {
        if self.drawn > 0 {
            drop(write!(std::io::stderr(), "\u{1b}[{}A\u{1b}[J", self.drawn));
            self.drawn = 0;
        }
    }
}

fn columns() -> usize {
    rustix::termios::tcgetwinsize(std::io::stderr())
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns > 0)
        .unwrap_or(DEFAULT_COLUMNS)
}

/// The line of an event; `None` for events without one.
fn line(event: &Event, simulated: bool) -> Option<String> {
    let usd = |cost: Option<f64>| cost_of(cost, simulated).unwrap_or_else(dollars);
    match event {
        Event::Started { output_dir, agent, model, simulated, episodes, turns, resumed, .. } => {
            let verb = if *resumed { "resumed" } else { "started" };
            let model = model.as_deref().unwrap_or("model unknown");
            let simulated = if *simulated { ", simulated" } else { "" };
            Some(format!(
                "{verb}: {agent} · {model}{simulated}: {} × {} in {output_dir}",
                counted(u64::from(*episodes), "episode"),
                counted(u64::from(*turns), "turn")
            ))
        }
        Event::Turn { episode, turn, turn_count, .. } => {
            Some(format!("{episode}: turn {turn} of {turn_count}"))
        }
        Event::Attempt {
            episode,
            turn,
            attempt,
            verdict,
            passed,
            total,
            end_reason,
            cost_usd,
            agent_seconds,
            ..
        } => {
            let tests = match (passed, total) {
                (Some(passed), Some(total)) => format!(", {passed} of {}", counted((*total).into(), "test")),
                _ => String::new(),
            };
            let ending = end_reason.map_or_else(String::new, |reason| format!(" ({})", reason.label()));
            Some(format!(
                "{episode}: turn {turn}, attempt {attempt}: {}{ending}{tests}, {}, {}",
                verdict.as_str(),
                agent_seconds.map_or_else(|| "time unknown".to_owned(), duration),
                usd(*cost_usd)
            ))
        }
        Event::Episode { episode, stamina, turns, end_reason, .. } => {
            let turns = counted(u64::from(*turns), "turn");
            Some(format!("{episode}: over after {turns}: {}, stamina {stamina}", end_reason.label()))
        }
        Event::Budget { over: None, .. } => None,
        Event::Budget { over: Some(reason), .. } => Some(match reason {
            gateway::StopReason::Budget { scope, limit } => {
                let scope = match scope {
                    gateway::Scope::Attempt => "an attempt",
                    gateway::Scope::Episode => "an episode",
                    gateway::Scope::Run => "the run",
                };
                format!("budget of {scope} is spent: {limit}")
            }
            gateway::StopReason::Endpoint { message } => format!("endpoint: {message}"),
            gateway::StopReason::ContextOverflow { message } => format!("context: {message}"),
        }),
        Event::Finished { how: finish, episodes, average_score, spent, endpoint, .. } => {
            let score = average_score.map_or_else(
                || "unknown".to_owned(),
                |score| format!("{} %", bounded(score * 100.0, 100.0, 1)),
            );
            let cost =
                cost_of(spent.cost_usd, simulated).unwrap_or_else(|usd| format!("cost {}", dollars(usd)));
            let episodes = counted(u64::from(*episodes), "episode");
            let at_endpoint = endpoint
                .and_then(|attempts| endpoint_attempts(attempts.retried, attempts.lost))
                .map_or_else(String::new, |words| format!("; {words}"));
            Some(format!(
                "{}: {episodes} over, average score {score}, {cost}{at_endpoint}",
                finish_text(finish)
            ))
        }
    }
}

/// A cost as text where it is no number: the simulated model has none, that of a real one may be unknown.
pub(crate) fn cost_of(usd: Option<f64>, simulated: bool) -> Result<String, f64> {
    match usd {
        _ if simulated => Ok("no cost (simulated)".to_owned()),
        None => Ok("cost unknown".to_owned()),
        Some(usd) => Err(usd),
    }
}

/// How a run ended, as text.
fn finish_text(finish: &Finish) -> String {
    match finish {
        Finish::Finished => "finished".to_owned(),
        Finish::Stopped => "stopped".to_owned(),
        Finish::Budget => "stopped: the budget is spent".to_owned(),
        Finish::Failed { message } => format!("failed: {message}"),
    }
}

pub(crate) fn phase(episode: &LiveEpisode) -> &'static str {
    if episode.stuck.is_some() {
        return "stuck?";
    }
    match episode.phase {
        LivePhase::Queued => "queued",
        LivePhase::Preparing => "preparing",
        LivePhase::Agent => "agent",
        LivePhase::Waiting => "waiting",
        LivePhase::Testing => "testing",
        LivePhase::Paused => "paused",
        LivePhase::Over => "over",
        LivePhase::Unknown => "unknown",
    }
}

/// One letter per turn, as in `stamina show`.
pub(crate) fn cells(states: &[TurnState]) -> String {
    states.iter().map(|state| state.letter()).collect()
}

/// Tokens as text.
pub(crate) fn tokens_of(tokens: &model::Tokens) -> String {
    match (tokens.input, tokens.output) {
        (Some(input), Some(output)) => format!("{} in, {} out", short(input as f64), short(output as f64)),
        _ => "tokens unknown".to_owned(),
    }
}

/// One line for each running episode, and one for the run.
fn lines(run: &LiveRunDetail, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let playing: Vec<&LiveEpisode> =
        run.episodes.iter().filter(|e| !matches!(e.phase, LivePhase::Queued | LivePhase::Over)).collect();
    for episode in playing.iter().take(MOST_LINES) {
        let eta = episode.eta_seconds.map_or_else(String::new, |s| format!("  {} left", duration(s)));
        let now = episode.now.as_deref().unwrap_or_default();
        // Only the last turns fit.
        let all = cells(&episode.cells);
        let last: String = all.chars().skip(all.chars().count().saturating_sub(20)).collect();
        let text = format!(
            "{:<12} {:<9} turn {:>3} / {}  attempt {:<2} {last:<20} {}{eta}  {now}",
            episode.name,
            phase(episode),
            episode.turn,
            episode.turns,
            episode.attempt,
            duration(episode.seconds),
        );
        lines.push(fitted(&text, columns));
    }
    if playing.len() > MOST_LINES {
        lines.push(format!("… and {} more", playing.len() - MOST_LINES));
    }
    let row = &run.row;
    let cost = cost_of(row.cost_usd, row.simulated).unwrap_or_else(dollars);
    let text = format!(
        "{} of {} over, {} decided, {}, {}, {cost}",
        row.episodes.0,
        counted(row.episodes.1.into(), "episode"),
        counted(row.turns.0.into(), "turn"),
        duration(row.seconds),
        tokens_of(&row.tokens)
    );
    lines.push(fitted(&text, columns));
    lines
}

/// Cuts a line to the width of the terminal, because a wrapped line cannot be redrawn. Replaces control characters.
fn fitted(text: &str, columns: usize) -> String {
    let mut width = 0;
    plain_line(text)
        .chars()
        .take_while(|c| {
            width += c.width().unwrap_or(0);
            width < columns
        })
        .collect::<String>()
        .trim_end()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_the_terminal_and_hold_no_control_characters() {
        assert_eq!(fitted("abcdef", 4), "abc");
        assert_eq!(fitted("漢字漢字", 6), "漢字");
        assert_eq!(fitted("a\u{1b}[2Jb", 80), "a\u{fffd}[2Jb");
    }

    #[test]
    fn an_attempt_is_a_line_of_words() {
        let mut event = Event::Attempt {
            at: String::new(),
            episode: "scenario_3".to_owned(),
            turn: 17,
            attempt: 2,
            verdict: model::Verdict::Failed,
            passed: Some(34),
            total: Some(47),
            end_reason: Some(model::EndReason::TestsFailed),
            tokens: model::Tokens::default(),
            cost_usd: None,
            agent_seconds: Some(242.0),
            test_seconds: None,
            own_seconds: 0.1,
        };
        let start = "scenario_3: turn 17, attempt 2: failed (tests failed), 34 of 47 tests, 4 m 02 s";
        assert_eq!(line(&event, false).unwrap(), format!("{start}, cost unknown"));
        assert_eq!(line(&event, true).unwrap(), format!("{start}, no cost (simulated)"));
        let Event::Attempt { passed, total, .. } = &mut event else { unreachable!() };
        (*passed, *total) = (Some(0), Some(1));
        assert!(line(&event, true).unwrap().contains(", 0 of 1 test, "), "{:?}", line(&event, true));
    }

    #[test]
    fn the_last_line_says_how_a_run_ended_and_what_it_cost() {
        let at_endpoint = |retried, lost| Some(runner::EndpointAttempts { retried, lost });
        let failed = || Finish::Failed { message: "the disk is full".to_owned() };
        for (finish, episodes, average_score, cost_usd, simulated, endpoint, expected) in [
            (
                Finish::Finished,
                3,
                Some(0.625),
                Some(4.5),
                false,
                at_endpoint(0, 0),
                "finished: 3 episodes over, average score 62.5 %, cost $4.50",
            ),
            // Nothing was scored and no price is known; an older version counted nothing of the endpoint.
            (
                Finish::Stopped,
                0,
                None,
                None,
                false,
                None,
                "stopped: 0 episodes over, average score unknown, cost unknown",
            ),
            (
                Finish::Budget,
                1,
                Some(0.99999),
                Some(0.0),
                false,
                at_endpoint(2, 1),
                "stopped: the budget is spent: 1 episode over, average score > 99.9 %, cost $0.00; 2 attempts retried for the \
                 endpoint, 1 attempt lost to it",
            ),
            // What a simulated model would have cost is no cost.
            (
                failed(),
                2,
                Some(1.0),
                Some(7.0),
                true,
                at_endpoint(0, 3),
                "failed: the disk is full: 2 episodes over, average score 100.0 %, no cost (simulated); 3 attempts lost to the \
                 endpoint",
            ),
        ] {
            let spent = gateway::Spent { cost_usd, ..gateway::Spent::default() };
            let at = String::new();
            let event = Event::Finished { at, how: finish, episodes, average_score, spent, endpoint };
            assert_eq!(line(&event, simulated).unwrap(), expected);
        }
    }
}
