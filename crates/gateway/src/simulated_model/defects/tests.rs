use std::ops::ControlFlow;

use scenario::change::Change;
use scenario::reference::World;
use scenario::sample::{ProgrammaticSampler, Sampler as _};
use validation::client::{CaseStatus, run_in_process};

use super::super::{FaultInjection, Feedback};
use super::*;

/// (schema, changes) of the first turns of a scenario.
fn turns(scenario: u32, count: usize) -> Arc<Vec<(Arc<Schema>, Vec<Change>)>> {
    let seed = Seed { base: 11, scenario };
    let mut turns =
        vec![(Arc::new(ProgrammaticSampler.first_schema(seed).expect("a schema").value), Vec::new())];
    while turns.len() < count {
        let mut schema = next_turn(&turns[turns.len() - 1].0);
        let changes =
            ProgrammaticSampler.next_turn(seed, &turns[turns.len() - 1].0, 4).expect("changes").value.changes;
        for change in &changes {
            schema = apply(&schema, change).expect("it fits");
        }
        turns.push((Arc::new(schema), changes));
    }
    Arc::new(turns)
}

fn task(turns: &Arc<Vec<(Arc<Schema>, Vec<Change>)>>, turn: u32, attempt: u32, before: &[u32]) -> Task {
    Task {
        scenario: 0,
        turn,
        attempt,
        turns: Arc::clone(turns),
        attempts_before: before.to_vec(),
        feedback: Feedback::Detailed,
        solution: None,
    }
}

/// Whether a share of so many trials is far from a chance: more than five standard deviations.
fn is_far(count: usize, trials: usize, chance: f64) -> bool {
    let expected = trials as f64 * chance;
    (count as f64 - expected).abs() > 5.0 * (expected * (1.0 - chance)).sqrt()
}

#[test]
fn a_server_without_defects_is_the_reference() {
    let turns = turns(0, 3);
    for turn in 1..=3 {
        let schema = schema(&Ability::default(), &task(&turns, turn, 1, &[])).expect("there is one");
        assert!(Arc::ptr_eq(&schema, &turns[turn as usize - 1].0));
    }
    assert_eq!(schema(&Ability::default(), &task(&turns, 4, 1, &[])), None);
}

#[test]
fn defects_follow_their_rates() {
    let turns = turns(0, 1);
    let ability = Ability { defect_rate: 0.3, most_defects: 3, repair: 0.6, ..Ability::default() };
    let (mut defective_tasks, mut counts, mut all, mut left) = (0, [0; 4], 0, [0, 0]);
    let scenarios = 1000;
    for scenario in 0..scenarios {
        let defects_at = |attempt| defects(&ability, &Task { scenario, ..task(&turns, 1, attempt, &[]) });
        let first = defects_at(1);
        defective_tasks += usize::from(!first.is_empty());
        counts[first.len()] += 1;
        all += first.len();
        let (second, third) = (defects_at(2), defects_at(3));
        assert!(second.iter().all(|defect| first.contains(defect)));
        assert!(third.iter().all(|defect| second.contains(defect)));
        left[0] += second.len();
        left[1] += third.len();
    }
    assert!(!is_far(defective_tasks, scenarios as usize, 0.3), "{defective_tasks}");
    assert!(counts[1..].iter().all(|&count| !is_far(count, defective_tasks, 1.0 / 3.0)), "{counts:?}");
    assert!(!is_far(left[0], all, 0.4) && !is_far(left[1], all, 0.16), "{all}, then {left:?}");
}

#[test]
fn repair_keeps_every_defect_at_0_and_none_at_1() {
    let turns = turns(0, 1);
    for scenario in 0..50 {
        let defects_at = |repair, attempt| {
            let ability = Ability { defect_rate: 1.0, repair, ..Ability::default() };
            defects(&ability, &Task { scenario, ..task(&turns, 1, attempt, &[]) })
        };
        assert!(!defects_at(0.0, 1).is_empty());
        assert_eq!(defects_at(0.0, 1), defects_at(0.0, 9));
        assert_eq!(defects_at(1.0, 2), []);
    }
}

/// Feedback that says nothing repairs nothing, and what says more repairs more, the same and further defects.
#[test]
fn more_feedback_repairs_more() {
    let turns = turns(0, 1);
    let ability = Ability { defect_rate: 1.0, repair: 0.9, ..Ability::default() };
    let kinds = [Feedback::None, Feedback::Minimal, Feedback::Medium, Feedback::Detailed];
    let (mut all, mut left) = (0, [0; 4]);
    for scenario in 0..300 {
        let defects_at = |attempt, feedback| {
            defects(&ability, &Task { scenario, feedback, ..task(&turns, 1, attempt, &[]) })
        };
        let found = kinds.map(|kind| defects_at(2, kind));
        assert_eq!(defects_at(9, Feedback::None), defects_at(1, Feedback::None));
        all += found[0].len();
        for (place, defects) in found.iter().enumerate() {
            left[place] += defects.len();
            assert!(place == 0 || defects.iter().all(|defect| found[place - 1].contains(defect)));
        }
    }
    assert_eq!(left[0], all);
    for (count, chance) in left[1..].iter().zip([0.7, 0.4, 0.1]) {
        assert!(!is_far(*count, all, chance), "{left:?} of {all}");
    }
}

/// An attempt that wrote no server shows no defect, so that there is nothing to repair after it.
#[test]
fn an_attempt_without_a_server_repairs_nothing() {
    let turns = turns(0, 1);
    let good = Ability { defect_rate: 1.0, repair: 1.0, ..Ability::default() };
    let bad = Ability {
        fault_injection: FaultInjection { give_up: 0.5, ..FaultInjection::default() },
        ..good.clone()
    };
    let mut counts = [0; 2];
    for scenario in 0..100 {
        let defects_at = |ability: &Ability, attempt| {
            defects(ability, &Task { scenario, ..task(&turns, 1, attempt, &[]) })
        };
        let gave_up = fault_injection::choose(&bad, scenario, 1, 1).is_some();
        let again = fault_injection::choose(&bad, scenario, 1, 2).is_some();
        assert_eq!(defects_at(&good, 2), []);
        assert_eq!(defects_at(&bad, 2).is_empty(), !gave_up && !again, "{scenario}");
        counts[usize::from(gave_up)] += 1;
    }
    assert!(counts.iter().all(|&count| count > 30), "{counts:?}");
}

#[test]
fn unrepaired_defects_carry_over() {
    let turns = turns(0, 8);
    let mut ability = Ability { defect_rate: 0.6, repair: 0.5, ..Ability::default() };
    let (mut old, mut new_defects) = (0, 0);
    for scenario in 0..20 {
        let drawn_at = |ability: &Ability, turn, attempt, before: &[u32]| {
            defects(ability, &Task { scenario, ..task(&turns, turn, attempt, before) })
        };
        for turn in 2..=8_u32 {
            ability.carries_over = true;
            let before = vec![1; turn as usize - 2];
            // What the turn before ended with is what this one begins with.
            for attempts in 1..=3 {
                let ended = drawn_at(&ability, turn - 1, attempts, &before);
                let begins = drawn_at(&ability, turn, 1, &[before.as_slice(), &[attempts]].concat());
                let kept: Vec<_> = begins.iter().filter(|defect| defect.turn < turn).cloned().collect();
                assert_eq!(kept, ended);
                old += kept.len();
            }
            ability.carries_over = false;
            let alone = drawn_at(&ability, turn, 1, &before);
            assert!(alone.iter().all(|defect| defect.turn == turn));
            new_defects += alone.len();
        }
    }
    assert!(old > 100 && new_defects > 100, "{old}, {new_defects}");
}

/// Each defect is one that the suite notices and that the code shows, alone and with others, when it comes and later.
#[test]
fn suites_and_code_show_each_defect() {
    let ability = Ability { defect_rate: 0.5, most_defects: 3, repair: 0.0, ..Ability::default() };
    let (mut servers, mut noticed, mut shown, mut single, mut late) = (0, 0, 0, 0, 0);
    for scenario in 0..3 {
        let turns = turns(scenario, 7);
        for turn in 1..=7 {
            let task = Task { scenario, ..task(&turns, turn, 1, &[]) };
            let (right, _) = &turns[turn as usize - 1];
            let mut found = defects(&ability, &task);
            let suite = scenario::suite::suite(Seed { base: 11, scenario }, right, None);
            let mut look = |task: &Task, task_defects: &[Defect]| {
                let wrong = with_defects(task, task_defects).expect("there is one");
                if wrong == *right {
                    return;
                }
                servers += 1;
                shown += usize::from(scenario::code::flask(&wrong) != scenario::code::flask(right));
                let mut failed = false;
                run_in_process(&mut World::new(wrong), &suite, &mut |_, result| {
                    failed = result.status != CaseStatus::Passed;
                    if failed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                noticed += usize::from(failed);
            };
            look(&task, &found);
            while let Some(defect) = found.pop() {
                late += usize::from(defect.turn < turn);
                single += 1;
                look(&task, &[defect]);
            }
        }
    }
    println!("{servers} {noticed} {shown} {single} {late}");
    assert!(single > 40 && late > 20, "{single}, {late}");
    assert!(noticed * 100 >= servers * 97 && shown * 100 >= servers * 97, "{noticed}, {shown} of {servers}");
}

#[test]
fn attempts_from_one_snapshot_draw_their_defects_anew() {
    let turns = turns(0, 2);
    let ability = Ability { defect_rate: 0.5, repair: 1.0, ..Ability::default() };
    let drawn = |scenario: u32, turn: u32, attempt: u32, before: &[u32]| {
        let task = Task { scenario, feedback: Feedback::Anew, ..task(&turns, turn, attempt, before) };
        defects(&ability, &task)
    };
    let mut counts = [0; 4];
    let scenarios = 200;
    for scenario in 0..scenarios {
        for (attempt, count) in (1..).zip(&mut counts) {
            let own_defects = drawn(scenario, 1, attempt, &[]);
            *count += usize::from(own_defects.is_empty());
            // What the last attempt at a turn has is carried over.
            let carried: Vec<Defect> =
                drawn(scenario, 2, 1, &[attempt]).into_iter().filter(|defect| defect.turn == 1).collect();
            assert_eq!(carried, own_defects, "scenario {scenario}, attempt {attempt}");
        }
    }
    for count in counts {
        assert!(!is_far(count, scenarios as usize, 0.5), "{counts:?}");
    }
    let first: Vec<bool> = (0..scenarios).map(|scenario| drawn(scenario, 1, 1, &[]).is_empty()).collect();
    let second: Vec<bool> = (0..scenarios).map(|scenario| drawn(scenario, 1, 2, &[]).is_empty()).collect();
    assert_ne!(first, second, "a further attempt is another one");
}
