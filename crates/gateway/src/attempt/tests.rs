use model::Tokens;

use super::*;
use crate::ledger::cost;
use crate::oracle::{Ability, Oracle};
use crate::usage::Tally;
use crate::{Budget, Budgets, Price};

fn house(budgets: Budgets) -> Arc<House> {
    let backend = Backend::Oracle(Arc::new(Oracle::new(Ability::default())));
    let books = Books::new(budgets, None, Spent::default(), std::collections::BTreeMap::new());
    let accounts = (Arc::new(Mutex::new(books)), Arc::default());
    let blame = Blame::new(Vec::new());
    Arc::new(House::new(backend, Retry::default(), blame, false, Vec::new(), accounts, None))
}

fn key(turn: u32) -> AttemptKey {
    AttemptKey { episode: "scenario_0".to_owned(), turn, attempt: 1 }
}

fn open(house: &Arc<House>, turn: u32) -> Attempt {
    Attempt::new(Arc::clone(house), house.open(key(turn), None, None), &[])
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

#[tokio::test]
async fn a_budget_of_time_ends_an_attempt_when_its_time_has_come() {
    let house = house(Budgets::default());
    let open = |left| Attempt::new(Arc::clone(&house), house.open(key(1), None, left), &[]);
    assert_eq!(open(None).over_now(), None);
    assert_eq!(open(Some((Duration::from_hours(1), Scope::Run))).over_now(), None);
    let late = open(Some((Duration::ZERO, Scope::Episode)));
    let over = Over::Budget { scope: Scope::Episode, of: "seconds".to_owned() };
    assert_eq!(late.over_now(), Some(over), "also where nobody waits for it");
}

/// What requests on their way may come to is held, so that not all of them find the same rest of a budget.
#[test]
fn requests_on_their_way_are_counted_before_they_have_ended() {
    let tokens = |tokens| Budget { tokens: Some(tokens), ..Budget::default() };
    let budgets = Budgets { run: tokens(1000), ..Budgets::default() };
    let mut books = Books::new(budgets, None, Spent::default(), std::collections::BTreeMap::new());
    let most = Guess { tokens: 600, usd: 0.0 };
    let (mut one, mut two, mut three) = (Ledger::default(), Ledger::default(), Ledger::default());
    assert!(books.hold(&mut one, "scenario_0", most, false));
    assert!(books.hold(&mut two, "scenario_1", most, false));
    assert!(!books.hold(&mut three, "scenario_2", most, false), "1,200 may be spent already");
    assert_eq!(books.over(None, "scenario_2"), None, "and are not");
    books.release(&mut one, "scenario_0", most);
    assert!(books.hold(&mut three, "scenario_2", Guess { tokens: 5000, usd: 0.0 }, false), "one may go over");
    books.release(&mut two, "scenario_1", most);
    assert!(!books.hold(&mut one, "scenario_0", most, false));
    assert!(books.hold(&mut one, "scenario_0", most, true), "nobody waits for ever");
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
