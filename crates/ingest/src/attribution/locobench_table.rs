//! What the `status` of a session of LoCoBench-Agent says of its end, as a table. Nothing was judged, so it is never a pass.

use model::EndReason;

/// Why a session ended. `None` = the session has no status yet.
pub(crate) fn end_reason(status: Option<&str>) -> EndReason {
    match status {
        Some("failed") => EndReason::AgentError,
        Some("timeout") => EndReason::AgentTimeout,
        Some("completed_with_throttling") => EndReason::Endpoint,
        Some("completed") => EndReason::NoVerdict,
        _ => EndReason::Unfinished,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_documented_one() {
        let doc = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
        let doc = std::fs::read_to_string(doc).unwrap();
        let (_, doc) = doc.split_once("\n## LoCoBench-Agent output\n").unwrap();
        let line = doc.lines().find(|line| line.starts_with("- **End**: ")).unwrap();
        for status in ["failed", "timeout", "completed_with_throttling", "completed"] {
            let (_, after) = line.split_once(&format!("`{status}` ")).unwrap();
            let label = after.split('*').nth(1).unwrap();
            assert_eq!(end_reason(Some(status)).label(), label, "{status}");
        }
        assert_eq!(end_reason(None), EndReason::Unfinished);
        assert_eq!(end_reason(Some("of a later version")), EndReason::Unfinished);
    }
}
