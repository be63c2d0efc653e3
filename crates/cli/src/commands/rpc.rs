//! `stamina rpc`: calls a command of the workbench, or lists them.

use std::process::ExitCode;
use std::sync::Arc;

use workbench::Workbench;
use workbench::api::ApiError;

use crate::print::{print, print_json};
use crate::text_table;

/// `stamina rpc`.
pub(crate) fn rpc(
    workbench: &Arc<Workbench>,
    name: Option<&str>,
    request: &str,
) -> Result<ExitCode, ApiError> {
    let Some(name) = name else {
        let lines: Vec<Vec<String>> = workbench::COMMANDS
            .iter()
            .map(|(name, doc)| vec![(*name).to_owned(), (*doc).to_owned()])
            .collect();
        print(&text_table::table(&["command", "what it does"], &[false, false], &lines));
        return Ok(ExitCode::SUCCESS);
    };
    let request = match request {
        "-" => std::io::read_to_string(std::io::stdin().lock())
            .map_err(|e| ApiError::new("request.unreadable", format!("The request cannot be read: {e}")))?,
        given => given.to_owned(),
    };
    let request = serde_json::from_str(&request)
        .map_err(|e| ApiError::new("request.malformed", format!("The request is not JSON: {e}")))?;
    print_json(&workbench::call(workbench, name, request)?);
    Ok(ExitCode::SUCCESS)
}
