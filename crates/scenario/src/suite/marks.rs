//! New, changed or kept: a case against the one of the same id in the turn before.

use std::collections::HashMap;

use super::{Builder, Case, Mark, Step, Suite};

/// Marks the cases of a suite. Two cases are the same if they demand the same: their steps are equal, and so are the
/// builders that they use, as far as they use them. Titles and clauses do not count.
pub(super) fn mark(suite: &mut Suite, before: &Suite) {
    let old: HashMap<&str, &Case> = before.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let builders: HashMap<&str, Compared> = suite
        .builders
        .iter()
        .map(|now| {
            let then = before.builders.iter().find(|then| then.entity == now.entity);
            (now.entity.as_str(), then.map_or_else(Compared::default, |then| compare(now, then)))
        })
        .collect();
    let reset = suite.reset == before.reset;
    for case in &mut suite.cases {
        case.mark = match old.get(case.id.as_str()) {
            None => Mark::New,
            Some(then) => {
                let same = reset
                    && case.steps == then.steps
                    && case.steps.iter().all(|step| match step {
                        Step::Send(_) => true,
                        Step::Make(make) => builders.get(make.make.as_str()).is_some_and(|same| {
                            same.request && same.bodies.get((make.nth - 1) as usize) == Some(&true)
                        }),
                    });
                if same { Mark::Kept } else { Mark::Changed }
            }
        };
    }
}

/// What is the same about a builder.
#[derive(Debug, Default)]
struct Compared {
    request: bool,
    bodies: Vec<bool>,
}

fn compare(now: &Builder, then: &Builder) -> Compared {
    Compared {
        request: now.path == then.path && now.status == then.status,
        bodies: now
            .bodies
            .iter()
            .enumerate()
            .map(|(index, body)| then.bodies.get(index) == Some(body))
            .collect(),
    }
}
