//! `stamina endpoints`: the model endpoints that answer, and their models.

use std::process::ExitCode;

use serde_json::json;
use workbench::api::{ApiError, KeyPlace, ListEndpoints, ListedEndpoint};
use workbench::runs;

use crate::print::{note, print, print_json};
use crate::text_table;

/// Lists the endpoints that answer. Exit code 1 if a named address lists no models.
pub(crate) fn endpoints(
    urls: Vec<String>,
    key_env: Option<String>,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let are_named = !urls.is_empty();
    let key_place = if key_env.is_some() { KeyPlace::Env } else { KeyPlace::None };
    let list =
        runs::list_endpoints(&ListEndpoints { urls, key_place, key_name: key_env.unwrap_or_default() })?;
    let endpoints = &list.endpoints;
    if as_json {
        print_json(&json!(endpoints));
    } else {
        for endpoint in endpoints {
            if let Some(problem) = &endpoint.problem {
                note(&format!("{}: {problem}", endpoint.base_url));
            }
        }
        let rows: Vec<Vec<String>> = endpoints.iter().flat_map(rows_of).collect();
        if !rows.is_empty() {
            print(&text_table::table(
                &["address", "server", "model", "context", "made for"],
                &[false, false, false, true, true],
                &rows,
            ));
        } else if endpoints.is_empty() {
            note(
                "no model endpoint answers at the usual ports of this machine; name an address to ask elsewhere",
            );
        }
    }
    let failed = are_named && endpoints.iter().any(|endpoint| endpoint.problem.is_some());
    Ok(ExitCode::from(u8::from(failed)))
}

fn rows_of(endpoint: &ListedEndpoint) -> Vec<Vec<String>> {
    let tokens =
        |tokens: Option<u64>| tokens.map_or_else(|| "unknown".to_owned(), |tokens| tokens.to_string());
    let server = endpoint.title.clone().unwrap_or_else(|| "unknown".to_owned());
    let row = |model: &str, context: String, made_for: String| {
        vec![endpoint.base_url.clone(), server.clone(), model.to_owned(), context, made_for]
    };
    if endpoint.models.is_empty() && endpoint.problem.is_none() {
        return vec![row("no model", String::new(), String::new())];
    }
    endpoint
        .models
        .iter()
        .map(|model| row(&model.id, tokens(model.context), tokens(model.model_context)))
        .collect()
}
