//! `stamina run`, and what a resume shares with it: a run in this process, in the foreground. Its results folder holds its state, so
//! the desktop app shows it and another terminal can pause or stop it.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use model::counted;
use runner::{Event, Finish, OnEvent, RunError, live};
use workbench::Workbench;
use workbench::api::{ApiError, CheckState, Preflight, RunAction};
use workbench::runs::{self, EndpointCall, ResultsReader};
use workbench::sampler::{is_sampled, pack_beside};

use super::generate;
use super::preflight::{estimated, library, must_start, run_preflight, settings};
use crate::args::RunArgs;
use crate::event_writer::EventWriter;
use crate::print::{confirmed, note};
use crate::signals::{StopSignals, cancel_on_signal};

/// Exit code of a stopped run.
pub(crate) const STOPPED: u8 = 130;
/// What is asked where something is warned of.
const BEGIN: &str = "Begin nevertheless?";
/// How often a stop is looked for while a question waits for its answer.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// `stamina run`.
pub(crate) fn run(args: &RunArgs, db: Option<&Path>, yes: bool, as_json: bool) -> Result<ExitCode, ApiError> {
    let mut settings = settings(args)?;
    let library = library(db);
    // Set by a signal that comes before the run begins.
    let mut stopped_before = Arc::new(AtomicBool::new(false));
    let is_interactive = !as_json && !yes && std::io::stdin().is_terminal();
    let mut shown = BTreeSet::new();
    if is_sampled(&settings) {
        let pack = pack_beside(&settings.output_dir);
        // A run that cannot begin must not cost anything.
        if runner::is_taken(&settings.output_dir) {
            return Err(runs::run_error(RunError::FolderTaken { path: settings.output_dir }));
        }
        let found = run_preflight(library.as_ref(), &settings, EndpointCall::Missing)?;
        let is_warned = show_warnings(&found, &mut shown);
        must_start(&found)?;
        if is_warned && is_interactive && !confirmed(BEGIN) {
            return Ok(ExitCode::from(STOPPED));
        }
        note(&format!("a model samples the scenarios first, into {}", pack.display()));
        let cancel = cancel_on_signal();
        match generate::sampled(&args.configs, &args.values, &pack, &cancel) {
            // words: ok: error codes keep their spelling.
            Err(error) if error.code == "pack.cancelled" => {
                note(&error.message);
                return Ok(ExitCode::from(STOPPED));
            }
            sampled => sampled?,
        }
        settings.scenarios_dir = Some(pack);
        stopped_before = cancel;
    }
    let found = run_preflight(library.as_ref(), &settings, EndpointCall::Missing)?;
    let is_warned = show_warnings(&found, &mut shown);
    must_start(&found)?;
    if !as_json {
        if let Some(estimate) = &found.estimate {
            note(&estimated(estimate, &settings));
        }
        if is_warned && is_interactive && !agreed(&stopped_before) {
            return Ok(ExitCode::from(STOPPED));
        }
    }
    if stopped_before.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(STOPPED));
    }
    let folder = settings.output_dir.clone();
    run_to_end(&folder, library, as_json, async |on_event| runner::run(settings, on_event).await)
}

/// Prints what a preflight warns of, or fails for, that was not `shown` before. Returns whether there is a new warning.
fn show_warnings(found: &Preflight, shown: &mut BTreeSet<(String, String)>) -> bool {
    let mut is_warned = false;
    for check in &found.checks {
        let word = match check.state {
            CheckState::Warn => "warning",
            CheckState::Fail => "fails",
            CheckState::Ok | CheckState::Unknown => continue,
        };
        let sentence = check.sentence.clone().unwrap_or_default();
        // Values are measured, and differ from one look to the next.
        if shown.insert((check.id.clone(), sentence.clone())) {
            note(&format!("{word}: {}: {}. {sentence}", check.title, check.value));
            is_warned |= check.state == CheckState::Warn;
        }
    }
    is_warned
}

/// Asks whether to begin. After a model has sampled, this process handles signals itself, also while it waits for the
/// answer.
fn agreed(stop: &AtomicBool) -> bool {
    let (send, answer) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        // After a stop nothing receives the answer.
        let _ = send.send(confirmed(BEGIN));
    });
    answered(&answer, stop)
}

/// The answer. A stop counts as no.
fn answered(answer: &Receiver<bool>, stop: &AtomicBool) -> bool {
    loop {
        match answer.recv_timeout(STOP_CHECK_INTERVAL) {
            Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => {}
            answered => return answered.unwrap_or(false),
        }
    }
}

/// Runs until it finishes or is stopped, and reports its events.
pub(super) fn run_to_end<F>(
    folder: &Path,
    library: Option<Arc<Workbench>>,
    as_json: bool,
    begin: F,
) -> Result<ExitCode, ApiError>
where
    F: AsyncFnOnce(OnEvent) -> Result<Finish, RunError>,
{
    let begun = Arc::new(AtomicBool::new(false));
    let was_begun = Arc::clone(&begun);
    let results = library.clone().map(|library| Arc::new(ResultsReader::new(library, folder)));
    let writer = Arc::new(if as_json {
        let (begun, folder) = (Arc::clone(&begun), folder.to_owned());
        // Without its script the run would cost money that nobody uses; `resume` continues it.
        EventWriter::as_json(move || stop(&folder, &begun))
    } else {
        EventWriter::as_lines(folder)
    });
    let on_event: OnEvent = {
        let (writer, begun, folder) = (Arc::clone(&writer), Arc::clone(&begun), folder.to_owned());
        let results = results.clone();
        Arc::new(move |event: &Event| {
            if let Event::Started { record, .. } = event {
                begun.store(true, Ordering::Relaxed);
                if let Some(library) = &library {
                    if let Some(record) = record
                        && let Err(error) = library.remember_run(record)
                    {
                        tracing::warn!(%error, "the library does not remember that this run began here: a resume will ask");
                    }
                    if let Err(error) = library.adopt(&folder) {
                        tracing::info!(%error, "the run is not shown in the library yet");
                    }
                }
            }
            writer.write_event(event);
            // `runs`, `show` and `survival` in another terminal see what has ended.
            if let Some(results) = &results
                && matches!(event, Event::Started { .. } | Event::Attempt { .. } | Event::Episode { .. })
            {
                results.note_change();
            }
        })
    };
    let runtime = runs::runtime()?;
    let run_folder = folder.to_owned();
    // Signals are handled before anything begins that a signal has to stop.
    let signals = {
        let _inside = runtime.enter();
        StopSignals::new()
    };
    let stopper = runtime.spawn({
        let writer = Arc::clone(&writer);
        async move {
            let Ok(mut signals) = signals else { return };
            signals.next().await;
            stop(&run_folder, &begun);
            writer.write_line("stopping: what was finished is kept; a second signal exits at once");
            signals.next().await;
            std::process::exit(i32::from(STOPPED));
        }
    });
    let ticker = runtime.spawn({
        let writer = Arc::clone(&writer);
        async move {
            loop {
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                writer.redraw();
            }
        }
    });
    let finish = runtime.block_on(begin(on_event));
    ticker.abort();
    if let Some(results) = results.filter(|_| was_begun.load(Ordering::Relaxed))
        && let Err(error) = results.finish()
    {
        tracing::info!(%error, "the run is not shown in the library yet");
    }
    // Two signals end the process until the last line is written.
    let written = writer.finish();
    stopper.abort();
    let finish = finish.map_err(runs::run_error)?;
    written?;
    match &finish {
        Finish::Failed { message } => {
            return Err(ApiError::new("run.failed", message.clone())
                .with_path(folder.display().to_string())
                .hint(format!("Fix the cause, then continue with: {}", resume_command(folder))));
        }
        Finish::Finished if !as_json => {
            let left = resumable_episodes(folder);
            if left > 0 {
                note(&resumable_note(left, &resume_command(folder)));
            }
        }
        Finish::Stopped | Finish::Budget if !as_json => {
            note(&format!("continue with: {}", resume_command(folder)));
        }
        _ => {}
    }
    Ok(ExitCode::from(finish.code()))
}

/// What resumes the run in a folder, to copy.
fn resume_command(folder: &Path) -> String {
    format!("stamina resume {}", model::shell_word(&folder.display().to_string()))
}

/// What a finished run says of the episodes that a resume continues.
fn resumable_note(episodes: usize, command: &str) -> String {
    let (verb, pronoun) = if episodes == 1 { ("was", "it") } else { ("were", "them") };
    format!(
        "{} {verb} ended from outside (the endpoint, the containers, a budget), not by the agent; continue {pronoun} with: \
         {command}",
        counted(episodes as u64, "episode")
    )
}

/// The number of episodes of a finished run that a resume continues.
fn resumable_episodes(folder: &Path) -> usize {
    let ends = |run: live::LiveRun| run.episodes.into_iter().filter_map(|episode| episode.end_reason);
    live::read(folder).map_or(0, |run| ends(run).filter(|reason| live::is_resumable(*reason)).count())
}

/// Asks the run of this process to stop. A run that has not begun exits at once.
fn stop(folder: &Path, begun: &AtomicBool) {
    if !begun.load(Ordering::Relaxed) {
        std::process::exit(i32::from(STOPPED));
    }
    let requested = live::read(folder)
        .map_err(runs::run_error)
        .and_then(|run| runs::send_control_request(folder, &run, &RunAction::Stop));
    if let Err(error) = requested {
        crate::report(&error);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn what_resumes_a_run_can_be_copied() {
        assert_eq!(resume_command(Path::new("/results/run")), "stamina resume /results/run");
        for folder in ["/results/x y", "/results/$(id)", "/results/it's; id"] {
            let words = model::shell_words(&resume_command(Path::new(folder))).unwrap();
            assert_eq!(words, ["stamina", "resume", folder]);
        }
    }

    #[test]
    fn what_a_resume_continues_is_counted_in_words() {
        let end = "ended from outside (the endpoint, the containers, a budget), not by the agent; continue";
        assert_eq!(
            resumable_note(1, "stamina resume r"),
            format!("1 episode was {end} it with: stamina resume r")
        );
        assert_eq!(
            resumable_note(3, "stamina resume r"),
            format!("3 episodes were {end} them with: stamina resume r")
        );
    }

    #[test]
    fn a_question_without_an_answer_ends_at_a_stop() {
        let stop = Arc::new(AtomicBool::new(false));
        let (send, answer) = sync_channel(1);
        send.send(true).unwrap();
        assert!(answered(&answer, &stop));
        let set = Arc::clone(&stop);
        let stopping = std::thread::spawn(move || set.store(true, Ordering::Relaxed));
        assert!(!answered(&answer, &stop), "the sender exists and sends nothing");
        stopping.join().unwrap();
        drop(send);
    }
}
