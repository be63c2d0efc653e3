//! A turn of a scenario as the Scenarios page looks at it: diagram, documents, suite.

use std::collections::BTreeMap;

use scenario::pack::{Pack, Part};
use scenario::sample::Origin;
use scenario::suite::{Aspect, Assertion, Case, Mark, Step, Suite};
use scenario::text;
use serde::Serialize;
use serde_json::Value;

use crate::api::{
    ApiError, CaseInfo, CaseStep, ChangeInfo, ScenarioCase, ScenarioCaseRequest, ScenarioDocument,
    ScenarioDocumentRequest, ScenarioSuite, ScenarioSuiteRequest, ScenarioText, ScenarioTurn,
    ScenarioTurnRef, TurnCounts,
};
use crate::{Workbench, diagram};

/// Steps and statements of one case that are shown; generated ones have far fewer.
const MOST_STEPS: usize = 500;
const MOST_SAYS: usize = 500;
/// Cases in one answer, at most.
const MOST_CASES: u32 = 2_000;

impl Workbench {
    fn pack_of(&self, turn_ref: &ScenarioTurnRef) -> Result<Pack, ApiError> {
        self.pack(turn_ref.source, &turn_ref.folder)
    }

    /// A turn of a scenario: diagram, changes, sizes.
    pub fn get_scenario_turn(&self, turn_ref: ScenarioTurnRef) -> Result<ScenarioTurn, ApiError> {
        let pack = self.pack_of(&turn_ref)?;
        let schema = pack.schema(turn_ref.scenario, turn_ref.turn)?;
        let before =
            if turn_ref.turn > 1 { Some(pack.schema(turn_ref.scenario, turn_ref.turn - 1)?) } else { None };
        let suite = pack.suite(turn_ref.scenario, turn_ref.turn)?;
        let changes = pack
            .changes(turn_ref.scenario, turn_ref.turn)?
            .map(|changes| changes.changes)
            .unwrap_or_default();
        let entry = pack.scenarios().get(turn_ref.scenario as usize);
        // The changes are under the hash of the pack; of a first schema only the manifest says it.
        let parts = |wanted: Origin| {
            pack.manifest().config.use_llm_sampler.then(|| match turn_ref.turn {
                1 => u32::from(entry.is_some_and(|entry| entry.origin == wanted)),
                _ => changes.iter().filter(|change| change.origin == wanted).count() as u32,
            })
        };
        let (sampled, fallback) = (parts(Origin::Model), parts(Origin::Replaced));
        let marked = |mark: Mark| suite.cases.iter().filter(|case| case.mark == mark).count() as u32;
        let fields = schema.entities.iter().map(|entity| entity.fields.len()).sum::<usize>() as u32;
        let actions = schema.entities.iter().map(|entity| entity.actions.len()).sum::<usize>() as u32;
        Ok(ScenarioTurn {
            title: schema.title.clone(),
            turn: turn_ref.turn,
            turns: entry.map_or(turn_ref.turn, |entry| entry.turns),
            entities: diagram::entities(&schema, before.as_ref()),
            analytics: diagram::analytics(&schema, before.as_ref()),
            conventions: diagram::conventions(&schema, before.as_ref()),
            sampled,
            fallback,
            changes: changes
                .into_iter()
                .map(|change| ChangeInfo {
                    kind: word_of(&change.what, "change"),
                    summary: change.summary,
                    origin: origin(change.origin).to_owned(),
                })
                .collect(),
            counts: TurnCounts {
                entities: schema.entities.len() as u32,
                fields,
                actions,
                analytics: schema.analytics.len() as u32,
                cases: suite.cases.len() as u32,
                new: marked(Mark::New),
                changed: marked(Mark::Changed),
                unchanged: marked(Mark::Kept),
                reference_lines: pack
                    .text(turn_ref.scenario, turn_ref.turn, Part::Flask)
                    .ok()
                    .map(|text| text.lines().count() as u32),
            },
        })
    }

    /// A document of a turn.
    pub fn get_scenario_document(&self, request: ScenarioDocumentRequest) -> Result<ScenarioText, ApiError> {
        let pack = self.pack_of(&request.turn)?;
        let part = match request.document {
            ScenarioDocument::Request => Part::Request,
            ScenarioDocument::Specification => Part::Specification,
            ScenarioDocument::Schema => Part::Schema,
            ScenarioDocument::Changes => Part::Changes,
            ScenarioDocument::Reference => Part::Flask,
            ScenarioDocument::Pytest => Part::Pytest,
        };
        let (scenario, turn) = (request.turn.scenario, request.turn.turn);
        Ok(ScenarioText { path: pack.path(scenario, turn, part)?, text: pack.text(scenario, turn, part)? })
    }

    /// Cases of a turn's suite, filtered, paged.
    pub fn list_scenario_cases(&self, request: ScenarioSuiteRequest) -> Result<ScenarioSuite, ApiError> {
        let suite = self.pack_of(&request.turn)?.suite(request.turn.scenario, request.turn.turn)?;
        let words: Vec<String> = request.text.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let by_text = |case: &Case| {
            let (id, title) = (case.id.to_lowercase(), case.title.to_lowercase());
            words.iter().all(|word| id.contains(word) || title.contains(word))
        };
        let is_wanted =
            |wanted: &[String], word: &str| wanted.is_empty() || wanted.iter().any(|value| value == word);
        let mut marks: BTreeMap<&str, u32> = BTreeMap::new();
        let mut aspects: BTreeMap<Aspect, u32> = BTreeMap::new();
        let (mut total, mut cases) = (0, Vec::new());
        for case in suite.cases.iter().filter(|case| by_text(case)) {
            let aspect = is_wanted(&request.aspects, &word(&case.aspect));
            let mark = is_wanted(&request.marks, mark(case.mark));
            if aspect {
                *marks.entry(self::mark(case.mark)).or_default() += 1;
            }
            if mark {
                *aspects.entry(case.aspect).or_default() += 1;
            }
            if aspect && mark {
                if total >= request.offset && (cases.len() as u32) < request.limit.min(MOST_CASES) {
                    cases.push(case_info(case));
                }
                total += 1;
            }
        }
        Ok(ScenarioSuite {
            all: suite.cases.len() as u32,
            total,
            cases,
            marks: marks.into_iter().map(|(mark, count)| (mark.to_owned(), count)).collect(),
            aspects: aspects.into_iter().map(|(aspect, count)| (word(&aspect), count)).collect(),
        })
    }

    /// One case with its steps and what it rests on.
    pub fn get_scenario_case(&self, request: ScenarioCaseRequest) -> Result<ScenarioCase, ApiError> {
        let pack = self.pack_of(&request.turn)?;
        let suite = pack.suite(request.turn.scenario, request.turn.turn)?;
        let case = suite.cases.iter().find(|case| case.id == request.id).ok_or_else(|| {
            ApiError::new(
                "case.not_found",
                format!("The suite of turn {} has no case {}", request.turn.turn, request.id),
            )
            .hint("Cases of what was removed are gone in later turns")
        })?;
        let clauses = text::clauses(&pack.schema(request.turn.scenario, request.turn.turn)?);
        let specification = pack.specification(request.turn.scenario, request.turn.turn).unwrap_or_default();
        Ok(ScenarioCase {
            case: case_info(case),
            steps: case.steps.iter().take(MOST_STEPS).map(|step| case_step(&suite, step)).collect(),
            says: case
                .clauses
                .iter()
                .take(MOST_SAYS)
                .filter_map(|id| {
                    clauses
                        .iter()
                        .find(|clause| clause.id == *id)
                        .map(|clause| (clause.id.clone(), as_written(&specification, &clause.text)))
                })
                .collect(),
        })
    }
}

/// The words of a clause, where the specification of the pack has them: one of an earlier version, or one that was edited, has words
/// of its own, and those that agents read decide.
fn as_written(specification: &str, clause: &str) -> Option<String> {
    let ends_there = |(offset, _): (usize, &str)| {
        let rest = &specification[offset + clause.len()..];
        rest.is_empty() || rest.starts_with(['\n', '\r'])
    };
    (!clause.is_empty() && specification.match_indices(clause).any(ends_there)).then(|| clause.to_owned())
}

/// The word that a unit variant, or the tag of a variant, is written as.
fn word_of(value: &impl Serialize, tag: &str) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        Ok(Value::Object(map)) => map.get(tag).and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

fn word(value: &impl Serialize) -> String {
    word_of(value, "")
}

fn mark(mark: Mark) -> &'static str {
    match mark {
        Mark::New => "new",
        Mark::Changed => "changed",
        Mark::Kept => "kept",
    }
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Programmatic => "programmatic",
        Origin::Model => "model",
        Origin::Replaced => "replaced",
    }
}

fn case_info(case: &Case) -> CaseInfo {
    CaseInfo {
        id: case.id.clone(),
        title: case.title.clone(),
        aspect: word(&case.aspect),
        mark: mark(case.mark).to_owned(),
        steps: case.steps.len() as u32,
    }
}

fn pretty(value: &Value) -> Option<String> {
    serde_json::to_string_pretty(value).ok()
}

fn case_step(suite: &Suite, step: &Step) -> CaseStep {
    match step {
        Step::Record(make) => {
            let builder = suite.builders.iter().find(|builder| builder.entity == make.make);
            let body = builder
                .and_then(|builder| builder.bodies.get((make.nth as usize).checked_sub(1)?))
                .cloned()
                .map(|mut body| {
                    if let Value::Object(body) = &mut body {
                        body.extend(make.with.clone());
                    }
                    body
                });
            CaseStep {
                request: format!("POST {}", builder.map_or("", |builder| &builder.path)),
                body: body.as_ref().and_then(pretty),
                status: u32::from(builder.map_or(0, |builder| builder.status)),
                expect: Vec::new(),
                keep: Some(make.keep.clone()),
            }
        }
        Step::Request(send) => {
            let query: Vec<String> =
                send.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
            CaseStep {
                request: format!(
                    "{} {}{}{}",
                    send.method.as_str(),
                    send.path,
                    if query.is_empty() { "" } else { "?" },
                    query.join("&")
                ),
                body: send.body.as_ref().and_then(pretty),
                status: u32::from(send.status),
                expect: send.expect.iter().map(assertion).collect(),
                keep: send.keep.clone(),
            }
        }
    }
}

fn assertion(assertion: &Assertion) -> String {
    let named = |place: &str| if place.is_empty() { "the body".to_owned() } else { place.to_owned() };
    let list = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
    match assertion {
        Assertion::Equal { at: place, value } => format!("{} is {value}", named(place)),
        Assertion::Has { at: place, value } => {
            let parts: Vec<String> = value.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{} has {}", named(place), parts.join(", "))
        }
        Assertion::Absent { at: place } => format!("{} is not there", named(place)),
        Assertion::Text { at: place } => format!("{} is a text that is not empty", named(place)),
        Assertion::Id { at: place } => format!("{} is an id", named(place)),
        Assertion::Column { at: place, key, values } => {
            format!("{} has, in this order, {key} = {}", named(place), list(values))
        }
        Assertion::Rows { at: place, rows } => {
            let rows: Vec<Value> = rows.iter().cloned().map(Value::Object).collect();
            format!(
                "{} has exactly, in any order, {}",
                named(place),
                if rows.is_empty() { "nothing".to_owned() } else { list(&rows) }
            )
        }
    }
}
