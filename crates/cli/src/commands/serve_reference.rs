//! `stamina serve-reference`: the reference server of a turn.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use scenario::ir::{SCHEMA_CAP, Schema};
use serde_json::json;
use workbench::api::ApiError;

use crate::pack_files::{is_missing, open, pack_error};
use crate::print::{note, print, print_json};
use crate::signals::stop_signal;

/// What `stamina serve-reference` serves.
pub(crate) enum Reference {
    /// A turn of a pack.
    OfPack {
        /// Folder or zip.
        pack: PathBuf,
        /// From 0.
        scenario: u32,
        /// From 1.
        turn: u32,
    },
    /// A schema in a file.
    File(PathBuf),
}

impl Reference {
    fn schema(&self) -> Result<Schema, ApiError> {
        match self {
            Self::OfPack { pack, scenario, turn } => {
                open(pack)?.schema(*scenario, *turn).map_err(|error| pack_error(&error, pack))
            }
            Self::File(path) => {
                let file_error = |code: &str, message: String| {
                    ApiError::new(code, message)
                        .with_path(path.display().to_string())
                        .hint("--schema takes a schema of a turn, as a pack has it in schemas/turn_N.yaml")
                };
                let unreadable = |error: std::io::Error| {
                    let code = if is_missing(&error) { "schema.missing" } else { "schema.unreadable" };
                    file_error(code, format!("The file cannot be read: {error}"))
                };
                let bytes = files::confined_path::read_named_file(path, SCHEMA_CAP).map_err(|error| {
                    match error.kind() {
                        std::io::ErrorKind::FileTooLarge => file_error("schema.large", error.to_string()),
                        _ => unreadable(error),
                    }
                })?;
                let text = String::from_utf8(bytes)
                    .map_err(|_| file_error("schema.form", "The file is not UTF-8 text".to_owned()))?;
                Schema::from_yaml(&text).map_err(|error| file_error("schema.form", error.to_string()))
            }
        }
    }
}

/// `stamina serve-reference`. Without a port it serves on the socket that standard input is.
pub(crate) fn serve_reference(
    from: &Reference,
    port: Option<u16>,
    as_json: bool,
) -> Result<ExitCode, ApiError> {
    let schema = from.schema()?;
    let turn = schema.turn;
    let scenario = match from {
        Reference::OfPack { scenario, .. } => Some(*scenario),
        Reference::File(_) => None,
    };
    runtime()?.block_on(async {
        let world = scenario::reference::World::new(Arc::new(schema));
        let serving = match port {
            Some(port) => {
                let address = (std::net::Ipv4Addr::LOCALHOST, port).into();
                scenario::reference::serve(world, address).await.map_err(|error| {
                    ApiError::new("serve.port", format!("Port {port} cannot be opened: {error}"))
                        .hint("Choose another with --port, or 0 for a free one")
                })
            }
            None => scenario::reference::serve_on_stdin(world).map_err(|error| {
                ApiError::new("serve.stdin", format!("Standard input cannot be listened on: {error}"))
                    .hint("--on-stdin takes a TCP socket that has an address; --port opens one")
            }),
        }?;
        let url = format!("http://{}", serving.address);
        if as_json {
            print_json(&json!({ "url": url, "scenario": scenario, "turn": turn }));
        } else {
            print(&format!("{url}\n"));
        }
        note("Ctrl-C ends it");
        stop_signal().await;
        drop(serving);
        Ok(ExitCode::SUCCESS)
    })
}

/// One thread: answers are computed one after the other, and switching threads would take longer than computing them.
fn runtime() -> Result<tokio::runtime::Runtime, ApiError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| ApiError::new("serve.runtime", format!("The network cannot be used: {e}")))
}
