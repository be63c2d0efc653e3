//! Scenario packs: what the Scenarios page asks for and gets. Scenarios are counted from 0 (as their folders), turns
//! from 1.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The packs among the opened sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PackList {
    /// In the order of the sources.
    pub packs: Vec<PackInfo>,
}

/// A scenario pack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PackInfo {
    /// Number of the source in the store.
    pub source: i64,
    /// Folder of the pack inside the source (`""` = the source itself).
    pub folder: String,
    /// Name of the folder or zip.
    pub name: String,
    /// Absolute path of the source.
    pub path: String,
    /// Why the pack cannot be read; then the rest is empty.
    pub problem: Option<String>,
    /// `stamina-pack/7`.
    pub format: String,
    /// Version of the generator.
    pub generator: String,
    /// `programmatic` or `llm`.
    pub sampler: String,
    /// Model of an LLM sampler.
    pub model: Option<String>,
    /// `RESTFUL_SERVER_GEN_ITERATIVE` or `RESTFUL_SERVER_GEN`.
    pub benchmark: String,
    /// `base_seed`.
    pub seed: u64,
    /// Changes a turn.
    pub changes_per_turn: u32,
    /// Hash of the content, in hexadecimal.
    pub sha256: String,
    /// Its scenarios.
    pub scenarios: Vec<ScenarioInfo>,
}

/// A scenario of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ScenarioInfo {
    /// From 0.
    pub scenario: u32,
    /// What the system is for: `Parcel logistics`.
    pub title: String,
    /// Turns.
    pub turns: u32,
    /// Parts (first schema, changes) that a model made, over all turns; unknown where no model was asked, or the pack does
    /// not say.
    pub sampled: Option<u32>,
    /// Parts that were generated from the seed instead.
    pub fallback: Option<u32>,
}

/// A turn of a scenario in a pack.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct ScenarioTurnRef {
    /// Number of the source.
    pub source: i64,
    /// [`PackInfo::folder`].
    pub folder: String,
    /// From 0.
    pub scenario: u32,
    /// From 1.
    pub turn: u32,
}

/// What a turn of a scenario is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ScenarioTurn {
    /// What the system is for.
    pub title: String,
    /// From 1.
    pub turn: u32,
    /// Turns of the scenario.
    pub turns: u32,
    /// The entities, as a diagram shows them.
    pub entities: Vec<DiagramEntity>,
    /// The analytics: path and what they compute, in a sentence.
    pub analytics: Vec<DiagramPart>,
    /// What holds for all routes, in sentences.
    pub conventions: Vec<DiagramPart>,
    /// What changed at this turn; empty at turn 1.
    pub changes: Vec<ChangeInfo>,
    /// Parts that a model made (of turn 1 its first schema, of later ones their changes); unknown where no model was asked.
    pub sampled: Option<u32>,
    /// Parts that were generated from the seed instead, because all answers of the model were refused.
    pub fallback: Option<u32>,
    /// Sizes.
    pub counts: TurnCounts,
}

/// An entity in the diagram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DiagramEntity {
    /// Identity over turns.
    pub key: String,
    /// Singular now.
    pub name: String,
    /// Plural now.
    pub plural: String,
    /// What a record stands for.
    pub about: String,
    /// Path of its collection.
    pub path: String,
    /// Deleted records are kept and marked.
    pub soft_delete: bool,
    /// The turn that brought it.
    // words: ok: a JSON key.
    pub since: u32,
    /// Against the turn before.
    pub state: PartState,
    /// Its fields.
    pub fields: Vec<DiagramField>,
    /// Its actions: `POST …/cancel` with guards and effects.
    pub actions: Vec<DiagramPart>,
    /// What its list can be filtered and sorted by, and its order if nothing is asked for; also what no longer can be.
    pub lists: Vec<DiagramPart>,
    /// Fields of the turn before that are no more, as they were.
    pub removed_fields: Vec<DiagramField>,
    /// Actions of the turn before that are no more, as they were.
    pub removed_actions: Vec<DiagramPart>,
}

/// A field in the diagram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct DiagramField {
    /// Identity over turns.
    pub key: String,
    /// As it is written in JSON now.
    pub name: String,
    /// `string`, `integer`, `reference` …
    pub kind: String,
    /// Its other rules, in short: `required`, `unique`, `≤ 80 characters`, `default 0`.
    pub rules: Vec<String>,
    /// Key of the entity that it refers to.
    pub target: Option<String>,
    /// `cascade`, `restrict`, `set null`.
    pub on_delete: Option<String>,
    /// Against the turn before.
    pub state: PartState,
}

/// A named part with a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DiagramPart {
    /// Identity over turns.
    pub key: String,
    /// What it is called now.
    pub name: String,
    /// What it does.
    pub text: String,
    /// Against the turn before.
    pub state: PartState,
}

/// A part of a schema against the turn before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PartState {
    /// It came with this turn.
    New,
    /// It is not what it was.
    Changed,
    /// As before.
    Same,
    /// It was there at the turn before.
    Removed,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ChangeInfo {
    /// Kind: `add_field`.
    pub kind: String,
    /// In a sentence.
    pub summary: String,
    /// `programmatic`, `model` or `replaced`.
    pub origin: String,
}

/// Sizes of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct TurnCounts {
    /// Entities.
    pub entities: u32,
    /// Fields.
    pub fields: u32,
    /// Actions.
    pub actions: u32,
    /// Analytics.
    pub analytics: u32,
    /// Test cases.
    pub cases: u32,
    /// Cases that are new at this turn.
    pub new: u32,
    /// Cases that demand something else than before.
    pub changed: u32,
    /// Cases that demand the same.
    pub unchanged: u32,
    /// Lines of the reference server as Flask code; unknown if the pack has none.
    pub reference_lines: Option<u32>,
}

/// Asks for a document of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ScenarioDocumentRequest {
    /// Which turn.
    #[serde(flatten)]
    pub turn: ScenarioTurnRef,
    /// Which document.
    pub document: ScenarioDocument,
}

/// The documents of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ScenarioDocument {
    /// The request to the agent (Markdown).
    Request,
    /// The full specification (Markdown).
    Specification,
    /// The schema (YAML).
    Schema,
    /// The changes (YAML).
    Changes,
    /// The Flask server.
    Reference,
    /// The pytest suite.
    Pytest,
}

/// A text of a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ScenarioText {
    /// Path inside the source.
    pub path: String,
    /// The text.
    pub text: String,
}

/// Asks for cases of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
pub struct ScenarioSuiteRequest {
    /// Which turn.
    #[serde(flatten)]
    pub turn: ScenarioTurnRef,
    /// Words that the id or title has; empty = all.
    pub text: String,
    /// Only these marks (`new`, `changed`, `kept`); empty = all.
    pub marks: Vec<String>,
    /// Only these aspects; empty = all.
    pub aspects: Vec<String>,
    /// First case, from 0.
    pub offset: u32,
    /// At most so many.
    pub limit: u32,
}

/// Cases of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ScenarioSuite {
    /// All cases of the turn.
    pub all: u32,
    /// Cases that match.
    pub total: u32,
    /// The cases asked for.
    pub cases: Vec<CaseInfo>,
    /// Cases of each mark among those that match the text and aspects.
    pub marks: Vec<(String, u32)>,
    /// Cases of each aspect among those that match the text and marks.
    pub aspects: Vec<(String, u32)>,
}

/// A case in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CaseInfo {
    /// Stable over turns.
    pub id: String,
    /// What it checks.
    pub title: String,
    /// What kind of rule it checks.
    pub aspect: String,
    /// `new`, `changed` or `kept`.
    pub mark: String,
    /// Steps.
    pub steps: u32,
}

/// Asks for one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ScenarioCaseRequest {
    /// Which turn.
    #[serde(flatten)]
    pub turn: ScenarioTurnRef,
    /// Id of the case.
    pub id: String,
}

/// One case, in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ScenarioCase {
    /// As in the list.
    pub case: CaseInfo,
    /// Its steps, one after another, readable.
    pub steps: Vec<CaseStep>,
    /// The statements of the specification that it rests on: id and text, as the pack's specification has it; none where it
    /// states the rule in words of its own.
    pub says: Vec<(String, Option<String>)>,
}

/// A step of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CaseStep {
    /// `POST /api/orders?…` with captures as they are written.
    pub request: String,
    /// The body as JSON text.
    pub body: Option<String>,
    /// Expected status.
    pub status: u32,
    /// What the answer must be, in words.
    pub expect: Vec<String>,
    /// Kept under this name.
    pub keep: Option<String>,
}

/// Asks for the validation of a pack, in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ValidatePack {
    /// Number of the source.
    pub source: i64,
    /// [`PackInfo::folder`].
    pub folder: String,
    /// Mutants of each operator at each turn, at most 20; 0 = none.
    pub mutants: u32,
    /// Only these scenarios; empty = all.
    pub scenarios: Vec<u32>,
}

/// Asks for the generation of a pack, in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GeneratePack {
    /// Where: a folder that is not there, is empty or holds nothing but a pack of the same settings, or a path that ends
    /// in `.zip`.
    pub out: String,
    /// What.
    pub settings: GenerationSettings,
}

/// The settings of a generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct GenerationSettings {
    /// Many turns (`RESTFUL_SERVER_GEN_ITERATIVE`), or one (`RESTFUL_SERVER_GEN`).
    pub iterative: bool,
    /// 1 to 1000.
    pub scenarios: u32,
    /// 1 to 1000.
    pub turns: u32,
    /// 1 to 50.
    pub changes_per_turn: u32,
    /// `base_seed`.
    pub seed: u64,
}

/// What a generation will take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct GenerationEstimate {
    /// Files.
    pub files: u64,
    /// Bytes on disk (folder).
    pub bytes: u64,
    /// Seconds on this machine; unknown if its pace cannot be tried.
    pub seconds: Option<f64>,
    /// What the estimate rests on, in a sentence.
    pub basis: String,
    /// What is wrong with the settings, field by field: (`turns`, sentence).
    pub problems: Vec<(String, String)>,
}
