//! Which endpoints answer, and the models that they offer. Nothing is asked before somebody asks for the list.

use std::collections::BTreeSet;
use std::time::Duration;

use gateway::keys::{self, KeySource};
use gateway::{EndpointProblem, Secret, ServerKind, UnusableEndpoint};

use super::runtime::runtime;
use crate::Workbench;
use crate::api::{ApiError, EndpointList, KeyPlace, ListEndpoints, ListedEndpoint, OfferedModel};

/// How long a program on this machine may take for one answer.
const LOCAL_PATIENCE: Duration = Duration::from_secs(3);
/// How long an endpoint that was named may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most addresses at once.
const MOST_URLS: usize = 16;

impl Workbench {
    /// The endpoints that answer at the usual ports of the loopback address, or at the addresses that are named.
    pub fn list_endpoints(&self, request: ListEndpoints) -> Result<EndpointList, ApiError> {
        list(&request)
    }
}

/// The same without a library.
pub fn list(request: &ListEndpoints) -> Result<EndpointList, ApiError> {
    let mut urls: Vec<&str> =
        request.urls.iter().map(|url| url.trim()).filter(|url| !url.is_empty()).collect();
    if urls.len() > MOST_URLS {
        return Err(ApiError::new(
            "endpoints.too_many",
            format!("{} addresses are named, and at most {MOST_URLS} are asked at once", urls.len()),
        )
        .hint("Name fewer addresses"));
    }
    let mut seen = BTreeSet::new();
    urls.retain(|url| seen.insert(*url));
    if urls.is_empty() {
        return runtime()?.block_on(async {
            Ok(EndpointList { endpoints: scan(&ServerKind::ALL.map(ServerKind::port)).await })
        });
    }
    let name = request.key_name.trim().to_owned();
    let source = match request.key_place {
        KeyPlace::None => KeySource::None,
        KeyPlace::Env => KeySource::Env(name),
        KeyPlace::Keychain => KeySource::Keychain(name),
    };
    let key = keys::find(&source).map_err(|error| ApiError::new("key.missing", error.to_string()))?;
    let addresses = urls.into_iter().map(|url| (url.to_owned(), key.clone())).collect();
    let list = |url: String, key| async move { gateway::list_models(&url, key, PATIENCE).await };
    let endpoints = runtime()?.block_on(ask(addresses, list));
    Ok(EndpointList { endpoints: endpoints.into_iter().map(|(url, answer)| listed(url, answer)).collect() })
}

type Answer = Result<gateway::ModelList, UnusableEndpoint>;

/// Asks all addresses at once, each by `list`. Every address has an answer, in their order.
async fn ask<F>(
    addresses: Vec<(String, Option<Secret>)>,
    list: impl Fn(String, Option<Secret>) -> F,
) -> Vec<(String, Answer)>
where
    F: Future<Output = Answer> + Send + 'static,
{
    let pending: Vec<_> = addresses
        .into_iter()
        .map(|(url, key)| {
            let answer = tokio::spawn(list(url.clone(), key));
            (url, answer)
        })
        .collect();
    let mut answers = Vec::with_capacity(pending.len());
    for (url, answer) in pending {
        answers.push((url, answer.await.unwrap_or_else(|_| Err(unread()))));
    }
    answers
}

/// The program failed while it read the answer of an address.
fn unread() -> UnusableEndpoint {
    UnusableEndpoint {
        problem: EndpointProblem::Api,
        message: "The answer of this address cannot be read: Stamina Lab failed on it".to_owned(),
        hint: "Report this defect with the address and the lines on standard error.".to_owned(),
    }
}

/// What answers at ports of the loopback address as an endpoint does: with a list of models, or with a demand for a key.
async fn scan(ports: &[u16]) -> Vec<ListedEndpoint> {
    let addresses = ports.iter().map(|port| (format!("http://127.0.0.1:{port}"), None)).collect();
    let list = |url: String, key| async move { gateway::list_models(&url, key, LOCAL_PATIENCE).await };
    ask(addresses, list)
        .await
        .into_iter()
        .filter(|(_, answer)| answer.as_ref().err().is_none_or(|error| error.problem == EndpointProblem::Key))
        .map(|(url, answer)| listed(url, answer))
        .collect()
}

fn listed(base_url: String, answer: Answer) -> ListedEndpoint {
    let empty = ListedEndpoint { base_url, ..ListedEndpoint::default() };
    match answer {
        Err(error) => ListedEndpoint { problem: Some(error.to_string()), ..empty },
        Ok(list) => ListedEndpoint {
            server: list.server.map(|server| word(server).to_owned()),
            title: list.server.map(|server| server.name().to_owned()),
            models: list
                .models
                .into_iter()
                .map(|model| OfferedModel {
                    id: model.id,
                    context: model.context,
                    model_context: model.model_context,
                })
                .collect(),
            slots: list.slots,
            ..empty
        },
    }
}

const fn word(server: ServerKind) -> &'static str {
    match server {
        ServerKind::Ollama => "ollama",
        ServerKind::LlamaCpp => "llama_cpp",
        ServerKind::Vllm => "vllm",
        ServerKind::LmStudio => "lm_studio",
        ServerKind::Sglang => "sglang",
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// Answers every request alike, on a port of its own, as long as the test runs.
    fn stand_in(answer: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let Ok(connection) = connection else { continue };
                let mut reader = BufReader::new(connection);
                // The blank line ends the head of a request, and none here has a body.
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|bytes| bytes > 2) {
                    line.clear();
                }
                let _ = reader.get_mut().write_all(answer.as_bytes());
            }
        });
        port
    }

    #[test]
    // docs/security.md: The list of a model endpoint
    fn a_scan_lists_what_is_an_endpoint_and_nothing_else() {
        let models = stand_in(
            "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n\
             {\"object\":\"list\",\"data\":[{\"id\":\"m\",\"owned_by\":\"vllm\",\"max_model_len\":4096}]}",
        );
        let locked = stand_in("HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n{\"error\":\"key\"}");
        let page = stand_in("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<html>a page</html>");
        let moved =
            stand_in("HTTP/1.1 302 Found\r\nlocation: http://other.invalid/\r\nconnection: close\r\n\r\n");
        // Nobody listens on port 9.
        let found = runtime().unwrap().block_on(scan(&[9, page, moved, locked, models]));
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].base_url, format!("http://127.0.0.1:{locked}"));
        assert!(found[0].problem.as_deref().unwrap().contains("key") && found[0].models.is_empty());
        assert_eq!(found[1].server.as_deref(), Some("vllm"));
        assert_eq!((found[1].models[0].id.as_str(), found[1].models[0].context), ("m", Some(4096)));
    }

    #[test]
    fn every_address_that_was_named_has_an_answer() {
        let addresses: Vec<(String, Option<Secret>)> =
            ["a", "b", "c"].into_iter().map(|url| (url.to_owned(), None)).collect();
        let answers = runtime().unwrap().block_on(ask(addresses, |url, _| async move {
            assert_ne!(url, "b", "a defect, on purpose");
            Ok(gateway::ModelList { server: None, models: Vec::new(), slots: None })
        }));
        let found: Vec<ListedEndpoint> =
            answers.into_iter().map(|(url, answer)| listed(url, answer)).collect();
        let urls: Vec<&str> = found.iter().map(|endpoint| endpoint.base_url.as_str()).collect();
        assert_eq!(urls, ["a", "b", "c"]);
        assert!(found[0].problem.is_none() && found[2].problem.is_none());
        assert!(found[1].problem.as_deref().unwrap().contains("cannot be read"));
    }

    #[test]
    fn an_address_that_is_named_twice_is_asked_once() {
        let url =
            format!("http://127.0.0.1:{}", stand_in("HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n"));
        let urls = vec![url.clone(), format!(" {url} "), url.clone()];
        let found = list(&ListEndpoints { urls, ..ListEndpoints::default() }).unwrap().endpoints;
        assert_eq!(found.iter().map(|endpoint| &*endpoint.base_url).collect::<Vec<_>>(), [&*url]);
    }

    #[test]
    fn no_key_no_question() {
        let request = ListEndpoints {
            urls: vec!["http://127.0.0.1:9".to_owned()],
            key_place: KeyPlace::Env,
            key_name: "STAMINA_TEST_NO_SUCH_KEY".to_owned(),
        };
        let error = list(&request).unwrap_err();
        assert!(error.code == "key.missing" && error.message.contains("STAMINA_TEST_NO_SUCH_KEY"));
        let many =
            ListEndpoints { urls: vec!["http://127.0.0.1:9".to_owned(); 17], ..ListEndpoints::default() };
        assert_eq!(list(&many).unwrap_err().code, "endpoints.too_many");
    }
}
