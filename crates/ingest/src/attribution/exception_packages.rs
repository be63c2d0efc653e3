//! The packages whose exceptions the table tells apart, by what they are for.

use super::exception_row::Words;

/// Modules of Python itself.
pub(super) const PYTHON: Words =
    &["builtins", "asyncio", "concurrent.futures", "ssl", "socket", "subprocess", "json"];
/// Its own types.
pub(super) const BUILTIN: Words = &["builtins"];
/// Clients of models.
pub(super) const MODELS: Words =
    &["openai", "anthropic", "litellm", "google.genai", "mistralai", "cohere", "minisweagent.models"];
/// General clients of HTTP.
pub(super) const HTTP: Words = &["httpx", "httpx2", "httpcore", "aiohttp", "requests", "urllib3", "urllib"];
/// The client of Docker.
pub(super) const DOCKER: Words = &["docker.errors", "docker.credentials", "docker"];
/// Clients of other sandboxes.
pub(super) const SANDBOXES: Words = &[
    "daytona",
    "daytona_sdk",
    "daytona_api_client_async",
    "e2b",
    "modal",
    "kubernetes",
    "kubernetes_asyncio",
    "runloop_api_client",
];
/// What Docker's API answered, as `requests` words it.
pub(super) const BY_DOCKER: Words = &[
    "### Client Error for http+docker://",
    "### Server Error for http+docker://",
    "UnixHTTPConnectionPool(",
    "Error while fetching server API version: ",
];
