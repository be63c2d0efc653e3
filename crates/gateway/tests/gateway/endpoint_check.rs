//! The check of an endpoint before a run.

use gateway::{EndpointProblem, Route, Secret, UnusableEndpoint, Upstream, UsableEndpoint, check_endpoint};

use crate::endpoint::{Act, Endpoint, REAL_KEY};
use crate::passing::CHAT;

fn upstream(base_url: String) -> Upstream {
    Upstream::Http { base_url, key: Some(Secret::new(REAL_KEY.to_owned())), model: None }
}

async fn check_acts(acts: Vec<Act>, route: Route) -> (Result<UsableEndpoint, UnusableEndpoint>, Endpoint) {
    let endpoint = Endpoint::start(acts).await;
    (check_endpoint(&upstream(endpoint.base_url()), route, "some-model").await, endpoint)
}

#[tokio::test]
async fn an_endpoint_that_answers_is_accepted() {
    let response = r#"{"output":[],"usage":{"input_tokens":3,"output_tokens":2}}"#;
    let message = r#"{"type":"message","content":[]}"#;
    for (route, body, usage) in [
        (Route::ChatCompletions, CHAT, true),
        (Route::Responses, response, true),
        (Route::Messages, message, false),
    ] {
        let (result, endpoint) = check_acts(vec![Act::json(200, body)], route).await;
        assert_eq!(result.unwrap().reports_usage, usage);
        let request = &endpoint.received()[0];
        assert_eq!(request.target, route.path());
        let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(body["model"], "some-model");
    }
    let renamed = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}"#;
    let (result, endpoint) =
        check_acts(vec![Act::json(400, renamed), Act::json(200, CHAT)], Route::ChatCompletions).await;
    assert!(result.is_ok() && endpoint.received().len() == 2);
}

#[tokio::test]
async fn problems_are_told_apart() {
    let error =
        |status: u16, text: &str| Act::json(status, &format!(r#"{{"error":{{"message":"{text}"}}}}"#));
    for (act, trouble) in [
        (error(401, "Incorrect API key"), EndpointProblem::Key),
        (error(402, "Insufficient balance"), EndpointProblem::Account),
        (error(429, "You exceeded your current quota"), EndpointProblem::Account),
        (error(429, "Rate limit reached"), EndpointProblem::Busy),
        (error(404, "The model `some-model` does not exist"), EndpointProblem::Model),
        (error(400, "Model Not Exist"), EndpointProblem::Model),
        (error(404, "Not Found"), EndpointProblem::Api),
        (error(503, "no capacity"), EndpointProblem::Fault),
        (error(418, "tea"), EndpointProblem::Request),
        (Act::json(200, "<html>welcome</html>"), EndpointProblem::Api),
        (Act::json(302, ""), EndpointProblem::Address),
    ] {
        let shown = format!("{act:?}");
        let (result, _endpoint) = check_acts(vec![act], Route::ChatCompletions).await;
        let error = result.unwrap_err();
        assert_eq!(error.problem, trouble, "{shown} {error}");
        assert!(error.message.contains("127.0.0.1") && !error.hint.is_empty(), "{error}");
    }
}

#[tokio::test]
async fn a_missing_endpoint_is_described() {
    let plain = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let long = "no-such-host".repeat(6);
    for (base_url, trouble, words) in [
        ("http://127.0.0.1:9".to_owned(), EndpointProblem::Refused, "refused"),
        (format!("https://{}", plain.address), EndpointProblem::Secure, "secure"),
        // Longer than a label of a name may be: no name server is asked.
        (format!("http://{long}.invalid"), EndpointProblem::Name, &long),
        ("api.example".to_owned(), EndpointProblem::Address, "http://"),
    ] {
        let error = check_endpoint(&upstream(base_url.clone()), Route::Messages, "m").await.unwrap_err();
        assert_eq!(error.problem, trouble, "{base_url}: {error}");
        assert!(error.to_string().contains(words), "{base_url}: {error}");
    }
}
