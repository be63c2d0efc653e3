//! The class of an attempt, and of each of its failing tests.

use std::collections::{BTreeMap, BTreeSet};

use model::{Attempt, EndReason, TestResult, Verdict};
use serde::Serialize;

use super::FailureClass;
use super::evidence::{AttemptEvidence, Evidence, none_passed};
use super::rules::{ATTEMPT_RULES, Rule, TEST_RULES, first};

/// In place of the id of a rule, if no rule applies.
pub const NO_RULE: &str = "none";
/// In place of the id of a rule, if no failing test is described.
pub const NOT_DESCRIBED: &str = "not_described";

/// Whose suites the tests are of, as the benchmark of the run tells ([`model::Benchmark::has_own_suites`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Suites {
    /// Of another benchmark: an id is a title like any other, and no evidence, whatever its form.
    #[default]
    Foreign,
    /// Of this project: an id names the kind of its case.
    Own,
}

/// What is known beside the attempt. Logs stay in the source, so the caller reads them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// Whose suites the tests are of.
    pub suites: Suites,
    /// Output of the harness. Rules use its end.
    pub agent_log: Option<&'a str>,
    /// Output of the server of the agent. Rules use its end.
    pub server_log: Option<&'a str>,
}

/// A failing test and its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ClassifiedTest {
    /// Its index in [`Attempt::tests`].
    pub test: usize,
    /// Its class.
    pub class: FailureClass,
    /// The rule that decided; [`NO_RULE`] if it is not classified.
    pub rule: &'static str,
}

/// A failed attempt and its classes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Classification {
    /// The class of the attempt.
    pub primary: FailureClass,
    /// The rule that decided it; [`NO_RULE`] or [`NOT_DESCRIBED`] if it is not classified.
    pub rule: &'static str,
    /// Every described failing test, in the order of the attempt.
    pub tests: Vec<ClassifiedTest>,
    /// Failing tests by class. Their sum is the length of `tests`.
    pub counts: BTreeMap<FailureClass, u32>,
    /// Failing tests that are counted, but not described. They have no class.
    pub not_described: u32,
}

/// Whether an attempt failed: it has the verdict failed or error, or a failure ended it before a verdict.
///
/// An attempt that a person stopped, or that is still running, did not fail.
pub fn is_failed(attempt: &Attempt) -> bool {
    use EndReason as R;
    let ended = !matches!(attempt.end_reason, Some(R::Cancelled | R::Unfinished | R::PassedAll));
    match attempt.verdict {
        Verdict::Passed | Verdict::NotTested => false,
        Verdict::Failed => true,
        Verdict::Error => ended,
        Verdict::Unfinished => ended && attempt.end_reason.is_some(),
    }
}

/// The class of a failed attempt and of its failing tests; `None` if it did not fail ([`is_failed`]).
///
/// The class of the attempt is, in this order:
/// 1. that of the first applicable rule over the end of the attempt ([`ATTEMPT_RULES`]);
/// 2. if no test passed and most failing tests (at least half) are of a class of the server (did not start, crashed,
///    timed out): the most frequent of these;
/// 3. the most frequent class among the failing tests, [`FailureClass::Other`] last; of equally frequent ones the first
///    in the order of [`FailureClass::ALL`];
/// 4. `Other`.
pub fn classify_attempt(attempt: &Attempt, context: &Context<'_>) -> Option<Classification> {
    if !is_failed(attempt) {
        return None;
    }
    let tests = classify_tests(attempt, context.suites);
    let mut counts = BTreeMap::new();
    for test in &tests {
        *counts.entry(test.class).or_insert(0_u32) += 1;
    }
    let of_end = first(ATTEMPT_RULES, &AttemptEvidence::from_attempt(attempt, context));
    let (primary, rule) = match of_end {
        Some(rule) => (rule.class, rule.id),
        None => attempt_class(&tests, &counts, none_passed(attempt)),
    };
    Some(Classification { primary, rule, tests, counts, not_described: attempt.failing_not_described() })
}

/// The class that failing tests give their attempt, and its most frequent rule.
fn attempt_class(
    tests: &[ClassifiedTest],
    counts: &BTreeMap<FailureClass, u32>,
    none_passed: bool,
) -> (FailureClass, &'static str) {
    if tests.is_empty() {
        return (FailureClass::Other, NOT_DESCRIBED);
    }
    // With equal counts the first class counts: a later one replaces it only with a greater count.
    let most = |wanted: &dyn Fn(FailureClass) -> bool| {
        let mut best: Option<(FailureClass, u32)> = None;
        for (&class, &count) in counts.iter().filter(|(class, _)| wanted(**class)) {
            if best.is_none_or(|(_, most)| count > most) {
                best = Some((class, count));
            }
        }
        best.map(|(class, _)| class)
    };
    let of_server: u32 =
        counts.iter().filter(|(class, _)| class.is_of_server()).map(|(_, count)| count).sum();
    let server = if none_passed && of_server as usize * 2 >= tests.len() {
        most(&FailureClass::is_of_server)
    } else {
        None
    };
    let Some(class) = server.or_else(|| most(&|class| class != FailureClass::Other)) else {
        return (FailureClass::Other, NO_RULE);
    };
    let mut rules: BTreeMap<&'static str, u32> = BTreeMap::new();
    for test in tests.iter().filter(|test| test.class == class) {
        *rules.entry(test.rule).or_insert(0) += 1;
    }
    let rule = rules.iter().fold(
        (NO_RULE, 0),
        |best, (&rule, &count)| {
            if count > best.1 { (rule, count) } else { best }
        },
    );
    (class, rule.0)
}

fn classify_tests(attempt: &Attempt, suites: Suites) -> Vec<ClassifiedTest> {
    let none_passed = none_passed(attempt);
    let failing = || attempt.tests.iter().enumerate().filter(|(_, test)| test.is_failing());
    let (old, defaults) = match suites {
        Suites::Own => (
            OldNames::from_ids(failing().map(|(_, test)| test.id.as_str())),
            wrong_defaults(failing().map(|(_, test)| test), none_passed),
        ),
        Suites::Foreign => (OldNames::default(), BTreeSet::new()),
    };
    failing()
        .map(|(index, test)| {
            let mut evidence = Evidence::from_test(test, none_passed, suites);
            evidence.old_name_answers = old.reaches(&evidence);
            evidence.default_is_wrong =
                entity_and_field(&evidence).is_some_and(|field| defaults.contains(&field));
            let rule = first_that_fits(&evidence);
            ClassifiedTest {
                test: index,
                class: rule.map_or(FailureClass::Other, |rule| rule.class),
                rule: rule.map_or(NO_RULE, |rule| rule.id),
            }
        })
        .collect()
}

/// The first applicable rule whose class fits the kind of test: of requests, or of a program.
fn first_that_fits(evidence: &Evidence) -> Option<&'static Rule<Evidence>> {
    let requests = evidence.is_of_requests();
    TEST_RULES
        .iter()
        .filter(|rule| if requests { !rule.class.is_of_programs() } else { !rule.class.is_of_requests() })
        .find(|rule| (rule.applies)(evidence))
}

/// The entity and the field with a wrong value.
fn entity_and_field(evidence: &Evidence) -> Option<(String, String)> {
    let (first, field) = (evidence.case.first()?, evidence.field.as_ref()?);
    let entity = evidence.created_entity().unwrap_or(first);
    (evidence.status.is_none() && evidence.differs()).then(|| (entity.to_owned(), field.clone()))
}

/// Fields with a wrong default, as a case of this project's suites with only required fields shows.
fn wrong_defaults<'a>(
    failing: impl Iterator<Item = &'a TestResult>,
    none_passed: bool,
) -> BTreeSet<(String, String)> {
    failing
        .filter(|test| test.id.contains("minimal"))
        .map(|test| Evidence::from_test(test, none_passed, Suites::Own))
        .filter(|evidence| {
            first_that_fits(evidence).is_some_and(|rule| rule.class == FailureClass::WrongDefault)
        })
        .filter_map(|evidence| entity_and_field(&evidence))
        .collect()
}

/// A name without the marks of its spelling, in lower case.
fn plain(name: &str) -> String {
    name.replace(['_', '-'], "").to_lowercase()
}

/// Names that still respond although they were removed, as failing cases of the kind `gone.…` show.
#[derive(Debug, Default)]
struct OldNames {
    /// Whether a collection or the prefix of all paths still responds.
    collections: bool,
    analytics: bool,
    /// Names of fields that are still there, by entity.
    fields: BTreeMap<String, BTreeSet<String>>,
    /// Entities with an action or nested route that still responds.
    actions: BTreeSet<String>,
}

impl OldNames {
    fn from_ids<'a>(ids: impl Iterator<Item = &'a str>) -> Self {
        let mut old = Self::default();
        for id in ids.filter(|id| id.contains("gone")) {
            let case = super::evidence::case_parts(id);
            let parts: Vec<&str> = case.iter().map(String::as_str).collect();
            match parts.as_slice() {
                ["gone", "collection" | "prefix", ..] => old.collections = true,
                ["gone", "analytic", ..] => old.analytics = true,
                ["gone", entity, "field", names @ ..] => {
                    let names = names.first().map(|name| plain(name));
                    old.fields.entry((*entity).to_owned()).or_default().extend(names);
                }
                ["gone", entity, "action" | "nested", ..] => {
                    old.actions.insert((*entity).to_owned());
                }
                _ => {}
            }
        }
        old
    }

    /// Whether a failing test may fail because of an old name.
    fn reaches(&self, evidence: &Evidence) -> bool {
        let Some(first) = evidence.case.first().filter(|first| *first != "gone") else { return false };
        let has_field = |name: Option<&String>| {
            let names = self.fields.get(first);
            name.zip(names).is_some_and(|(name, names)| names.contains(&plain(name)))
        };
        match &evidence.request {
            Some(request) if evidence.unexpected_status() == Some(404) => {
                (self.analytics && request.path.contains("/analytics/"))
                    || (self.actions.contains(first) && request.is_below_a_record())
                    || (self.collections
                        && !request.path.contains("/analytics/")
                        && !request.is_below_a_record())
            }
            // A field that nothing asks for is an old one only by its name, and a list is refused for the field of the case.
            _ if evidence.expected.as_deref() == Some("nothing") => has_field(evidence.field.as_ref()),
            _ if evidence.was_refused() => has_field(evidence.case.get(2)),
            _ => self.fields.contains_key(first),
        }
    }
}
