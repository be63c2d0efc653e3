//! `stamina images`, `harnesses` and `clean`: what this machine has for runs, and what runs left behind.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use model::plain_line;
use serde_json::{Value, json};
use workbench::api::ApiError;
use workbench::runs::{self, ImageNews, bytes};

use crate::args::ImagesCommand;
use crate::print::{confirmed, note, print, print_json};
use crate::signals::cancel_on_signal;
use crate::text_table;

/// `stamina images`.
pub(crate) fn images(command: &ImagesCommand, as_json: bool) -> Result<ExitCode, ApiError> {
    let outcomes: Mutex<Vec<Value>> = Mutex::default();
    let on_news = |news: ImageNews<'_>| match news {
        ImageNews::Progress(..) => {}
        ImageNews::Line(line) => note(line),
        ImageNews::Outcome(outcome) => {
            if as_json {
                model::lock(&outcomes).push(json!(outcome));
            } else {
                let word = if outcome.ok { "ok" } else { "does not work" };
                print(&format!("{}: {word}: {}\n", outcome.name, plain_line(&outcome.message)));
            }
        }
    };
    let result = match command {
        ImagesCommand::List => return list_images(as_json),
        ImagesCommand::Build { names, ca } => {
            runs::build_named(names, ca.clone(), &on_news, &cancel_on_signal())
        }
        ImagesCommand::Test { names, harness } => {
            runs::test_images(names, harness.as_deref(), &on_news, &cancel_on_signal())
        }
    };
    let outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    if as_json {
        print_json(&Value::Array(outcomes));
    }
    result.map(|()| ExitCode::SUCCESS)
}

fn list_images(as_json: bool) -> Result<ExitCode, ApiError> {
    let list = runs::images()?;
    if as_json {
        print_json(&json!(list));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(problem) = &list.problem {
        note(&format!("warning: {problem}"));
    }
    let rows: Vec<Vec<String>> = list
        .images
        .iter()
        .map(|i| {
            let state = match (i.built, i.current) {
                (None, _) => "unknown",
                (Some(false), _) => "not built",
                (Some(true), Some(false)) => "of an older recipe",
                (Some(true), _) => "built",
            };
            vec![
                i.name.clone(),
                i.image.clone(),
                state.to_owned(),
                i.size.map_or_else(String::new, bytes),
                i.harnesses.join(", "),
            ]
        })
        .collect();
    print(&text_table::table(
        &["name", "image", "state", "size", "harness"],
        &[false, false, false, true, false],
        &rows,
    ));
    Ok(ExitCode::SUCCESS)
}

/// `stamina harnesses`.
pub(crate) fn harnesses(as_json: bool) {
    let all = runs::harnesses();
    if as_json {
        print_json(&json!(all));
        return;
    }
    let rows: Vec<Vec<String>> = all
        .into_iter()
        .map(|h| vec![h.name.to_uppercase(), h.title, h.version, h.api.replace('_', " "), h.image])
        .collect();
    print(&text_table::table(&["agent", "program", "version", "API", "image"], &[false; 5], &rows));
}

/// `stamina clean`.
pub(crate) fn clean(yes: bool, all: bool, as_json: bool) -> Result<ExitCode, ApiError> {
    let list = runs::leftovers()?;
    if list.engine.is_none() {
        return Err(ApiError::new("engine.none", list.problem.unwrap_or_default()));
    }
    let (found, kept): (Vec<_>, Vec<_>) = list.leftovers.into_iter().partition(|l| all || !l.in_use);
    if !as_json {
        let rows: Vec<Vec<String>> = found
            .iter()
            .map(|l| {
                let state = if l.in_use { "needed" } else { "left behind" };
                vec![l.kind.clone(), l.name.clone(), l.run.clone(), state.to_owned()]
            })
            .collect();
        if found.is_empty() {
            note("nothing was left behind");
        } else {
            print(&text_table::table(&["kind", "name", "run", "state"], &[false; 4], &rows));
        }
        if !kept.is_empty() {
            note(&format!(
                "{} of running runs, or of runs that a resume continues, stay; --all removes them, too",
                kept.len()
            ));
        }
    }
    let is_confirmed =
        yes || (!as_json && std::io::stdin().is_terminal() && !found.is_empty() && confirmed("Remove them?"));
    let removed = is_confirmed && !found.is_empty();
    if removed {
        runs::clean(all)?;
    }
    if as_json {
        print_json(&json!({ "found": found, "kept": kept, "removed": removed }));
    } else if removed {
        note(&format!("removed {}", found.len()));
    } else if !found.is_empty() {
        note("nothing was removed; --yes removes it");
    }
    Ok(ExitCode::SUCCESS)
}
