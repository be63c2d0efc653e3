//! Which code made the call that failed, by the files of the frames.

/// Whom code calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Callee {
    /// A container engine or a sandbox service.
    Engine,
    /// An endpoint of models.
    Endpoint,
}

/// Code that calls one of them, by what follows `site-packages/` or the folder of Python's own modules.
const CALLERS: &[(&str, Callee)] = &[
    ("harbor/environments/", Callee::Engine),
    ("asyncio/subprocess.py", Callee::Engine),
    ("docker/", Callee::Engine),
    ("kubernetes/", Callee::Engine),
    ("kubernetes_asyncio/", Callee::Engine),
    ("daytona/", Callee::Engine),
    ("daytona_sdk/", Callee::Engine),
    ("daytona_api_client_async/", Callee::Engine),
    ("e2b/", Callee::Engine),
    ("modal/", Callee::Engine),
    ("runloop_api_client/", Callee::Engine),
    ("harbor/llms/", Callee::Endpoint),
    ("openai/", Callee::Endpoint),
    ("anthropic/", Callee::Endpoint),
    ("litellm/", Callee::Endpoint),
    ("google/genai/", Callee::Endpoint),
    ("mistralai/", Callee::Endpoint),
    ("cohere/", Callee::Endpoint),
];

/// Clients of HTTP: they say that something was called, and not what.
const CLIENTS: &[&str] =
    &["aiohttp/", "httpx/", "httpx2/", "httpcore/", "requests/", "urllib3/", "botocore/"];

/// Whom the innermost caller that is known calls.
pub(super) fn innermost_caller(files: &[&str]) -> Option<Callee> {
    files.iter().rev().find_map(|file| callee(file))
}

/// Whom the code of the innermost frame calls.
pub(super) fn innermost(files: &[&str]) -> Option<Callee> {
    files.last().and_then(|file| callee(file))
}

/// Whether a client of HTTP is among the frames.
pub(super) fn calls_http(files: &[&str]) -> bool {
    files.iter().any(|file| CLIENTS.iter().any(|client| module(file).starts_with(client)))
}

fn callee(file: &str) -> Option<Callee> {
    let module = module(file);
    CALLERS.iter().find(|(start, _)| module.starts_with(start)).map(|(_, callee)| *callee)
}

/// The part of a path that names a module; of a checkout, what follows its source folder. Folders above it are the
/// user's and may be called anything.
fn module(file: &str) -> &str {
    for root in ["/site-packages/", "/dist-packages/", "/src/"] {
        if let Some((_, rest)) = file.rsplit_once(root) {
            return rest;
        }
    }
    // `/usr/lib/python3.13/asyncio/tasks.py`
    file.rsplit_once("/python3.").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_user_are_no_modules() {
        assert_eq!(module("/home/docker/app/run.py"), "");
        assert_eq!(module("/srv/docker/lib/python3.13/site-packages/openai/a.py"), "openai/a.py");
        assert_eq!(module("/usr/lib/python3.13/asyncio/subprocess.py"), "asyncio/subprocess.py");
        assert_eq!(module("/code/harbor/src/harbor/llms/base.py"), "harbor/llms/base.py");
    }

    #[test]
    fn the_innermost_caller_decides() {
        let http_frames = [
            "/p/site-packages/harbor/llms/lite_llm.py",
            "/p/site-packages/harbor/environments/daytona.py",
            "/p/site-packages/httpx/_client.py",
        ];
        assert_eq!(innermost_caller(&http_frames), Some(Callee::Engine));
        assert_eq!(innermost_caller(&http_frames[..1]), Some(Callee::Endpoint));
        assert_eq!((innermost(&http_frames), calls_http(&http_frames)), (None, true));
    }
}
