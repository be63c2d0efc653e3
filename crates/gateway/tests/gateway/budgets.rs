//! Budgets, and what goes on over a resume.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gateway::{Attempt, AttemptKey, Budget, Budgets, Gateway, GatewayError, Over, Scope, Settings, Spent};
use model::Tokens;

use crate::endpoint::{Act, Endpoint, attempt, gateway, post};
use crate::passing::CHAT;

const PATH: &str = "/v1/chat/completions";

/// A gateway whose endpoint tells 1,050 tokens and 0.00056 dollars for each request.
async fn house(budgets: Budgets, change: impl FnOnce(&mut Settings)) -> (Gateway, Endpoint) {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let mut settings = endpoint.settings();
    settings.budgets = budgets;
    change(&mut settings);
    (gateway(settings).await, endpoint)
}

fn tokens(most: u64) -> Budget {
    Budget { tokens: Some(most), ..Budget::default() }
}

/// Asks until it is refused; how often it was answered, and by which budget it was refused.
async fn drained(attempt: &Attempt) -> (u32, Over) {
    for answered in 0..50 {
        let answer = post(attempt, PATH, "{}").await;
        if answer.status() == 403 {
            let text = answer.text().await.unwrap();
            assert!(text.contains("budget"), "{text}");
            return (answered, attempt.over().await);
        }
        assert_eq!(answer.status(), 200);
    }
    panic!("no budget holds");
}

fn spent_on(scope: Scope, of: &str) -> Over {
    Over::Budget { scope, of: of.to_owned() }
}

fn key(episode: &str, turn: u32) -> AttemptKey {
    AttemptKey { episode: episode.to_owned(), turn, attempt: 1 }
}

#[tokio::test]
async fn at_most_one_request_goes_over() {
    let budgets = Budgets { attempt: tokens(2000), ..Budgets::default() };
    let (gateway, endpoint) = house(budgets, |_| ()).await;
    let first = gateway.open(attempt(1), None);
    assert_eq!(drained(&first).await, (2, spent_on(Scope::Attempt, "tokens")));
    let seen = first.close();
    assert_eq!((seen.over, seen.spent.requests), (Some(spent_on(Scope::Attempt, "tokens")), 2));
    assert_eq!(endpoint.got().len(), 2);
    // The next attempt has a budget of its own.
    assert_eq!(gateway.over("scenario_1"), None);
    assert_eq!(drained(&gateway.open(attempt(2), None)).await.0, 2);
}

#[tokio::test]
async fn budgets_of_episode_and_run_hold_over_attempts() {
    let budgets = Budgets { episode: tokens(3000), run: tokens(5000), ..Budgets::default() };
    let (gateway, _endpoint) = house(budgets, |_| ()).await;
    let first = gateway.open(key("scenario_1", 1), None);
    post(&first, PATH, "{}").await;
    first.close();
    let second = gateway.open(key("scenario_1", 2), None);
    assert_eq!(drained(&second).await, (2, spent_on(Scope::Episode, "tokens")));
    second.close();
    assert_eq!(gateway.over("scenario_1"), Some(spent_on(Scope::Episode, "tokens")));
    assert_eq!(gateway.over("scenario_2"), None);
    let other = gateway.open(key("scenario_2", 1), None);
    assert_eq!(drained(&other).await, (2, spent_on(Scope::Run, "tokens")));
    assert_eq!(gateway.over("scenario_3"), Some(spent_on(Scope::Run, "tokens")));
    assert_eq!(gateway.spent().requests, 5);
    assert_eq!(gateway.spent_of("scenario_2").requests, 2);
}

#[tokio::test]
async fn money_is_watched() {
    let budgets = Budgets { run: Budget { usd: Some(0.001), ..Budget::default() }, ..Budgets::default() };
    let (gateway, _endpoint) = house(budgets, |_| ()).await;
    assert_eq!(drained(&gateway.open(attempt(1), None)).await, (2, spent_on(Scope::Run, "usd")));
    let cost = gateway.spent().cost_usd.unwrap();
    assert!((cost - 2.0 * 0.00056).abs() < 1e-12, "{cost}");
}

#[tokio::test]
async fn money_can_not_be_watched_without_a_price() {
    let endpoint = Endpoint::start(vec![Act::json(200, CHAT)]).await;
    let mut settings = endpoint.settings();
    settings.price = None;
    settings.budgets.episode.usd = Some(1.0);
    let error = Gateway::start(&[], settings).await.unwrap_err();
    assert!(matches!(error, GatewayError::Settings { .. }));
    assert!(error.to_string().contains("price"), "{error}");
}

#[tokio::test]
async fn time_is_over_when_its_time_has_come_also_without_a_request() {
    let budgets = Budgets { attempt: Budget { seconds: Some(1), ..Budget::default() }, ..Budgets::default() };
    let (gateway, _endpoint) = house(budgets, |_| ()).await;
    // Before it is opened, which is when its time begins.
    let started = Instant::now();
    let attempt = gateway.open(attempt(1), None);
    assert_eq!(attempt.over().await, spent_on(Scope::Attempt, "seconds"));
    assert!((1.0..10.0).contains(&started.elapsed().as_secs_f64()), "{:?}", started.elapsed());
    assert_eq!(post(&attempt, PATH, "{}").await.status(), 403);
}

#[tokio::test]
async fn a_resumed_run_goes_on_with_what_was_spent() {
    let earlier = Spent {
        requests: 4,
        tokens: Tokens { input: Some(3000), cached: None, output: Some(900) },
        cost_usd: Some(0.5),
        seconds: 100.0,
        ..Spent::default()
    };
    let budgets = Budgets { episode: tokens(3500), run: tokens(5000), ..Budgets::default() };
    let (gateway, _endpoint) = house(budgets, |settings| {
        settings.spent = earlier;
        settings.episodes = BTreeMap::from([("scenario_1".to_owned(), earlier)]);
    })
    .await;
    assert_eq!(gateway.over("scenario_1"), Some(spent_on(Scope::Episode, "tokens")));
    assert_eq!(drained(&gateway.open(key("scenario_1", 9), None)).await.0, 0);
    assert_eq!(drained(&gateway.open(key("scenario_2", 1), None)).await, (2, spent_on(Scope::Run, "tokens")));
    let spent = gateway.spent();
    assert_eq!((spent.requests, spent.tokens.input), (6, Some(5000)));
    assert!((spent.cost_usd.unwrap() - 0.50112).abs() < 1e-9);
    assert!(spent.seconds >= 100.0);
}

/// A budget holds also where the endpoint tells no usage, or the agent hangs up before it does.
#[tokio::test]
async fn answers_without_usage_do_not_make_a_budget_void() {
    let endpoint =
        Endpoint::start(vec![Act::json(200, &format!(r#"{{"choices":[],"x":"{}"}}"#, "y".repeat(4000)))])
            .await;
    let mut settings = endpoint.settings();
    settings.budgets.attempt.tokens = Some(3000);
    let gateway = gateway(settings).await;
    let attempt = gateway.open(attempt(1), None);
    let (answered, over) = drained(&attempt).await;
    assert_eq!((answered, over), (3, spent_on(Scope::Attempt, "tokens")));
    // The guess is not shown.
    assert!(attempt.close().spent.tokens.is_unknown());
}

#[tokio::test]
async fn requests_at_the_same_time_are_all_counted() {
    let (gateway, endpoint) = house(Budgets::default(), |_| ()).await;
    let attempts: Vec<Attempt> =
        (1..=4).map(|n| gateway.open(key(&format!("scenario_{n}"), 1), None)).collect();
    let asked = attempts.iter().flat_map(|attempt| (0..25).map(move |_| post(attempt, PATH, "{}")));
    for answer in futures_util::future::join_all(asked).await {
        assert_eq!(answer.status(), 200);
    }
    assert_eq!(endpoint.got().len(), 100);
    for attempt in attempts {
        let seen = attempt.close();
        assert_eq!(
            (seen.spent.requests, seen.spent.tokens.input, seen.records.len()),
            (25, Some(25_000), 25)
        );
    }
    let spent = gateway.spent();
    assert_eq!((spent.requests, spent.tokens.output), (100, Some(5000)));
    assert!((spent.cost_usd.unwrap() - 0.056).abs() < 1e-9);
}

/// Attempts at the same time count once: it is the time of a clock on the wall.
#[tokio::test]
async fn seconds_are_those_in_which_an_attempt_was_open() {
    let (gateway, _endpoint) = house(Budgets::default(), |_| ()).await;
    let open: Vec<Attempt> = (1..=10).map(|turn| gateway.open(attempt(turn), None)).collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let each: f64 = open.into_iter().map(|attempt| attempt.close().spent.seconds).sum();
    let all = gateway.spent().seconds;
    assert!(all >= 0.1 && each > all * 5.0, "{all} {each}");
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert!((gateway.spent().seconds - all).abs() < 1e-9, "nothing is open");
}
