//! The choices of a model if its endpoint supports a form: complete changes that the schema accepts, generated from the seed,
//! with open names. Any answer in the form is valid, except for a name that is in use.
//!
//! An answer is `{"answer": {"choice": "2", "name": "delivery_note"}}`: the number of a choice, and one text for each of its
//! open places.

use scenario::change::{ActionChange, AnalyticChange, Change, EntityChange, FieldChange};
use scenario::ir::{Entity, Schema};
use serde_json::{Map, Value, json};

use crate::answer::{is_bounded_text, structured};
use crate::part_keys::{part_key, rekey};

/// Lower-case words joined by single underscores, at most 38 characters.
const NAME: &str = "^[a-z]{2,12}(_[a-z]{2,12}){0,2}$";
/// A title.
const TITLE: &str = "^[A-Z][a-z]{2,14}( [A-Za-z]{2,14}){0,3}$";
/// The meaning of one record, as the rest of a sentence.
const DESCRIPTION_PATTERN: &str = "^[a-z]{1,14}( [a-z]{1,14}){2,11}$";

/// Most characters of the label of a place. APIs of tools allow 64.
const LABEL_CHARS: usize = 60;

/// Most tokens around the texts of an answer.
const TOKENS_AROUND: u32 = 64;

/// The kind of text in an open place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    Name,
    Title,
    About,
}

impl PlaceKind {
    fn pattern(self) -> &'static str {
        match self {
            Self::Name => NAME,
            Self::Title => TITLE,
            Self::About => DESCRIPTION_PATTERN,
        }
    }

    /// Most tokens of a label with its text, which is more than useful texts need. A longer answer is cut, and requested again
    /// with a higher limit.
    fn most_tokens(self) -> u32 {
        match self {
            Self::Name => 48,
            Self::Title => 70,
            Self::About => 120,
        }
    }
}

/// An open place of a generated part.
pub(crate) struct OpenText<'a> {
    label: String,
    takes: PlaceKind,
    text: &'a mut String,
}

impl<'a> OpenText<'a> {
    fn name(label: impl Into<String>, text: &'a mut String) -> Self {
        Self { label: label.into(), takes: PlaceKind::Name, text }
    }
}

/// A generated part with open places.
pub(crate) trait OpenPart: Clone {
    /// Its open places, in a constant order. Labels may repeat.
    fn places(&mut self) -> Vec<OpenText<'_>>;
    /// Updates keys after the texts are set: the key of a new part is its first name.
    fn settle(&mut self);
}

impl OpenPart for Change {
    fn places(&mut self) -> Vec<OpenText<'_>> {
        match self {
            Self::Entity(EntityChange::AddEntity { entity }) => entity_places(entity, false),
            Self::Entity(EntityChange::RenameEntity { name, plural, .. }) => {
                vec![OpenText::name("name", name), OpenText::name("plural", plural)]
            }
            Self::Field(
                FieldChange::AddField { field, .. }
                | FieldChange::AddReference { field, .. }
                | FieldChange::AddComputed { field, .. },
            ) => vec![OpenText::name("name", &mut field.name)],
            Self::Field(FieldChange::RenameField { name, .. })
            | Self::Action(ActionChange::RenameAction { name, .. })
            | Self::Analytic(AnalyticChange::RenameAnalytic { name, .. }) => {
                vec![OpenText::name("name", name)]
            }
            Self::Field(FieldChange::AddEnumValue { value, .. }) => vec![OpenText::name("value", value)],
            Self::Field(FieldChange::RenameEnumValue { to, .. }) => vec![OpenText::name("to", to)],
            Self::Action(ActionChange::AddAction { action, .. }) => {
                vec![OpenText::name("name", &mut action.name)]
            }
            Self::Analytic(AnalyticChange::AddAnalytic { analytic }) => {
                vec![OpenText::name("name", &mut analytic.name)]
            }
            _ => Vec::new(),
        }
    }

    fn settle(&mut self) {
        match self {
            Self::Entity(EntityChange::AddEntity { entity }) => rekey(std::slice::from_mut(entity), &mut []),
            Self::Field(
                FieldChange::AddField { field, .. }
                | FieldChange::AddReference { field, .. }
                | FieldChange::AddComputed { field, .. },
            ) => field.key = part_key(field),
            Self::Action(ActionChange::AddAction { action, .. }) => action.key.clone_from(&action.name),
            Self::Analytic(AnalyticChange::AddAnalytic { analytic }) => {
                analytic.key.clone_from(&analytic.name);
            }
            _ => {}
        }
    }
}

impl OpenPart for Schema {
    fn places(&mut self) -> Vec<OpenText<'_>> {
        let mut places =
            vec![OpenText { label: "title".to_owned(), takes: PlaceKind::Title, text: &mut self.title }];
        for entity in &mut self.entities {
            places.extend(entity_places(entity, true));
        }
        for analytic in &mut self.analytics {
            places.push(OpenText::name(format!("analytics.{}", analytic.key), &mut analytic.name));
        }
        places
    }

    fn settle(&mut self) {
        rekey(&mut self.entities, &mut self.analytics);
    }
}

/// The places of a new entity. If there are several entities, the labels have its name.
fn entity_places(entity: &mut Entity, several: bool) -> Vec<OpenText<'_>> {
    let home = entity.key.clone();
    let label = |part: &str| if several { format!("{home}.{part}") } else { part.to_owned() };
    let mut places = vec![
        OpenText::name(label("singular"), &mut entity.name),
        OpenText::name(label("plural"), &mut entity.plural),
        OpenText { label: label("about"), takes: PlaceKind::About, text: &mut entity.about },
    ];
    for field in &mut entity.fields {
        places.push(OpenText::name(label(&field.key), &mut field.name));
    }
    for action in &mut entity.actions {
        places.push(OpenText::name(label(&action.key), &mut action.name));
    }
    places
}

/// The open places of a part: short and unique labels, the kind of text, and the generated text.
fn described_places<T: OpenPart>(drawn: &T) -> Vec<(String, PlaceKind, String)> {
    let mut copy = drawn.clone();
    let mut found: Vec<(String, PlaceKind, String)> = Vec::new();
    for (index, place) in copy.places().into_iter().enumerate() {
        let plain = place.label.len() <= LABEL_CHARS && place.label != "choice";
        let label = if plain && found.iter().all(|(label, ..)| *label != place.label) {
            place.label
        } else {
            format!("place_{}", index + 1)
        };
        found.push((label, place.takes, place.text.clone()));
    }
    found
}

/// The form of an answer: a JSON schema in the subset of strict structured outputs (an object at the root, every
/// key required, nothing else).
pub(crate) fn schema<T: OpenPart>(choices: &[T]) -> Value {
    let mut forms: Vec<Value> = (1..)
        .zip(choices)
        .map(|(number, choice): (u32, &T)| {
            let mut properties = Map::new();
            properties.insert("choice".to_owned(), json!({"type": "string", "enum": [number.to_string()]}));
            for (label, takes, _) in described_places(choice) {
                properties.insert(label, json!({"type": "string", "pattern": takes.pattern()}));
            }
            let required: Vec<&String> = properties.keys().collect();
            json!({"type": "object", "required": required, "properties": properties, "additionalProperties": false})
        })
        .collect();
    let answer = if forms.len() == 1 { forms.remove(0) } else { json!({"anyOf": forms}) };
    json!({
        "type": "object",
        "properties": {"answer": answer},
        "required": ["answer"],
        "additionalProperties": false,
    })
}

/// Most tokens of an answer in the form.
pub(crate) fn most_tokens<T: OpenPart>(choices: &[T]) -> u32 {
    let tokens =
        |choice: &T| described_places(choice).iter().map(|(_, takes, _)| takes.most_tokens()).sum::<u32>();
    TOKENS_AROUND + choices.iter().map(tokens).max().unwrap_or(0)
}

/// An answer in the form with the generated texts, as an example for the model.
pub(crate) fn example<T: OpenPart>(number: usize, choice: &T) -> String {
    let mut answer = Map::new();
    answer.insert("choice".to_owned(), json!(number.to_string()));
    answer.extend(described_places(choice).into_iter().map(|(label, _, text)| (label, Value::String(text))));
    json!({"answer": answer}).to_string()
}

/// The result of an answer in the form, checked with `accept`; `None` if the answer is not in the form.
///
/// For a name that is in use or invalid, the generated name stays, if at least half of the texts are usable. Otherwise the
/// answer is refused. An answer that repeats every shown text is refused as well where there is one choice, because the model
/// chose nothing.
pub(crate) fn part_from_answer<T: OpenPart, R>(
    text: &str,
    choices: &[T],
    accept: impl Fn(&T) -> Result<R, String>,
) -> Option<Result<(T, R), String>> {
    let answer = structured(text)?;
    Some(chosen_part(&answer, choices, accept))
}

fn chosen_part<T: OpenPart, R>(
    answer: &Map<String, Value>,
    choices: &[T],
    accept: impl Fn(&T) -> Result<R, String>,
) -> Result<(T, R), String> {
    let number = match answer.get("choice") {
        Some(Value::String(text)) => text.trim().parse::<usize>().ok(),
        Some(Value::Number(number)) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
        _ => None,
    };
    let drawn = number
        .and_then(|number| choices.get(number.checked_sub(1)?))
        .ok_or_else(|| format!("`choice` must be a number from 1 to {}", choices.len()))?;
    let places = described_places(drawn);
    if let Some(odd) =
        answer.keys().find(|key| *key != "choice" && places.iter().all(|(label, ..)| label != *key))
    {
        let odd = model::one_line(odd, 60);
        return Err(format!("`{odd}` is nothing that belongs there"));
    }
    let mut open = drawn.clone();
    let settled = |open: &T| {
        let mut part = open.clone();
        part.settle();
        accept(&part).map(|accepted| (part, accepted))
    };
    let mut part = settled(&open)?;
    let mut unusable = Vec::new();
    let mut is_own = places.is_empty() || choices.len() > 1;
    for (index, (label, _, old_value)) in places.iter().enumerate() {
        let put = match answer.get(label) {
            Some(Value::String(text)) if text.trim() == old_value => continue,
            Some(Value::String(text)) => is_bounded_text(text.trim(), label).and_then(|()| {
                let mut tried = open.clone();
                if let Some(place) = tried.places().into_iter().nth(index) {
                    text.trim().clone_into(place.text);
                }
                settled(&tried).map(|settled| (tried, settled))
            }),
            Some(_) => Err(format!("`{label}` must be a text")),
            None => Err(format!("`{label}` is missing")),
        };
        match put {
            Ok((tried, settled)) => {
                (open, part) = (tried, settled);
                is_own = true;
            }
            Err(reason) => unusable.push(reason),
        }
    }
    if unusable.len() * 2 > places.len() {
        return Err(unusable.swap_remove(0));
    }
    if !is_own {
        let other = || "its texts are the placeholders; give each place a text of your own".to_owned();
        return Err(unusable.into_iter().next().unwrap_or_else(other));
    }
    Ok(part)
}

/// Whether a change repeats every name of a shown change with open names.
pub(crate) fn repeats(change: &Change, shown: &Change) -> bool {
    change == shown && !described_places(shown).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scenario::Seed;
    use scenario::change::ChangeKind;
    use scenario::check::check;
    use scenario::ir::is_name;
    use scenario::sample::{ProgrammaticSampler, Sampler as _, TouchedParts, draw_change_of, note_names};

    const SEED: Seed = Seed { base: 11, scenario: 1 };

    fn first() -> Schema {
        ProgrammaticSampler.first_schema(SEED).expect("a schema").value
    }

    fn valid(schema: &Schema) -> Result<(), String> {
        let mut schema = schema.clone();
        schema.used.clear();
        note_names(&mut schema);
        check(&schema).first().map_or(Ok(()), |fault| Err(fault.message.clone()))
    }

    /// The text number `n` that matches a pattern.
    fn text(takes: PlaceKind, n: usize) -> String {
        let letters: String = [n / 26, n % 26].iter().map(|n| char::from(b'a' + *n as u8)).collect();
        match takes {
            PlaceKind::Name => format!("mine_{letters}"),
            PlaceKind::Title => format!("Mine {letters}"),
            PlaceKind::About => format!("a thing of {letters}"),
        }
    }

    fn answer<T: OpenPart>(choice: &T) -> Value {
        let mut answer = json!({"choice": "1"});
        for (n, (label, takes, _)) in described_places(choice).into_iter().enumerate() {
            answer[label] = json!(text(takes, n));
        }
        json!({"answer": answer})
    }

    #[test]
    fn any_answer_in_the_form_is_valid_for_every_kind_of_change() {
        let schema = first();
        let before = scenario::change::next_turn(&schema);
        let mut kind_count = 0;
        for kind in ChangeKind::ALL {
            let mut draw = SEED.draw(2, &format!("{kind:?}"));
            let Some((drawn, _)) = draw_change_of(kind, &mut draw, &before, &mut TouchedParts::new()) else {
                continue;
            };
            kind_count += 1;
            let answer_text = answer(&drawn).to_string();
            let accept = |change: &Change| scenario::change::apply(&before, change).map_err(|r| r.reason);
            let (change, after) = part_from_answer(&answer_text, std::slice::from_ref(&drawn), accept)
                .expect("it is in the form")
                .unwrap_or_else(|reason| panic!("{kind:?}: {reason}"));
            assert_eq!(change.kind(), kind);
            assert_eq!(check(&after), []);
            let named = serde_json::to_string(&change).expect("JSON").contains("mine_");
            assert_eq!(named, !described_places(&drawn).is_empty(), "{kind:?}");
        }
        assert!(kind_count > 40, "{kind_count} kinds");
    }

    #[test]
    fn a_first_schema_uses_all_names_and_updates_every_reference() {
        let drawn = first();
        let answer_text = answer(&drawn).to_string();
        let (part, ()) = part_from_answer(&answer_text, std::slice::from_ref(&drawn), valid)
            .expect("a form")
            .expect("taken");
        assert!(part.title.starts_with("Mine "));
        assert!(
            part.entities.iter().all(|entity| entity.key.starts_with("mine_") && entity.key == entity.plural)
        );
        assert_eq!(part.conventions, drawn.conventions);
    }

    #[test]
    fn the_generated_name_replaces_a_name_in_use_and_too_many_are_refused() {
        let drawn = first();
        let mut answer_text = answer(&drawn);
        let places = described_places(&drawn);
        let (field, text) = (places[4].0.clone(), places[4].2.clone());
        answer_text["answer"][&field] = json!("id");
        let (part, ()) = part_from_answer(&answer_text.to_string(), std::slice::from_ref(&drawn), valid)
            .expect("a form")
            .expect("taken");
        assert_eq!(part.entities[0].fields[0].name, text);

        for (label, ..) in &places {
            answer_text["answer"][label] = json!("same");
        }
        let refused =
            part_from_answer(&answer_text.to_string(), std::slice::from_ref(&drawn), valid).expect("a form");
        assert!(refused.is_err());
    }

    #[test]
    fn an_answer_that_repeats_the_placeholders_is_refused() {
        let drawn = first();
        let answer_text = example(1, &drawn);
        let refused = part_from_answer(&answer_text, std::slice::from_ref(&drawn), valid).expect("a form");
        assert!(refused.expect_err("a parrot").contains("placeholders"));
        // One new text is enough. A change without open places is a choice.
        let mut value: Value = serde_json::from_str(&answer_text).expect("JSON");
        value["answer"]["title"] = json!("Of Its Own");
        let taken =
            part_from_answer(&value.to_string(), std::slice::from_ref(&drawn), valid).expect("a form");
        assert_eq!(taken.expect("taken").0.title, "Of Its Own");
        let before = scenario::change::next_turn(&drawn);
        let mut counts = [0, 0];
        for kind in ChangeKind::ALL {
            let mut draw = SEED.draw(2, &format!("{kind:?}"));
            let Some((change, _)) = draw_change_of(kind, &mut draw, &before, &mut TouchedParts::new()) else {
                continue;
            };
            let is_open = !described_places(&change).is_empty();
            let accept = |change: &Change| scenario::change::apply(&before, change).map_err(|r| r.reason);
            let taken = part_from_answer(&example(1, &change), std::slice::from_ref(&change), accept)
                .expect("a form");
            assert_eq!(taken.is_err(), is_open, "{kind:?}");
            // One of several is a choice, whatever it is called.
            let several = [change.clone(), change.clone()];
            assert!(
                part_from_answer(&example(2, &change), &several, accept).expect("a form").is_ok(),
                "{kind:?}"
            );
            assert_eq!(repeats(&change, &change), is_open, "{kind:?}");
            counts[usize::from(is_open)] += 1;
        }
        assert!(counts.iter().all(|counts| *counts > 3), "{counts:?}");
    }

    #[test]
    fn an_answer_without_the_form_is_left_to_the_other_parser_and_odd_answers_are_refused() {
        let drawn = [first()];
        assert!(part_from_answer("I like {}", &drawn, valid).is_none());
        assert!(part_from_answer(r#"{"change": "add_field"}"#, &drawn, valid).is_none());
        for (answer_text, reason) in [
            (r#"{"answer": {"choice": "2"}}"#, "from 1 to 1"),
            (r#"{"answer": {"choice": 0}}"#, "from 1 to 1"),
            (r#"{"answer": {"choice": "1", "odd": "x"}}"#, "`odd`"),
            (r#"{"choice": "1"}"#, "is missing"),
        ] {
            let refused =
                part_from_answer(answer_text, &drawn, valid).expect("a form").expect_err(answer_text);
            assert!(refused.contains(reason), "{refused}");
        }
    }

    #[test]
    fn a_form_uses_only_the_subset_of_strict_structured_outputs() {
        fn walk(value: &Value) {
            match value {
                Value::Object(parts) => {
                    if parts.get("type") == Some(&json!("object")) {
                        assert_eq!(parts["additionalProperties"], json!(false));
                        let all: Vec<&str> = parts["properties"]
                            .as_object()
                            .expect("properties")
                            .keys()
                            .map(String::as_str)
                            .collect();
                        assert_eq!(parts["required"], json!(all));
                        assert!(all.iter().all(|key| key.len() <= 64
                            && key.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))));
                    }
                    parts.values().for_each(walk);
                }
                Value::Array(parts) => parts.iter().for_each(walk),
                _ => {}
            }
        }
        let form = schema(&[first(), first()]);
        assert_eq!(form["type"], "object");
        walk(&form);
        assert!(form.to_string().len() < 60_000);
        assert!(example(1, &first()).starts_with(r#"{"answer":{"choice":"1","title":"#));
        assert!(is_name(&text(PlaceKind::Name, 3)));
    }
}
