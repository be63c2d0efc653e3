//! The pages of `stamina serve`: from a folder of the built UI, or from the program, where a release embeds them.

use std::path::{Path, PathBuf};

use axum::Router;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use tower_http::services::{ServeDir, ServeFile};
use workbench::api::ApiError;

/// Files by their paths in URLs.
type Files = &'static [(&'static str, &'static [u8])];

/// The UI that this program embeds; empty in a program for development.
static EMBEDDED: Files = include!(concat!(env!("OUT_DIR"), "/web_ui.rs"));

const INDEX: &str = "index.html";

/// Where the pages come from.
#[derive(Debug)]
pub(crate) enum WebUi {
    /// A folder with `index.html` in it.
    Folder(PathBuf),
    /// The program itself.
    Embedded(Files),
}

impl WebUi {
    /// Finds the UI: in the named folder; else beside the program, or in the checkout that it was built in; else in the
    /// program.
    pub(crate) fn find(named: Option<PathBuf>) -> Result<Self, ApiError> {
        if let Some(named) = named {
            return if is_ui(&named) {
                Ok(Self::Folder(named))
            } else {
                Err(ApiError::new("serve.no_ui", "The folder of the UI has no index.html")
                    .with_path(named.display().to_string()))
            };
        }
        let program = std::env::current_exe().unwrap_or_default();
        Self::near(&program, EMBEDDED).ok_or_else(|| {
            ApiError::new("serve.no_ui", "The built web UI was not found beside this program")
                .hint("Run `npm run build -w ui` in the checkout, or name its folder with --ui")
        })
    }

    fn near(program: &Path, embedded: Files) -> Option<Self> {
        let folder = program
            .ancestors()
            .skip(1)
            .flat_map(|folder| [folder.join("ui/dist"), folder.join("share/stamina-lab/ui")])
            .find(|folder| is_ui(folder))
            .map(Self::Folder);
        folder.or_else(|| (!embedded.is_empty()).then_some(Self::Embedded(embedded)))
    }

    /// Serves the pages wherever the router has nothing else.
    pub(crate) fn serve<S: Clone + Send + Sync + 'static>(self, router: Router<S>) -> Router<S> {
        match self {
            Self::Folder(folder) => {
                router.fallback_service(ServeDir::new(&folder).fallback(ServeFile::new(folder.join(INDEX))))
            }
            Self::Embedded(files) => router
                .fallback(move |method: Method, uri: Uri| async move { page(files, &method, uri.path()) }),
        }
    }
}

fn is_ui(folder: &Path) -> bool {
    folder.join(INDEX).is_file()
}

/// The file of a URL. Other URLs are places in the app, which `index.html` shows.
fn page(files: Files, method: &Method, path: &str) -> Response {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let find = |wanted: &str| files.iter().find(|(name, _)| *name == wanted);
    match find(path.trim_start_matches('/')).or_else(|| find(INDEX)) {
        Some((name, bytes)) => ([(header::CONTENT_TYPE, media_type(name))], *bytes).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The media type of a file of the UI. A header forbids browsers to guess it.
fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: Files = &[("assets/main-1.js", b"code"), (INDEX, b"<!doctype html>")];

    async fn answer(method: Method, path: &str) -> (StatusCode, String, String) {
        let response = page(FILES, &method, path);
        let kind = response.headers().get(header::CONTENT_TYPE).map(|kind| kind.to_str().unwrap().to_owned());
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), 1 << 10).await.unwrap();
        (status, kind.unwrap_or_default(), String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_program_serves_the_ui_that_it_embeds() {
        let ok = |kind: &str, body: &str| (StatusCode::OK, kind.to_owned(), body.to_owned());
        let index = ok("text/html; charset=utf-8", "<!doctype html>");
        assert_eq!(answer(Method::GET, "/").await, index);
        assert_eq!(answer(Method::GET, "/index.html").await, index);
        assert_eq!(answer(Method::GET, "/assets/../../etc/passwd").await, index, "no file of the machine");
        let script = answer(Method::GET, "/assets/main-1.js").await;
        assert_eq!(script, ok("text/javascript; charset=utf-8", "code"));
        assert_eq!(answer(Method::POST, "/").await.0, StatusCode::METHOD_NOT_ALLOWED);
    }

    #[test]
    fn a_folder_beside_the_program_is_preferred_to_the_embedded_ui() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("usr/bin/stamina");
        assert!(WebUi::near(&program, &[]).is_none());
        assert!(matches!(WebUi::near(&program, FILES), Some(WebUi::Embedded(_))));
        let installed = root.path().join("usr/share/stamina-lab/ui");
        std::fs::create_dir_all(&installed).unwrap();
        std::fs::write(installed.join(INDEX), "").unwrap();
        let found = WebUi::near(&program, FILES);
        assert!(matches!(&found, Some(WebUi::Folder(folder)) if *folder == installed), "{found:?}");
    }
}
