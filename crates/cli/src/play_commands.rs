//! `stamina run` and `stamina resume`: a run is played in this process, in the foreground. What it is doing stands in its
//! results folder, so that the desktop app shows it, and another terminal can pause or stop it.

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use runner::live;
use runner::{Event, Finish, OnEvent, RunError};
use serde_json::json;
use workbench::Workbench;
use workbench::api::{ApiError, CheckState, RunAction, RunTrust, TrustRun};
use workbench::runs::{self, EndpointCall};
use workbench::sampler::{is_sampled, pack_beside};

use crate::args::{Keep, RunArgs, TrustArgs};
use crate::preflight_command::{absolute, estimated, library, look_before, must_start, settings};
use crate::print::{confirmed, note, print_json};
use crate::scenario_commands;
use crate::signals::StopSignals;
use crate::signals::cancel_on_signal;
use crate::teller::Teller;

/// Exit code of a resume of a run that was not begun here, without `--trust`.
pub(crate) const STRANGER: u8 = 5;
/// Exit code of what was stopped.
pub(crate) const STOPPED: u8 = 130;
/// How often it is looked whether it was, while a person is asked.
const LOOK: Duration = Duration::from_millis(100);

/// `stamina run`.
pub(crate) fn run(args: &RunArgs, db: Option<&Path>, yes: bool, as_json: bool) -> Result<ExitCode, ApiError> {
    let mut settings = settings(args)?;
    let library = library(db);
    // A wish to stop that came before the run began.
    let mut stopped_before = Arc::new(AtomicBool::new(false));
    if is_sampled(&settings) {
        let pack = pack_beside(&settings.output_dir);
        // Nothing is paid for a run that could not begin.
        if runner::is_taken(&settings.output_dir) {
            return Err(runs::run_error(RunError::Taken { path: settings.output_dir }));
        }
        must_start(&look_before(library.as_ref(), &settings, EndpointCall::Missing)?)?;
        note(&format!("a model samples the scenarios first, into {}", pack.display()));
        let cancel = cancel_on_signal();
        match scenario_commands::sampled(&args.configs, &args.values, &pack, &cancel) {
            Err(error) if error.code == "pack.cancelled" => {
                note(&error.message);
                return Ok(ExitCode::from(STOPPED));
            }
            sampled => sampled?,
        }
        settings.scenarios_dir = Some(pack);
        stopped_before = cancel;
    }
    let found = look_before(library.as_ref(), &settings, EndpointCall::Missing)?;
    for check in found.checks.iter().filter(|c| matches!(c.state, CheckState::Warn | CheckState::Fail)) {
        let word = if check.state == CheckState::Fail { "fails" } else { "warning" };
        let sentence = check.sentence.as_deref().unwrap_or_default();
        note(&format!("{word}: {}: {}. {sentence}", check.title, check.value));
    }
    must_start(&found)?;
    let warned = found.checks.iter().any(|check| check.state == CheckState::Warn);
    if !as_json {
        if let Some(estimate) = &found.estimate {
            note(&estimated(estimate, &settings));
        }
        if warned && !yes && std::io::stdin().is_terminal() && !agreed(&stopped_before) {
            return Ok(ExitCode::from(STOPPED));
        }
    }
    if stopped_before.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(STOPPED));
    }
    let folder = settings.output_dir.clone();
    play(&folder, library, as_json, async |on_event| runner::run(settings, on_event).await)
}

/// Whether a person wants to begin. Once a model has sampled, signals are ours to hear, also while the answer is waited for.
fn agreed(stop: &AtomicBool) -> bool {
    let (send, answer) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        // Nobody listens any more once it was stopped.
        let _ = send.send(confirmed("Begin all the same?"));
    });
    answered(&answer, stop)
}

/// What was answered; no, where it was stopped before.
fn answered(answer: &Receiver<bool>, stop: &AtomicBool) -> bool {
    loop {
        match answer.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => {}
            answered => return answered.unwrap_or(false),
        }
    }
}

/// `stamina resume`.
pub(crate) fn resume(
    folder: &Path,
    values: &[String],
    trust: &TrustArgs,
    db: Option<&Path>,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let folder = absolute(folder)?;
    let Some(library) = library(db) else {
        return Err(ApiError::new(
            "run.no_library",
            "Without its library it is not known whether this run was begun here",
        )
        .at(folder.display().to_string())
        .hint("Name the library with --db"));
    };
    let seen = library.trust_of(&folder)?;
    // With --json standard output belongs to the events; what is trusted is printed all the same.
    if !seen.trusted && (!as_json || trust.trust) {
        note(&trust_in_words(&seen));
    }
    if !seen.trusted && !trust.trust {
        if as_json {
            print_json(&trust_as_json(&seen));
        } else {
            note("It was not resumed. Once that is what you want: stamina resume … --trust");
        }
        return Ok(ExitCode::from(STRANGER));
    }
    let kept = |what: Keep| trust.keep.contains(&what);
    let trusted = TrustRun {
        digest: seen.digest,
        keep_endpoint: kept(Keep::Endpoint),
        keep_key: kept(Keep::Key),
        keep_variables: kept(Keep::Variables),
    };
    let (changes, looked_at) = library.admitted(&folder, values.to_vec(), Some(&trusted))?;
    let (of, changes) = (folder.clone(), runs::priced_changes(&folder, changes)?);
    let resume = async |on_event| runner::resume(of, changes, looked_at, on_event).await;
    play(&folder, Some(library), as_json, resume)
}

/// What a run of somebody else would do here: the lines of its page.
fn trust_in_words(run: &RunTrust) -> String {
    let mut lines = vec![
        "This run was not begun by this library on this machine. Its folder decides what a resume does:"
            .to_owned(),
    ];
    for row in &run.rows {
        lines.push(format!("  {:<15} {}", row.name, row.value));
        if let (Some(keep), Some(instead)) = (row.keep, &row.instead) {
            lines.push(format!("  {:<15} {instead}, unless --keep {} is given", "", keep.as_str()));
        }
    }
    lines.join("\n")
}

fn trust_as_json(run: &RunTrust) -> serde_json::Value {
    json!({
        "trusted": run.trusted, "mode": run.mode, "endpoint": run.endpoint, "key": run.key, "harness": run.harness,
        "harness_file": run.harness_file, "image": run.image, "binds": run.binds, "arguments": run.arguments,
        "variables": run.variables, "variables_set": run.variables_set, "network": run.network, "host_processes": run.host_processes,
        "scenarios": run.scenarios, "task_images": run.task_images, "task_images_more": run.task_images_more,
        "tasks_unreadable": run.tasks_unreadable, "writes": run.writes, "rows": run.rows,
    })
}

/// Plays to the end, or until it is stopped; tells what happens.
fn play<F>(
    folder: &Path,
    library: Option<Arc<Workbench>>,
    as_json: bool,
    begin: F,
) -> Result<ExitCode, ApiError>
where
    F: AsyncFnOnce(OnEvent) -> Result<Finish, RunError>,
{
    let begun = Arc::new(AtomicBool::new(false));
    let (shown_in, was_begun) = (library.clone(), Arc::clone(&begun));
    let teller = Arc::new(if as_json {
        let (begun, folder) = (Arc::clone(&begun), folder.to_owned());
        // What is played for a script that is gone is paid for nothing; `resume` continues it.
        Teller::as_json(move || stop(&folder, &begun))
    } else {
        Teller::in_words(folder)
    });
    let on_event: OnEvent = {
        let (teller, begun, folder) = (Arc::clone(&teller), Arc::clone(&begun), folder.to_owned());
        Arc::new(move |event: &Event| {
            if let Event::Started { record, .. } = event {
                begun.store(true, Ordering::Relaxed);
                if let Some(library) = &library {
                    if let Some(record) = record
                        && let Err(error) = library.remember_run(record)
                    {
                        tracing::warn!(%error, "the run is not remembered as one of ours: a resume of it will ask");
                    }
                    if let Err(error) = library.adopt(&folder) {
                        tracing::info!(%error, "the run is not shown in the library yet");
                    }
                }
            }
            teller.event(event);
        })
    };
    let runtime = runs::runtime()?;
    let of = folder.to_owned();
    // Listened for before anything is begun that would have to be stopped.
    let signals = {
        let _inside = runtime.enter();
        StopSignals::new()
    };
    let stopper = runtime.spawn({
        let teller = Arc::clone(&teller);
        async move {
            let Ok(mut signals) = signals else { return };
            signals.next().await;
            stop(&of, &begun);
            teller.says("stopping: what was finished is kept; once more ends it at once");
            signals.next().await;
            std::process::exit(i32::from(STOPPED));
        }
    });
    let ticker = runtime.spawn({
        let teller = Arc::clone(&teller);
        async move {
            loop {
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                teller.tick();
            }
        }
    });
    let finish = runtime.block_on(begin(on_event));
    ticker.abort();
    // `runs`, `show` and `survival` see it at once.
    if let Some(library) = shown_in.filter(|_| was_begun.load(Ordering::Relaxed))
        && let Err(error) = library.ingest(folder, &|_, _| {})
    {
        tracing::info!(%error, "the run is not shown in the library yet");
    }
    // Until the last line is taken, it can be ended by two signals.
    let written = teller.end();
    stopper.abort();
    let finish = finish.map_err(runs::run_error)?;
    written?;
    match &finish {
        Finish::Failed { message } => {
            return Err(ApiError::new("run.failed", message.clone())
                .at(folder.display().to_string())
                .hint(format!("Mend it, then continue with: stamina resume {}", folder.display())));
        }
        Finish::Finished if !as_json => {
            let left = played_on(folder);
            if left > 0 {
                note(&format!(
                    "{left} of the episodes were ended from outside (the endpoint, the containers, a budget), not by the agent; play \
                     them on with: stamina resume {}",
                    folder.display()
                ));
            }
        }
        Finish::Stopped | Finish::Budget if !as_json => {
            note(&format!("continue with: stamina resume {}", folder.display()));
        }
        _ => {}
    }
    Ok(ExitCode::from(finish.code()))
}

/// Episodes of a run that is over which a resume continues.
fn played_on(folder: &Path) -> usize {
    let ends = |run: live::LiveRun| run.episodes.into_iter().filter_map(|episode| episode.end_reason);
    live::read(folder).map_or(0, |run| ends(run).filter(|reason| live::is_played_on(*reason)).count())
}

/// Asks the run of this process to stop; one that has not begun yet just ends.
fn stop(folder: &Path, begun: &AtomicBool) {
    if !begun.load(Ordering::Relaxed) {
        std::process::exit(i32::from(STOPPED));
    }
    let wished = live::read(folder)
        .map_err(runs::run_error)
        .and_then(|run| runs::wish(folder, &run, &RunAction::Stop));
    if let Err(error) = wished {
        crate::report(&error);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn a_question_that_nobody_answers_ends_when_it_is_stopped() {
        let stop = Arc::new(AtomicBool::new(false));
        let (send, answer) = sync_channel(1);
        send.send(true).unwrap();
        assert!(answered(&answer, &stop));
        let set = Arc::clone(&stop);
        let stopping = std::thread::spawn(move || set.store(true, Ordering::Relaxed));
        assert!(!answered(&answer, &stop), "the sender is there, and says nothing");
        stopping.join().unwrap();
        drop(send);
    }
}
