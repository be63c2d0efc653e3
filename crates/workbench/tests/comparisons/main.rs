//! Comparisons through the workbench, on real results and on small ones that can be counted by hand.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod attempts;
mod pairs;
mod repeats;
mod sums;

use workbench::api::{
    CompareRequest, Comparison, DisagreementMode, DisagreementPage, DisagreementRequest, DisagreementSort,
    Member, Pairs,
};

use crate::library::{Library, members};

impl Library {
    fn disagreements(&self, members: Vec<Member>, mode: DisagreementMode) -> DisagreementPage {
        let request = DisagreementRequest {
            members,
            reference: 0,
            mode,
            sort: DisagreementSort::Scenario,
            text: String::new(),
            offset: 0,
            limit: 0,
        };
        self.workbench.list_disagreements(request).expect("disagreements")
    }

    fn compare(&self, runs: &[&str], pairs: Pairs) -> Comparison {
        let request = CompareRequest { members: members(runs), pairs, ..CompareRequest::default() };
        self.workbench.compare_runs(request).expect("a comparison")
    }
}

fn near(a: Option<f64>, b: f64) {
    assert!(a.is_some_and(|a| (a - b).abs() < 1e-9), "{a:?} is not {b}");
}

const ORACLE: &str = "jobs.oracle-k2-oracle";
const NOP: &str = "jobs.nop-k1-nop";
