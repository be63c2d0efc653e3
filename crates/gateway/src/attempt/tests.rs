use model::Tokens;

use super::*;
use crate::ledger::cost;
use crate::oracle::{Ability, Oracle};
use crate::usage::Tally;
use crate::{Budget, Budgets, Price};

fn house(budgets: Budgets) -> Arc<House> {
    let backend = Backend::Oracle(Arc::new(Oracle::new(Ability::default())));
    let books = Books::new(budgets, None, Spent::default(), std::collections::BTreeMap::new());
    Arc::new(House::new(backend, Retry::default(), Blame::new(Vec::new()), Vec::new(), books, None))
}

fn key(turn: u32) -> AttemptKey {
    AttemptKey { episode: "scenario_0".to_owned(), turn, attempt: 1 }
}

fn open(house: &Arc<House>, turn: u32) -> Attempt {
    Attempt::new(Arc::clone(house), house.open(key(turn), None), &[])
}

#[tokio::test]
async fn attempts_that_come_and_go_leave_a_bounded_trace() {
    let house = house(Budgets::default());
    for turn in 0..(REMEMBERED as u32 + 1000) {
        let attempt = open(&house, turn);
        let guard =
            attempt.room.begin(&house, Kind::Free, "GET /v1/models".to_owned(), 0).expect("it is open");
        drop(guard);
        assert_eq!(house.sizes().0, 1);
        assert_eq!(attempt.close().records.len(), 1);
    }
    assert_eq!(house.sizes(), (0, REMEMBERED));
    assert_eq!(Arc::strong_count(&house), 1, "no request holds the gateway");
}

#[tokio::test]
async fn nothing_begins_after_the_end() {
    let house = house(Budgets::default());
    let attempt = open(&house, 1);
    let room = Arc::clone(&attempt.room);
    attempt.close();
    assert!(room.begin(&house, Kind::Free, String::new(), 0).is_none());
}

/// The clock is given, so this takes no time.
#[test]
fn the_shortest_budget_of_time_ends_an_attempt() {
    let seconds = |seconds| Budget { seconds: Some(seconds), ..Budget::default() };
    let budgets = Budgets { attempt: seconds(50), episode: seconds(80), run: seconds(100) };
    let mut books = Books::new(budgets, None, Spent::default(), std::collections::BTreeMap::new());
    let over = |scope| Some(Over::Budget { scope, of: "seconds".to_owned() });
    let left = |seconds, scope| Some((Duration::from_secs(seconds), scope));
    let mut now = Instant::now();
    let mut first = Ledger::default();
    assert_eq!(books.open(&mut first, "scenario_0", now), left(50, Scope::Attempt));
    now += Duration::from_millis(49_999);
    assert_eq!(books.over(Some(&first), "scenario_0", now), None);
    now += Duration::from_millis(1);
    assert_eq!(books.over(Some(&first), "scenario_0", now), over(Scope::Attempt));
    books.close(&mut first, "scenario_0", now);
    // Between attempts no budget runs down.
    now += Duration::from_mins(10);

    let mut second = Ledger::default();
    assert_eq!(books.open(&mut second, "scenario_0", now), left(30, Scope::Episode));
    // Another episode at the same time: the run's clock goes no faster.
    let mut beside = Ledger::default();
    assert_eq!(books.open(&mut beside, "scenario_1", now), left(50, Scope::Attempt));
    now += Duration::from_secs(30);
    assert_eq!(books.over(Some(&second), "scenario_0", now), over(Scope::Episode));
    assert_eq!(books.over(Some(&beside), "scenario_1", now), None);
    books.close(&mut second, "scenario_0", now);
    now += Duration::from_secs(20);
    assert_eq!(books.over(None, "scenario_2", now), over(Scope::Run));
    books.close(&mut beside, "scenario_1", now);
    now += Duration::from_hours(1);
    let spent = beside.spent(now, None);
    assert!((spent.seconds - 50.0).abs() < 1e-6, "{spent:?}");
    assert!((books.spent(now).seconds - 100.0).abs() < 1e-6);
}

#[test]
fn costs_follow_the_price() {
    let tokens = |input, cached, output| Tokens { input, cached, output };
    let price = Price { input: 3.0, cached: Some(0.3), cache_write: None, output: 15.0 };
    let cost = |price: Option<&Price>, tokens, written| cost(price, &Tally { tokens, written });
    let million = Some(1_000_000);
    assert_eq!(cost(Some(&price), tokens(million, None, million), None), Some(18.0));
    assert_eq!(cost(Some(&price), tokens(million, million, Some(0)), None), Some(0.3));
    assert_eq!(cost(Some(&price), tokens(million, None, Some(0)), million), Some(3.0));
    let writing = Price { cache_write: Some(3.75), ..price };
    assert_eq!(cost(Some(&writing), tokens(million, None, Some(0)), million), Some(3.75));
    // An endpoint that counts more cached tokens than tokens does not make money.
    assert_eq!(cost(Some(&price), tokens(Some(10), million, Some(0)), million), Some(3e-6));
    assert_eq!(cost(Some(&price), tokens(None, None, million), None), None);
    assert_eq!(cost(Some(&price), tokens(million, None, None), None), None);
    assert_eq!(cost(None, tokens(million, None, million), None), None);
}
