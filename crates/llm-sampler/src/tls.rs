//! The cryptography behind https.

/// Makes ring the provider of this process, unless there is one already.
pub(crate) fn provide() {
    // An error says that another part of the process was quicker; then theirs is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
