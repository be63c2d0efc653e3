//! `stamina images`: the images of agents on this machine.

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use model::plain_line;
use serde_json::{Value, json};
use workbench::api::ApiError;
use workbench::runs::{self, ImageNews, bytes};

use crate::args::ImagesCommand;
use crate::print::{note, print, print_json};
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
