//! The sampler: what the seed generates, what the model answers, and what replaces a refused answer.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use scenario::Seed;
use scenario::change::{self, Change, EntityChange};
use scenario::check::check;
use scenario::ir::{Entity, SCHEMA_VERSION, Schema};
use scenario::sample::{
    Answer, Origin, ProgrammaticSampler, SampleError, Sampler, SamplerOutput, TouchedParts, Turn,
    draw_change, draw_change_of, note_names,
};

use crate::answer::{self, Design};
use crate::answer_request::{AnswerRequest, JournalPlace, Source, request_answer};
use crate::model_calls::{Background, Limits, LiveModel};
use crate::{
    Endpoint, Journal, Model, OpenAi, Replay, Settings, Tally, UnusableModel, offered_choices, prompt,
};

/// How many more fields a new entity may have than the generated one, so that growth over the turns stays the same.
const MORE_FIELDS: usize = 3;

/// Most changes for a choice of the model.
const CHOICES: u32 = 3;

/// Most bytes of these changes as JSON. A model on a laptop reads 600 bytes per second.
const CHOICE_BYTES: usize = 2400;

/// Why an answer that repeats the example is refused.
const AN_EXAMPLE: &str = "it repeats the example; make your own";

/// How many faults one message to the model lists.
const LISTED_FAULTS: usize = 8;

/// Lets a model fill in names and details.
pub struct LlmSampler {
    answers: Answers,
    /// The task, in prose and for an endpoint with support of a form.
    systems: [String; 2],
    tally: Tally,
}

enum Answers {
    Live(LiveModel, Option<Arc<Journal>>),
    Recorded(Replay),
}

impl LlmSampler {
    /// A sampler with the model of the settings.
    pub fn new(settings: &Settings) -> Result<Self, UnusableModel> {
        let background = Background::new()?;
        let model: Box<dyn Model> = match &settings.endpoint {
            Endpoint::OpenAi { base_url, key_variable } => {
                Box::new(OpenAi::new(base_url, &settings.model, key_variable, settings.limits.answer)?)
            }
            #[cfg(feature = "bedrock")]
            Endpoint::Bedrock { region, endpoint_url } => {
                let (model, region, endpoint) =
                    (settings.model.clone(), region.clone(), endpoint_url.clone());
                let bedrock = background.run(
                    async move { crate::Bedrock::new(&model, region.as_deref(), endpoint.as_deref()).await },
                    &|| false,
                );
                Box::new(
                    bedrock.ok_or_else(|| UnusableModel("The settings of AWS cannot be read".to_owned()))?,
                )
            }
            #[cfg(not(feature = "bedrock"))]
            Endpoint::Bedrock { .. } => {
                return Err(UnusableModel(
                    "This program was built without Amazon Bedrock. Set `llm_sampler.base_url` to an OpenAI-compatible \
                     endpoint, or build it with the feature `bedrock`"
                        .to_owned(),
                ));
            }
        };
        Ok(Self::from_live(LiveModel::new(model, settings.limits, background)))
    }

    /// A sampler with any model.
    pub fn with_model(model: Box<dyn Model>, limits: Limits) -> Result<Self, UnusableModel> {
        Ok(Self::from_live(LiveModel::new(model, limits, Background::new()?)))
    }

    /// A sampler with the answers of a pack and without a model.
    pub fn replay(recorded: Replay) -> Self {
        Self { answers: Answers::Recorded(recorded), systems: Default::default(), tally: Tally::default() }
    }

    fn from_live(live: LiveModel) -> Self {
        let systems = [prompt::system(), prompt::shaped_system()];
        Self { answers: Answers::Live(live, None), systems, tally: Tally::default() }
    }

    /// Counts accepted and refused answers in this tally.
    #[must_use]
    pub fn counted_by(mut self, tally: &Tally) -> Self {
        self.tally = tally.clone();
        self
    }

    fn systems(&self) -> [&str; 2] {
        [&self.systems[0], &self.systems[1]]
    }

    /// Drops a call in flight once the flag is set. The call ends with [`SampleError::Stopped`].
    #[must_use]
    pub fn stopped_by(mut self, stop: &Arc<AtomicBool>) -> Self {
        if let Answers::Live(live, journal) = self.answers {
            self.answers = Answers::Live(live.stopped_by(Arc::clone(stop)), journal);
        }
        self
    }

    /// Writes every answer of the model to the journal. Answers of the journal are not requested again.
    #[must_use]
    pub fn keeping(mut self, journal: &Arc<Journal>) -> Self {
        if let Answers::Live(_, slot) = &mut self.answers {
            *slot = Some(Arc::clone(journal));
        }
        self
    }

    /// The source of the answers of a turn. `recorded` stores them if they are recorded.
    fn source<'a>(
        &'a self,
        scenario: u32,
        turn: u32,
        recorded: &'a mut Vec<Answer>,
    ) -> Result<Source<'a>, SampleError> {
        Ok(match &self.answers {
            Answers::Live(live, journal) => {
                Source::Live(live, journal.as_deref().map(|journal| JournalPlace { journal, scenario, turn }))
            }
            Answers::Recorded(replay) => {
                *recorded = replay.turn(scenario, turn)?;
                Source::Recorded(recorded, format!("turn {turn} of scenario {scenario}"))
            }
        })
    }
}

impl Sampler for LlmSampler {
    fn name(&self) -> &'static str {
        "llm"
    }

    fn first_schema(&self, seed: Seed) -> Result<SamplerOutput<Schema>, SampleError> {
        let drawn = ProgrammaticSampler.first_schema(seed)?.value;
        let mut recorded = Vec::new();
        let source = self.source(seed.scenario, 1, &mut recorded)?;
        // Packs of earlier versions have accepted examples in prose. A replay must accept them too.
        let is_live = matches!(source, Source::Live(..));
        let choices = std::slice::from_ref(&drawn);
        let texts = match source {
            Source::Live(..) => [prompt::first(&drawn), prompt::shaped_first(&drawn)],
            Source::Recorded(..) => Default::default(),
        };
        let request = AnswerRequest {
            purpose: "first",
            systems: self.systems(),
            texts: [&texts[0], &texts[1]],
            schema: &offered_choices::schema(choices),
            most_tokens: offered_choices::most_tokens(choices),
        };
        let mut answers = Vec::new();
        let part = request_answer(&source, &request, &mut answers, &self.tally, |text| {
            match offered_choices::part_from_answer(text, choices, |named| with_used_names(named.clone())) {
                Some(filled) => filled.map(|(_, schema)| schema),
                None => match assemble_schema(answer::design(text)?, &drawn)? {
                    part if is_live && part == drawn => Err(AN_EXAMPLE.to_owned()),
                    part => Ok(part),
                },
            }
        })?;
        Ok(SamplerOutput { value: part.unwrap_or(drawn), answers })
    }

    fn next_turn(&self, seed: Seed, before: &Schema, count: u32) -> Result<SamplerOutput<Turn>, SampleError> {
        let turn = before.turn + 1;
        let mut recorded = Vec::new();
        let source = self.source(seed.scenario, turn, &mut recorded)?;
        let is_live = matches!(source, Source::Live(..));
        let mut answers = Vec::new();
        let mut after = change::next_turn(before);
        let mut touched = TouchedParts::new();
        let mut changes = Vec::new();
        let mut origins = Vec::new();
        for number in 1..=count {
            let purpose = format!("change {number}");
            let mut touched_by_drawn = touched.clone();
            // The same random stream as in the programmatic sampler, and so the same kind.
            let (drawn, after_drawn) =
                draw_change(&mut seed.draw(turn, &purpose), &after, &mut touched_by_drawn)
                    .ok_or(SampleError::Stuck { scenario: seed.scenario, turn })?;
            let kind = drawn.kind().word();
            let choices = choices(seed, turn, &purpose, &drawn, &after, &touched);
            let texts = match source {
                Source::Live(..) => [
                    prompt::change(&after, kind, &drawn, &changes),
                    prompt::shaped_change(&after, kind, &choices, &changes),
                ],
                Source::Recorded(..) => Default::default(),
            };
            let request = AnswerRequest {
                purpose: &purpose,
                systems: self.systems(),
                texts: [&texts[0], &texts[1]],
                schema: &offered_choices::schema(&choices),
                most_tokens: offered_choices::most_tokens(&choices),
            };
            let fitting = |change: &Change| {
                let changed = change::apply(&after, change).map_err(|refusal| refusal.reason)?;
                let mut touched = touched.clone();
                if !touched.note(&after, change, &changed) {
                    return Err("it touches what this turn has changed already".to_owned());
                }
                Ok((changed, touched))
            };
            let taken = request_answer(&source, &request, &mut answers, &self.tally, |text| {
                if let Some(filled) = offered_choices::part_from_answer(text, &choices, fitting) {
                    return filled.map(|(change, (changed, touched))| (change, changed, touched));
                }
                let change = answer::change(text, kind, turn)?;
                if is_live && offered_choices::repeats(&change, &drawn) {
                    return Err(AN_EXAMPLE.to_owned());
                }
                fits(&change, &drawn)?;
                let (changed, touched) = fitting(&change)?;
                Ok((change, changed, touched))
            })?;
            let origin = if taken.is_some() { Origin::Model } else { Origin::Replaced };
            let (change, changed, now_touched) = taken.unwrap_or((drawn, after_drawn, touched_by_drawn));
            changes.push(change);
            origins.push(origin);
            after = changed;
            touched = now_touched;
        }
        Ok(SamplerOutput { value: Turn { changes, origins, after }, answers })
    }
}

/// The choices for a model: the generated change, and others of its kind that the schema accepts. They depend only on the
/// seed and the schema, so that a recorded choice keeps its meaning.
fn choices(
    seed: Seed,
    turn: u32,
    purpose: &str,
    drawn: &Change,
    schema: &Schema,
    touched: &TouchedParts,
) -> Vec<Change> {
    let bytes = |change: &Change| serde_json::to_string(change).map_or(0, |text| text.len());
    let mut choices = vec![drawn.clone()];
    let mut room = CHOICE_BYTES.saturating_sub(bytes(drawn));
    for number in 2..=CHOICES {
        let mut draw = seed.draw(turn, &format!("{purpose}, choice {number}"));
        let Some((other, _)) = draw_change_of(drawn.kind(), &mut draw, schema, &mut touched.clone()) else {
            continue;
        };
        let size = bytes(&other);
        if size <= room && !choices.contains(&other) {
            room -= size;
            choices.push(other);
        }
    }
    choices
}

/// Checks the size of a change.
fn fits(change: &Change, drawn: &Change) -> Result<(), String> {
    if let (
        Change::Entity(EntityChange::AddEntity { entity }),
        Change::Entity(EntityChange::AddEntity { entity: drawn }),
    ) = (change, drawn)
    {
        let most = drawn.fields.len() + MORE_FIELDS;
        if entity.fields.len() > most {
            return Err(format!("the entity has {} fields; at most {most}", entity.fields.len()));
        }
        let most = drawn.actions.len() + 1;
        if entity.actions.len() > most {
            return Err(format!("the entity has {} actions; at most {most}", entity.actions.len()));
        }
    }
    Ok(())
}

/// A first schema from a design and the generated conventions.
fn assemble_schema(design: Design, drawn: &Schema) -> Result<Schema, String> {
    let Design { title, entities, analytics } = design;
    let total = |measure: fn(&Entity) -> usize| -> usize { entities.iter().map(measure).sum() };
    for (noun, count, low, most) in [
        ("entities", entities.len(), drawn.entities.len(), drawn.entities.len()),
        ("analytics", analytics.len(), drawn.analytics.len(), drawn.analytics.len()),
        ("fields in all", total(|entity| entity.fields.len()), 1, prompt::most_fields(drawn)),
        ("actions in all", total(|entity| entity.actions.len()), 1, prompt::most_actions(drawn)),
    ] {
        if count < low || count > most {
            let wanted = if low == most { most.to_string() } else { format!("{low} to {most}") };
            return Err(format!("the design has {count} {noun}; asked for: {wanted}"));
        }
    }
    let schema = Schema {
        version: SCHEMA_VERSION.to_owned(),
        title,
        topic: drawn.topic.clone(),
        turn: 1,
        conventions: drawn.conventions.clone(),
        entities,
        analytics,
        removed: Vec::new(),
        used: Vec::new(),
    };
    with_used_names(schema)
}

/// A first schema with its names recorded as used, if it is valid.
fn with_used_names(mut schema: Schema) -> Result<Schema, String> {
    schema.used.clear();
    note_names(&mut schema);
    let faults = check(&schema);
    if faults.is_empty() {
        return Ok(schema);
    }
    let listed: Vec<String> = faults
        .iter()
        .take(LISTED_FAULTS)
        .map(|fault| format!("{}: {}", fault.location, fault.message))
        .collect();
    let more = faults.len().saturating_sub(LISTED_FAULTS);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    Err(format!("{}{more}", listed.join("; ")))
}
