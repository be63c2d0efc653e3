//! Whether a folder is a scenario, by the names in it and by how its trajectory begins.

use model::ArtifactKind;

use super::field_names;
use super::file_names::file_place;
use crate::formats::staminabench::exact::SCHEMA_FAMILY;
use crate::formats::staminabench::file_head::{HEAD, head};
use crate::formats::staminabench::folder_names;
use files::{Tree, join};

/// Whether a folder is a scenario that was played; if not, what there is of one, and how close that is (0 to 100).
pub(super) fn is_scenario(tree: &Tree, place_folder: &str) -> Result<(), (String, u8)> {
    let mut trajectory = false;
    let (mut results, mut pack) = (Vec::new(), Vec::new());
    for entry in tree.list(place_folder) {
        if !entry.is_folder() {
            trajectory |= entry.name.eq_ignore_ascii_case("trajectory.json");
        } else if let Some(kind) = folder_names::folder_kind(&entry.name) {
            if folder_names::is_result(kind) {
                results.push((entry.name, kind));
            } else {
                pack.push(entry.name);
            }
        }
    }
    if trajectory && !(results.is_empty() && pack.is_empty()) {
        return Ok(());
    }
    if trajectory {
        // Other harnesses call their transcripts so, too.
        return if has_own_schema(tree, &join(place_folder, "trajectory.json")) {
            Ok(())
        } else {
            Err(("trajectory.json without turns".to_owned(), 20))
        };
    }
    let is_placed = |(name, kind): &(String, ArtifactKind)| {
        // `code` or `snapshots` alone are names that anything may have.
        let folder = join(place_folder, name);
        let strict =
            matches!(kind, ArtifactKind::TestOutput | ArtifactKind::ServerLog | ArtifactKind::AgentLog)
                || name == "agent_code";
        strict
            && tree.list(&folder).iter().any(|e| {
                let file_place = file_place(&e.name);
                file_place.turn.is_some() || file_place.step.is_some()
            })
    };
    if results.iter().any(is_placed) {
        return Ok(());
    }
    if let Some((name, _)) = results.first() {
        return Err((format!("{name}/ but nothing in it names a turn"), 30));
    }
    if pack.len() >= 2 {
        return Err((format!("a scenario without results ({})", pack.join(", ")), 50));
    }
    Err(("none".to_owned(), 0))
}

/// Whether the start of a trajectory says that it is of turns, and not of another harness.
fn has_own_schema(tree: &Tree, path: &str) -> bool {
    let Some(head) = head(tree, path, HEAD) else { return false };
    if head.contains("\"schema_version\"") {
        return head.contains(&format!("\"{SCHEMA_FAMILY}"));
    }
    field_names::TURNS
        .iter()
        .chain(field_names::TURN)
        .chain(field_names::ATTEMPTS)
        .any(|key| head.contains(&format!("\"{key}\"")))
}
