//! The packages whose exceptions the table distinguishes, by what they are for.

use super::exception_row::Words;

/// Modules of Python itself.
pub(super) const PYTHON: Words =
    &["builtins", "asyncio", "concurrent.futures", "ssl", "socket", "subprocess", "json"];
/// Its own types.
pub(super) const BUILTIN: Words = &["builtins"];
/// The exceptions that Python prints without a module, up to 3.14. So it prints those of a script itself, too, and other
/// programs that print tracebacks leave out every module: any other bare name says nothing of where it is from.
pub(super) const BUILTIN_TYPES: Words = &[
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "BaseExceptionGroup",
    "BlockingIOError",
    "BrokenPipeError",
    "BufferError",
    "BytesWarning",
    "ChildProcessError",
    "ConnectionAbortedError",
    "ConnectionError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "DeprecationWarning",
    "EOFError",
    "EncodingWarning",
    "Exception",
    "ExceptionGroup",
    "FileExistsError",
    "FileNotFoundError",
    "FloatingPointError",
    "FutureWarning",
    "GeneratorExit",
    "ImportError",
    "ImportWarning",
    "IndentationError",
    "IndexError",
    "InterruptedError",
    "IsADirectoryError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "NotADirectoryError",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "PendingDeprecationWarning",
    "PermissionError",
    "ProcessLookupError",
    "PythonFinalizationError",
    "RecursionError",
    "ReferenceError",
    "ResourceWarning",
    "RuntimeError",
    "RuntimeWarning",
    "StopAsyncIteration",
    "StopIteration",
    "SyntaxError",
    "SyntaxWarning",
    "SystemError",
    "SystemExit",
    "TabError",
    "TimeoutError",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "UnicodeTranslateError",
    "UnicodeWarning",
    "UserWarning",
    "ValueError",
    "Warning",
    "ZeroDivisionError",
];
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
