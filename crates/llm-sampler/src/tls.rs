//! The cryptography of https.

/// Makes ring the provider of this process, unless it has one already.
pub(crate) fn provide() {
    // An error means that another part of the process has set a provider. Then that one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
