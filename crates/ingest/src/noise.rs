//! Folders whose contents no reader needs.

/// Folders that never hold results and often hold very many files.
pub(crate) fn is_noise(name: &str) -> bool {
    name.starts_with('.') || matches!(name, "node_modules" | "__pycache__" | "__MACOSX" | "venv" | "target")
}
