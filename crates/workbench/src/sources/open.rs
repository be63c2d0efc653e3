//! Opening a folder or zip, and what is said of one that cannot be opened or has nothing that is read.

use std::path::Path;

use files::{ReadError, Tree};
use ingest::discover::{FoundFormat, NotRecognized as NotFound, discover};
use ingest::formats::table::{self, IncompleteTable};
use ingest::unread;
use model::{Warning, one_line, shell_word};
use store::Source;

use crate::api::{ApiError, FormatLookup, FoundItem, NotRecognized, TableColumns, TableGuess};

/// Whether something is at a path, and its file system answers.
pub(crate) fn is_there(path: &Path) -> bool {
    let owned_path = path.to_owned();
    files::deadline::within_limit(path, move || owned_path.exists()).unwrap_or(false)
}

/// Opens a folder or zip for reading.
pub(crate) fn open_tree(path: &Path) -> Result<Tree, ApiError> {
    let shown = path.display().to_string();
    let owned_path = path.to_owned();
    // Only whether it answers: the index of a large zip may take its time.
    let is_there = files::deadline::within_limit(path, move || owned_path.exists()).map_err(|error| {
        ApiError::new("source.no_answer", format!("The folder or zip cannot be opened: {error}"))
            .with_path(shown.clone())
    })?;
    if !is_there {
        return Err(ApiError::new("source.missing", "There is no such folder or zip")
            .with_path(shown)
            .hint("Check the path"));
    }
    match Tree::open(path) {
        Ok(tree) => Ok(tree),
        Err(error) if error.code() == "source.not_zip" => match Tree::from_file(path) {
            // Whether it has the columns is seen when it is read.
            Ok(tree) if table::is_table_name(&tree.name()) => Ok(tree),
            _ => Err(no_zip(path)),
        },
        Err(error) => Err(unreadable(path, &error)),
    }
}

const OPENED: &str = "Stamina Lab opens folders, .zip files and tables of attempts (.csv, .jsonl, .parquet)";

/// The name of a folder or file.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn unreadable(path: &Path, error: &ReadError) -> ApiError {
    ApiError::new("source.unreadable", format!("Could not open {}: {error}", name_of(path)))
        .with_path(path.display().to_string())
        .hint(OPENED)
}

/// What a file is that is no zip, or a damaged one.
pub(super) fn no_zip(path: &Path) -> ApiError {
    let tree = match Tree::from_file(path) {
        Ok(tree) => tree,
        Err(error) => return unreadable(path, &error),
    };
    let name = tree.name();
    if unread::begins_as_zip(&tree, &name) {
        let message =
            format!("Could not open {name}: the zip is damaged or cut off, its list of contents is missing");
        return ApiError::new("source.unreadable", message)
            .with_path(path.display().to_string())
            .hint("Copy or download it again, or open the folder that it was made of");
    }
    match discover(&tree) {
        // A file of what is read from its folder.
        Ok(part) => {
            let mut found = found_formats(part.by_format());
            for thing in &mut found {
                (thing.read, thing.instead) = (false, Some("Open the folder that holds it".to_owned()));
            }
            let description =
                found.first().map_or(String::new(), |thing| format!("a file of a {}", thing.name));
            let nothing = NotFound { files: 1, depth: 1, ..NotFound::default() };
            let mut error = not_recognized(nothing, path);
            error.message = format!("\"{name}\" is {description}, which is read from its folder");
            error.hint = Some("Open the folder that holds it".to_owned());
            if let Some(nothing) = &mut error.not_recognised {
                nothing.found = found;
            }
            error
        }
        Err(mut nothing) => {
            if nothing.found.is_empty() && nothing.tables.is_empty() {
                match unread::by_form(&tree, &name, path) {
                    Ok(found) => nothing.found.push(found),
                    Err(error) => return unreadable(path, &error),
                }
            }
            not_recognized(NotFound { folders: 0, ..nothing }, path)
        }
    }
}

/// A tidy table that gave no run. It stays in the library, where its report lists the rows.
pub(super) fn no_rows(source: &Source, warnings: &[Warning]) -> ApiError {
    let name = &source.name;
    // What is wrong with columns is no reason.
    let row_warning = warnings.iter().find(|warning| !warning.code.starts_with("table.column"));
    let (message, hint) = match row_warning {
        Some(first) => (
            format!("\"{name}\" has no row that can be read. {}", first.message),
            format!("Mend the rows; stamina import-report {name} lists what is wrong with them"),
        ),
        None => (
            format!("\"{name}\" is a tidy table without a row"),
            "Check that it is the right file, and whole".to_owned(),
        ),
    };
    ApiError::new("table.no_rows", message).with_path(source.path.clone()).hint(hint)
}

/// The formats of a source.
pub(super) fn found_formats(formats: Vec<FoundFormat>) -> Vec<FoundItem> {
    let thing = |format: FoundFormat| FoundItem {
        kind: format.id.to_owned(),
        name: format.name.to_owned(),
        path: format.folder,
        count: format.places,
        read: true,
        instead: None,
    };
    formats.into_iter().map(thing).collect()
}

/// What another program wrote.
pub(super) fn not_read(found: unread::UnreadResults) -> FoundItem {
    FoundItem {
        kind: found.kind.to_owned(),
        name: found.name,
        path: found.path,
        count: u32::try_from(found.count).unwrap_or(u32::MAX),
        read: false,
        instead: Some(found.instead.into_owned()),
    }
}

/// What was looked for and what is there, as an error that says so.
pub(super) fn not_recognized(nothing: NotFound, path: &Path) -> ApiError {
    let name = name_of(path);
    let (message, hint) = match (nothing.found.first(), nothing.tables.first()) {
        (None, Some(table)) => {
            let missing: Vec<&str> = table.missing.iter().map(|(column, _)| *column).collect();
            let verb = if path.is_file() { "is" } else { "holds" };
            let lacks = format!("a table without the columns {} of a tidy table", missing.join(", "));
            let lacks = lacks.replacen("columns", "column", usize::from(missing.len() == 1));
            let path = shell_word(&path.display().to_string());
            (
                format!("\"{name}\" {verb} {lacks}"),
                format!("Say which column is which: stamina ingest {path} {}", table.suggestion()),
            )
        }
        (Some(found), _) => {
            let verb = if found.path.is_empty() || nothing.folders == 0 { "is" } else { "holds" };
            let rest = if found.not_read.is_empty() { "" } else { ", " };
            (format!("\"{name}\" {verb} {}{rest}{}", found.name, found.not_read), found.instead.to_string())
        }
        (None, None) => (
            format!("Nothing in \"{name}\" is in a format that Stamina Lab reads"),
            "docs/formats.md describes the layouts; choose the folder that holds the results".to_owned(),
        ),
    };
    let mut error =
        ApiError::new("source.not_recognised", message).with_path(path.display().to_string()).hint(hint);
    error.not_recognised = Some(Box::new(NotRecognized {
        name,
        files: nothing.files,
        folders: nothing.folders,
        depth: nothing.depth,
        formats: nothing
            .formats
            .into_iter()
            .map(|f| FormatLookup {
                format: f.format.to_owned(),
                looked_for: f.looked_for.to_owned(),
                found: f.found,
            })
            .collect(),
        found: nothing.found.into_iter().map(not_read).collect(),
        closest: nothing.closest.map(|c| (c.sentence, c.folder)),
        tables: nothing.tables.into_iter().map(table_columns).collect(),
    }));
    error
}

/// The same of a folder or zip of which something was left out, which may be why nothing was recognized. The first of it is
/// named, where nothing else is known to be there.
pub(super) fn with_left_out(error: ApiError, tree: &Tree) -> ApiError {
    let is_known = error.not_recognised.as_deref().is_none_or(|nothing| {
        !nothing.found.is_empty() || !nothing.tables.is_empty() || nothing.closest.is_some()
    });
    let warnings = tree.warnings();
    let Some(first) = warnings.first().filter(|_| !is_known) else { return error };
    let further = match warnings.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let detail = format!("{}: {}", first.path, first.message.trim_end_matches('.'));
    error.hint(format!("Something was left out, which may be why. {}{further}", one_line(&detail, 600)))
}

/// A table that lacks columns, as the UI and scripts get it.
fn table_columns(incomplete: IncompleteTable) -> TableColumns {
    let guess = |(column, guess): &(&str, Option<String>)| TableGuess {
        column: (*column).to_owned(),
        guess: guess.clone(),
    };
    TableColumns {
        map: incomplete.suggestion(),
        path: incomplete.path,
        there: incomplete.present.into_iter().map(str::to_owned).collect(),
        missing: incomplete.missing.iter().map(guess).collect(),
        columns: incomplete.columns,
    }
}
