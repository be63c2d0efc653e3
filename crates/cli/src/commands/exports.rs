//! What `stamina figure`, `stamina table` and `stamina report` share: names, files and output. The workbench makes the
//! exports.

use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::json;
use workbench::api::{ApiError, ExportFormat, Exported};

use crate::print::{note, print, print_json};

/// The format that the ending of a file selects; else an error with the endings that are possible.
pub(super) fn format_of(out: &Path, fits: &[(&str, ExportFormat)]) -> Result<ExportFormat, ApiError> {
    let ending = out.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    fits.iter().find(|(known, _)| *known == ending).map(|(_, format)| *format).ok_or_else(|| {
        let known: Vec<&str> = fits.iter().map(|(known, _)| *known).collect();
        let description =
            if ending.is_empty() { "no ending".to_owned() } else { format!("the ending .{ending}") };
        ApiError::new(
            "export.format",
            format!("The file has {description}, which is no format that can be made"),
        )
        .with_path(out.display().to_string())
        .hint(format!("Name it .{}", known.join(", .")))
    })
}

pub(super) fn absolute(out: &Path) -> Result<String, ApiError> {
    let path = std::path::absolute(out).map_err(|e| {
        ApiError::new("export.path", format!("This path cannot be made absolute: {e}"))
            .with_path(out.display().to_string())
    })?;
    path.into_os_string().into_string().map_err(|_| {
        ApiError::new("export.path", "The path is not UTF-8")
            .with_path(out.display().to_string())
            .hint("Name another")
    })
}

pub(super) fn written(made: &Exported, as_json: bool) -> ExitCode {
    for warning in &made.warnings {
        note(&format!("warning: {warning}"));
    }
    if as_json {
        print_json(&json!({
            "path": made.path, "beside": made.beside, "bytes": made.bytes, "inches": made.inches, "caption": made.caption,
            "short_caption": made.short_caption, "warnings": made.warnings,
        }));
    } else {
        let size = made.inches.map_or_else(String::new, |(w, h)| format!(", {w:.2} × {h:.2} in"));
        note(&format!("{}{size}", made.path.as_deref().unwrap_or_default()));
        print(&format!("{}\n", made.caption));
    }
    ExitCode::SUCCESS
}

pub(super) fn words<T: ValueEnum>() -> String {
    let all: Vec<String> = T::value_variants()
        .iter()
        .filter_map(|v| Some(v.to_possible_value()?.get_name().to_owned()))
        .collect();
    all.join(", ")
}
