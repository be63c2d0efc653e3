use std::collections::BTreeMap;

use super::*;
use crate::accounts::Accounts;
use crate::fault_attribution::FaultAttribution;
use crate::in_flight::begin_request;
use crate::record::{AttemptKey, Scope};
use crate::recorder::Recorder;
use crate::request::RequestKind;
use crate::settings::{Budgets, Retry};
use crate::simulated_model::{Ability, SimulatedModel};
use crate::state::AttemptRegistry;
use crate::upstream::Backend;

fn gateway() -> Arc<GatewayState> {
    let accounts = Accounts::new(Budgets::default(), None, Spent::default(), BTreeMap::new());
    Arc::new(GatewayState {
        backend: Backend::Simulated(Arc::new(SimulatedModel::new(Ability::default()))),
        retry: Retry::default(),
        faults: FaultAttribution::new(Vec::new(), false),
        hosted_tools: false,
        hidden: Vec::new(),
        recorder: Recorder::new(accounts, None),
        attempts: AttemptRegistry::default(),
    })
}

fn key(turn: u32) -> AttemptKey {
    AttemptKey { episode: "scenario_0".to_owned(), turn, attempt: 1 }
}

fn open(gateway: &Arc<GatewayState>, turn: u32) -> Attempt {
    Attempt::new(Arc::clone(gateway), gateway.attempts.open(key(turn), None, None), &[])
}

#[tokio::test]
async fn closed_attempts_leave_a_bounded_trace() {
    let gateway = gateway();
    let most = AttemptRegistry::MOST_REMEMBERED;
    for turn in 0..(most as u32 + 1000) {
        let attempt = open(&gateway, turn);
        let route = "GET /v1/models".to_owned();
        let guard = begin_request(&gateway, &attempt.state, RequestKind::Free, route, 0).expect("it is open");
        drop(guard);
        assert_eq!(gateway.attempts.sizes().0, 1);
        assert_eq!(attempt.close().records.len(), 1);
    }
    assert_eq!(gateway.attempts.sizes(), (0, most));
    assert_eq!(Arc::strong_count(&gateway), 1, "no request keeps the gateway");
}

#[tokio::test]
async fn no_request_begins_after_the_close() {
    let gateway = gateway();
    let attempt = open(&gateway, 1);
    let state = Arc::clone(&attempt.state);
    attempt.close();
    assert!(begin_request(&gateway, &state, RequestKind::Free, String::new(), 0).is_none());
}

#[tokio::test]
async fn a_budget_of_time_stops_an_attempt_at_its_deadline() {
    let gateway = gateway();
    let open = |left| Attempt::new(Arc::clone(&gateway), gateway.attempts.open(key(1), None, left), &[]);
    assert_eq!(open(None).stop_reason(), None);
    assert_eq!(open(Some((Duration::from_hours(1), Scope::Run))).stop_reason(), None);
    let late = open(Some((Duration::ZERO, Scope::Episode)));
    let spent = StopReason::Budget { scope: Scope::Episode, limit: "seconds".to_owned() };
    assert_eq!(late.stop_reason(), Some(spent), "also where nobody waits for it");
}
