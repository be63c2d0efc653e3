//! Costs, rates and steps of which a part is unknown.

use workbench::api::{CompareRequest, ComparedMember, FigureSubject, Measure};

use crate::groups::{FAILED, PASSED, Try, given, library};
use crate::library::members;

const UNKNOWN: Try = Try { cost: None, tokens: None, calls: None, steps: None, ..PASSED };

fn spent(turns: &[&[&[Try]]]) -> (ComparedMember, String) {
    let (_folder, library) = library(&[given("a", "h", "x", turns)]);
    let cases_request = CompareRequest { members: members(&["lab.a"]), ..CompareRequest::default() };
    let comparison = library.workbench.compare_runs(cases_request.clone()).unwrap();
    let figure = FigureSubject::Bars { request: cases_request, measure: Measure::Steps, published: false };
    let caption = figures::caption(&library.workbench.print_spec(&figure, "icml", None, false).unwrap());
    (comparison.members.into_iter().next().unwrap(), caption)
}

#[test]
fn a_cost_of_which_a_part_is_unknown_is_unknown() {
    let idle = Try { cost: None, tokens: Some(0), calls: Some(0), steps: Some(0), ..FAILED };
    // Of the first scenario an attempt does not say what it cost; one of the second asked no model.
    let (member, _) = spent(&[&[&[FAILED, UNKNOWN], &[PASSED], &[FAILED]], &[&[idle, PASSED], &[FAILED]]]);
    let spent = &member.spent;
    assert_eq!((spent.cost_usd, spent.cost_known), (Some(2.0), 1));
    assert_eq!((spent.cost_per_episode, spent.cost_per_survived_turn), (None, None));
    assert!(!spent.no_turn_survived);
    // Turns 2 and 3 of the first, 1 and 2 of the second: 1 + 1 + (0 + 1) + 1 dollars.
    assert_eq!((spent.cost_per_turn, spent.cost_per_turn_known.turns), (Some(1.0), 4));
    let (member, _) = spent_of_all_known();
    assert_eq!((member.spent.cost_usd, member.spent.cost_per_survived_turn), (Some(2.0), Some(2.0)));
}

fn spent_of_all_known() -> (ComparedMember, String) {
    spent(&[&[&[PASSED], &[FAILED]]])
}

#[test]
fn a_rate_is_over_the_turns_that_say_the_number() {
    let (member, caption) = spent(&[&[&[PASSED], &[UNKNOWN], &[FAILED]], &[&[UNKNOWN], &[UNKNOWN]]]);
    let spent = &member.spent;
    assert_eq!((spent.turns_played, spent.steps_known.turns, spent.steps_known.episodes), (5, 2, 1));
    assert_eq!((spent.steps_per_turn, spent.tokens_per_turn), (Some(3.0), Some(20.0)));
    assert!(
        caption.contains("for 2 of 5 turns"),
        "the caption counts the turns that say it, as the table does: {caption}"
    );
}

#[test]
fn where_no_turn_was_survived_money_bought_none() {
    let (member, _) = spent(&[&[&[FAILED]]]);
    assert!(member.spent.no_turn_survived && member.spent.cost_per_survived_turn.is_none());
    let (member, _) = spent(&[&[&[Try { cost: None, ..FAILED }]]]);
    assert!(!member.spent.no_turn_survived, "what it cost is unknown");
}

#[test]
fn steps_survived_are_those_of_the_turns_that_count_for_stamina() {
    // Two steps an attempt: turn 1 in two attempts, turn 2 in one; what came at turn 3 and later buys no stamina.
    let counted: &[&[&[Try]]] = &[&[&[FAILED, PASSED], &[PASSED], &[FAILED], &[PASSED]]];
    let (member, _) = spent(counted);
    let used = &member.spent;
    assert_eq!((used.steps_survived, used.steps_survived_known), (Some(9.0), 1));
    assert_eq!((used.steps_per_turn, used.tool_calls_per_turn), (Some(15.0 / 4.0), Some(2.5)));
    let unknown: &[&[&[Try]]] = &[&[&[UNKNOWN], &[FAILED]]];
    let (member, _) = spent(unknown);
    assert_eq!((member.spent.steps_survived, member.spent.steps_survived_known), (None, 0));
}
