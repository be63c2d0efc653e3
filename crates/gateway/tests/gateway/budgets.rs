//! Budgets, also across a resume.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gateway::{
    Attempt, AttemptKey, Budget, Budgets, Gateway, GatewayError, Price, Scope, Settings, Spent, StopReason,
};
use model::Tokens;

use crate::endpoint::{Act, End, Endpoint, attempt, post, start_gateway};
use crate::kept::KeptIfFailed;
use crate::passing::{CHAT, CHAT_EVENTS};

const PATH: &str = "/v1/chat/completions";

/// A gateway whose endpoint reports 1,050 tokens and 0.00056 dollars for each request.
async fn start_with_budgets(budgets: Budgets, change: impl FnOnce(&mut Settings)) -> (Gateway, Endpoint) {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let mut settings = endpoint.settings();
    settings.budgets = budgets;
    change(&mut settings);
    (start_gateway(settings).await, endpoint)
}

fn tokens(most: u64) -> Budget {
    Budget { tokens: Some(most), ..Budget::default() }
}

/// Sends requests until one is refused. Returns how many were answered, and the spent budget.
async fn drained(attempt: &Attempt) -> (u32, StopReason) {
    for answered in 0..50 {
        let answer = post(attempt, PATH, "{}").await;
        if answer.status() == 403 {
            let text = answer.text().await.unwrap();
            assert!(text.contains("budget"), "{text}");
            return (answered, attempt.stopped().await);
        }
        assert_eq!(answer.status(), 200);
    }
    panic!("no budget holds");
}

fn spent_on(scope: Scope, limit: &str) -> StopReason {
    StopReason::Budget { scope, limit: limit.to_owned() }
}

fn key(episode: &str, turn: u32) -> AttemptKey {
    AttemptKey { episode: episode.to_owned(), turn, attempt: 1 }
}

#[tokio::test]
async fn at_most_one_request_exceeds_a_budget() {
    let budgets = Budgets { attempt: tokens(2000), ..Budgets::default() };
    let (gateway, endpoint) = start_with_budgets(budgets, |_| ()).await;
    let first = gateway.open(attempt(1), None);
    assert_eq!(drained(&first).await, (2, spent_on(Scope::Attempt, "tokens")));
    let summary = first.close();
    assert_eq!((summary.stop_reason, summary.spent.requests), (Some(spent_on(Scope::Attempt, "tokens")), 2));
    assert_eq!(endpoint.received().len(), 2);
    // The next attempt has a budget of its own.
    assert_eq!(gateway.spent_budget("scenario_1"), None);
    assert_eq!(drained(&gateway.open(attempt(2), None)).await.0, 2);
}

#[tokio::test]
async fn budgets_of_episode_and_run_hold_across_attempts() {
    let budgets = Budgets { episode: tokens(3000), run: tokens(5000), ..Budgets::default() };
    let (gateway, _endpoint) = start_with_budgets(budgets, |_| ()).await;
    let first = gateway.open(key("scenario_1", 1), None);
    post(&first, PATH, "{}").await;
    first.close();
    let second = gateway.open(key("scenario_1", 2), None);
    assert_eq!(drained(&second).await, (2, spent_on(Scope::Episode, "tokens")));
    second.close();
    assert_eq!(gateway.spent_budget("scenario_1"), Some(spent_on(Scope::Episode, "tokens")));
    assert_eq!(gateway.spent_budget("scenario_2"), None);
    let other = gateway.open(key("scenario_2", 1), None);
    assert_eq!(drained(&other).await, (2, spent_on(Scope::Run, "tokens")));
    assert_eq!(gateway.spent_budget("scenario_3"), Some(spent_on(Scope::Run, "tokens")));
    assert_eq!(gateway.spent().requests, 5);
    assert_eq!(gateway.episode_spent("scenario_2").requests, 2);
}

#[tokio::test]
async fn money_is_watched() {
    let budgets = Budgets { run: Budget { usd: Some(0.001), ..Budget::default() }, ..Budgets::default() };
    let (gateway, _endpoint) = start_with_budgets(budgets, |_| ()).await;
    assert_eq!(drained(&gateway.open(attempt(1), None)).await, (2, spent_on(Scope::Run, "usd")));
    let cost = gateway.spent().cost_usd.unwrap();
    assert!((cost - 2.0 * 0.00056).abs() < 1e-12, "{cost}");
}

#[tokio::test]
async fn a_machine_costs_by_the_time_in_which_it_works_and_its_budget_holds() {
    const GAP: Duration = Duration::from_millis(20);
    let pieces = |text: &str| Act::Pieces {
        kind: "text/event-stream",
        pieces: text.split_inclusive("\n\n").map(|piece| piece.to_owned().into()).collect(),
        gap: GAP,
        end: End::Whole,
    };
    let without_usage: String =
        CHAT_EVENTS.split_inclusive("\n\n").filter(|event| !event.contains("\"usage\":{")).collect();
    let endpoint = Endpoint::start(vec![pieces(CHAT_EVENTS), pieces(&without_usage)]).await;
    let folder = KeptIfFailed::new();
    let log = folder.path().join("gateway.jsonl");
    let mut settings = endpoint.settings();
    // A dollar a second.
    settings.price = Some(Price::per_machine_hour(3600.0));
    settings.budgets.run.usd = Some(1e-9);
    settings.budgets.attempt.tokens = Some(1_000_000);
    settings.log = Some(log.clone());
    for (usage, unmetered) in [("told", 0), ("not told", 1)] {
        let gateway = start_gateway(settings.clone()).await;
        let attempt = gateway.open(attempt(1), None);
        let body = r#"{"stream":true,"stream_options":{"include_usage":true}}"#;
        assert!(post(&attempt, PATH, body).await.text().await.unwrap().contains("[DONE]"));
        assert_eq!(drained(&attempt).await, (0, spent_on(Scope::Run, "usd")), "usage {usage}");
        let summary = attempt.close();
        let record = &summary.records[0];
        let usd = record.cost_usd.expect("time is known without usage");
        assert!((3.0 * GAP.as_secs_f64()..=record.seconds).contains(&usd), "{usd} of {} s", record.seconds);
        assert_eq!(
            (summary.spent.cost_usd, summary.spent.unmetered),
            (Some(usd), unmetered),
            "usage {usage}"
        );
    }
    let counted = gateway::read_totals(&log).unwrap().run;
    assert!(counted.cost_usd.unwrap() >= 6.0 * GAP.as_secs_f64(), "{counted:?}");
}

/// A machine has worked on it, whatever came of that.
#[tokio::test]
async fn a_request_that_fails_for_good_costs_the_time_of_the_machine() {
    let folder = KeptIfFailed::new();
    let log = folder.path().join("gateway.jsonl");
    let endpoint = Endpoint::start(vec![Act::json(400, r#"{"error":{"message":"unknown field"}}"#)]).await;
    let mut settings = endpoint.settings();
    // A dollar a second.
    settings.price = Some(Price::per_machine_hour(3600.0));
    settings.log = Some(log.clone());
    let gateway = start_gateway(settings).await;
    let attempt = gateway.open(attempt(1), None);
    assert_eq!(post(&attempt, PATH, "{}").await.status(), 400);
    let summary = attempt.close();
    let record = &summary.records[0];
    let usd = record.cost_usd.expect("time is known of a request that failed");
    assert!(usd > 0.0 && usd <= record.seconds, "{usd} of {} s", record.seconds);
    assert_eq!((summary.spent.cost_usd, summary.spent.requests), (Some(usd), 0));
    let spent = gateway.spent();
    drop(gateway);
    let counted = gateway::read_totals(&log).unwrap().run;
    assert!((counted.known_usd - spent.known_usd).abs() < 1e-9, "{counted:?} {spent:?}");
    assert!(counted.known_usd >= usd && counted.requests == 0, "{counted:?}");
}

#[tokio::test]
async fn a_budget_of_money_needs_a_price() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let mut settings = endpoint.settings();
    settings.price = None;
    settings.budgets.episode.usd = Some(1.0);
    let error = Gateway::start(&[], settings).await.unwrap_err();
    assert!(matches!(error, GatewayError::Settings { .. }));
    assert!(error.to_string().contains("price"), "{error}");
}

#[tokio::test]
async fn a_budget_of_time_ends_at_its_deadline_without_a_request() {
    let (gateway, _endpoint) = start_with_budgets(Budgets::default(), |_| ()).await;
    // Before the attempt is opened, which starts its clock.
    let started = Instant::now();
    let attempt = gateway.open_for(attempt(1), None, Some((Duration::from_secs(1), Scope::Run)));
    assert_eq!(attempt.stopped().await, spent_on(Scope::Run, "seconds"));
    assert!((1.0..60.0).contains(&started.elapsed().as_secs_f64()), "{:?}", started.elapsed());
    assert_eq!(post(&attempt, PATH, "{}").await.status(), 403);
}

/// Twenty episodes send requests at once. They do not all find the same rest of a budget: the most that a request may cost is
/// reserved while it is in flight, so only one exceeds the budget.
#[tokio::test]
async fn concurrent_requests_do_not_exceed_a_budget_together() {
    let money = Budget { usd: Some(0.0016), ..Budget::default() };
    for run in [tokens(3000), money] {
        let (gateway, endpoint) = start_with_budgets(Budgets { run, ..Budgets::default() }, |_| ()).await;
        let attempts: Vec<Attempt> =
            (1..=20).map(|n| gateway.open(key(&format!("scenario_{n}"), 1), None)).collect();
        // About the 1,050 tokens that each of them costs.
        let body = format!(r#"{{"max_tokens":50,"x":"{}"}}"#, "y".repeat(4000));
        let requests = attempts.iter().map(|attempt| post(attempt, PATH, body.clone()));
        let answers = futures_util::future::join_all(requests).await;
        assert!(answers.iter().all(|answer| matches!(answer.status().as_u16(), 200 | 403)));
        assert_eq!((endpoint.received().len(), gateway.spent().requests), (3, 3), "{run:?}");
    }
}

/// A gateway is replaced after an outage of the engine, while requests are in flight in the old one.
#[tokio::test]
async fn a_successor_counts_requests_that_finish_in_its_predecessor() {
    let (old, endpoint) =
        start_with_budgets(Budgets { run: tokens(2000), ..Budgets::default() }, |_| ()).await;
    let open = old.open(key("scenario_1", 1), None);
    post(&open, PATH, "{}").await;
    let mut settings = endpoint.settings();
    settings.budgets = Budgets { run: tokens(2000), ..Budgets::default() };
    let new = old.successor(&["127.0.0.1:0".parse().unwrap()], settings).await.unwrap();
    post(&open, PATH, "{}").await;
    drop((open, old));
    assert_eq!((new.spent().requests, new.episode_spent("scenario_1").requests), (2, 2));
    assert_eq!(new.spent_budget("scenario_2"), Some(spent_on(Scope::Run, "tokens")));
}

#[tokio::test]
async fn a_resumed_run_continues_its_accounts() {
    let earlier = Spent {
        requests: 4,
        tokens: Tokens { input: Some(3000), cached: None, output: Some(900) },
        cost_usd: Some(0.5),
        seconds: 100.0,
        ..Spent::default()
    };
    let budgets = Budgets { episode: tokens(3500), run: tokens(5000), ..Budgets::default() };
    let (gateway, _endpoint) = start_with_budgets(budgets, |settings| {
        settings.spent = earlier;
        settings.episodes = BTreeMap::from([("scenario_1".to_owned(), earlier)]);
    })
    .await;
    assert_eq!(gateway.spent_budget("scenario_1"), Some(spent_on(Scope::Episode, "tokens")));
    assert_eq!(drained(&gateway.open(key("scenario_1", 9), None)).await.0, 0);
    assert_eq!(drained(&gateway.open(key("scenario_2", 1), None)).await, (2, spent_on(Scope::Run, "tokens")));
    let spent = gateway.spent();
    assert_eq!((spent.requests, spent.tokens.input), (6, Some(5000)));
    assert!((spent.cost_usd.unwrap() - 0.50112).abs() < 1e-9);
    assert!((spent.seconds - 100.0).abs() < 1e-9, "{spent:?}");
}

/// A budget also holds where the endpoint reports no usage, or the agent hangs up first.
#[tokio::test]
async fn a_budget_holds_without_usage() {
    // A thousand tokens of output, at four bytes each.
    let long = format!(r#"{{"choices":[{{"message":{{"content":"{}"}}}}]}}"#, "y".repeat(4000));
    let endpoint = Endpoint::start(vec![Act::json(200, &long)]).await;
    let mut settings = endpoint.settings();
    settings.budgets.attempt.tokens = Some(3000);
    let gateway = start_gateway(settings).await;
    let attempt = gateway.open(attempt(1), None);
    let (answered, refused) = drained(&attempt).await;
    assert_eq!((answered, refused), (3, spent_on(Scope::Attempt, "tokens")));
    // The guess is not shown.
    assert!(attempt.close().spent.tokens.is_unknown());
}

#[tokio::test]
async fn concurrent_requests_are_all_counted() {
    let (gateway, endpoint) = start_with_budgets(Budgets::default(), |_| ()).await;
    let attempts: Vec<Attempt> =
        (1..=4).map(|n| gateway.open(key(&format!("scenario_{n}"), 1), None)).collect();
    let requests = attempts.iter().flat_map(|attempt| (0..25).map(move |_| post(attempt, PATH, "{}")));
    for answer in futures_util::future::join_all(requests).await {
        assert_eq!(answer.status(), 200);
    }
    assert_eq!(endpoint.received().len(), 100);
    for attempt in attempts {
        let summary = attempt.close();
        assert_eq!(
            (summary.spent.requests, summary.spent.tokens.input, summary.records.len()),
            (25, Some(25_000), 25)
        );
    }
    let spent = gateway.spent();
    assert_eq!((spent.requests, spent.tokens.output), (100, Some(5000)));
    assert!((spent.cost_usd.unwrap() - 0.056).abs() < 1e-9);
}

/// The caller keeps the clocks of episode and run. The clock of an attempt runs while it is open.
#[tokio::test]
async fn the_clock_of_an_attempt_runs_while_it_is_open() {
    let (gateway, _endpoint) = start_with_budgets(Budgets::default(), |_| ()).await;
    let before = Instant::now();
    let open = gateway.open(attempt(1), None);
    tokio::time::sleep(Duration::from_millis(50)).await;
    let seconds = open.close().spent.seconds;
    assert!((0.05..=before.elapsed().as_secs_f64()).contains(&seconds), "{seconds}");
    assert_eq!((open.spent().seconds, gateway.spent().seconds), (seconds, 0.0));
}
