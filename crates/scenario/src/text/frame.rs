//! What stands around the changes of a request, and the first request.

use super::document;
use super::words::counted;
use crate::Seed;
use crate::config::Benchmark;
use crate::draw::Draw;
use crate::ir::Schema;

/// Before a field's clause.
pub(super) const IN_FULL: [&str; 6] = [
    "In full:",
    "The rule in full:",
    "It reads:",
    "So it stands as follows:",
    "To be exact:",
    "As specified:",
];

/// Before clauses that no change said by itself.
pub(super) const FOLLOWS: [&str; 5] = [
    "As a consequence, these rules are new or read differently:",
    "What else follows from this, rule by rule:",
    "These rules are touched too. They now say:",
    "For completeness, other rules that are new or changed with this:",
    "Also affected, with their new wording:",
];

/// Before what is gone and no change said.
pub(super) const GONE: [&str; 5] = [
    "What goes with it:",
    "No longer there after this:",
    "These things disappear as well:",
    "Also gone:",
    "With that, the following ends:",
];

/// Before names that follow from renames.
pub(super) const NAMES: [&str; 5] = [
    "The new names show up here as well:",
    "Paths and names that follow from this:",
    "With the new names, these change too:",
    "These differ as well, and only by the new names:",
    "That also means:",
];

/// Above changes of no entity.
pub(super) const GENERAL: &str = "For the whole API";

/// Before the route of an action.
pub(super) const ROUTE: [&str; 4] = ["Route:", "The route is", "It is called by", "To be called as"];

/// Before rules that no longer hold.
pub(super) const DROPPED: [&str; 5] = [
    "These rules no longer hold:",
    "With that, the following rules are dropped:",
    "Rules that are not in force any more:",
    "The following does not apply any longer:",
    "Dropped along with it:",
];

/// Letters of tickets.
pub(super) const TEAMS: [&str; 6] = ["API", "CORE", "BACK", "WEB", "OPS", "DATA"];

const OPENINGS: [&str; 16] = [
    "Here is the next round of changes for the API of “{title}”.",
    "We have been using the “{title}” API for a while, and a few things came up.",
    "Please update the server as follows.",
    "Time for the next version of “{title}”.",
    "Thanks for the last round! Next we need this:",
    "The API has to change a little.",
    "After a meeting with the people who use “{title}”, this is what we would like to have changed.",
    "Next step for “{title}”.",
    "Some more requirements have come in.",
    "The following goes into the next release.",
    "Hello again! There is more to do on “{title}”.",
    "Change request for “{title}”, version {turn}.",
    "I went through the feedback on “{title}”. This is what came out of it.",
    "Could you please work these changes into the existing server?",
    "Release {turn} of “{title}” brings the following.",
    "Our requirements have moved on once more.",
];

const OPENINGS_OF_ONE: [&str; 8] = [
    "Just one change for the “{title}” API this time.",
    "A single request today.",
    "Only one thing this time.",
    "One change to “{title}”, please.",
    "There is one more thing to do on “{title}”.",
    "Next change for the server:",
    "Release {turn} of “{title}” brings one change.",
    "Please work this change into the existing server.",
];

const CLOSINGS: [&str; 12] = [
    "Everything else stays as it is.",
    "All that is not mentioned here must keep working exactly as before.",
    "Please leave the rest of the API unchanged.",
    "What this message does not mention does not change.",
    "Nothing else changes. The server is started as before.",
    "The rest of the specification still holds, word for word.",
    "As always: whatever is not named above stays the same.",
    "Take care that everything else goes on working as it did.",
    "No other behaviour may change.",
    "Other routes, fields and rules are not touched by this.",
    "Thank you! The rest remains as agreed before.",
    "Apart from that, all earlier requirements stay in force.",
];

const NOTES: [&str; 4] = [
    "(Names in this message are those that hold after all of the changes.)",
    "Where something is renamed, the rest of this message uses the new name.",
    "All of it is written with the new names.",
    "Note that this message uses the names as they are after the change.",
];

pub(super) fn names_note(draw: &mut Draw) -> &'static str {
    draw.pick(&NOTES).copied().unwrap_or_default()
}

pub(super) fn opening(draw: &mut Draw, _before: &Schema, after: &Schema, count: usize, out: &mut String) {
    let from: &[&str] = if count == 1 { &OPENINGS_OF_ONE } else { &OPENINGS };
    let text = draw.pick(from).copied().unwrap_or_default();
    out.push_str(&text.replace("{title}", &after.title).replace("{turn}", &after.turn.to_string()));
}

pub(super) fn closing(draw: &mut Draw, out: &mut String) {
    out.push_str(draw.pick(&CLOSINGS).copied().unwrap_or_default());
    out.push('\n');
}

/// What leads from one paragraph to the next.
pub(super) fn connective(draw: &mut Draw, index: usize, count: usize) -> &'static str {
    let from: &[&str] = if index == 0 {
        &["", "First: ", "To begin with: ", ""]
    } else if index + 1 == count {
        &["Finally: ", "The last point: ", "And last but not least: ", "", "One more thing: "]
    } else {
        &["", "", "Then: ", "Next: ", "Also: ", "Besides: ", "Another point: "]
    };
    draw.pick(from).copied().unwrap_or_default()
}

const TASKS: [&str; 8] = [
    "Please build a REST API server for a system called “{title}”.",
    "We are starting a new project, “{title}”, and need its backend: an HTTP server with a JSON API.",
    "I need a server for “{title}”. It has no user interface, only a REST API, which other teams will use.",
    "Your task is to write the backend of “{title}”, an HTTP API with {entities}.",
    "Our team takes over “{title}” and wants to start anew with a clean REST API. Could you implement it?",
    "“{title}” is to get an API. Below is what we have agreed on; please implement all of it.",
    "For a prototype of “{title}” we need a working REST server as specified below.",
    "We have lost the source code of our system “{title}” and only the specification is left. Please write the server \
     again.",
];

const MEANS: [&str; 5] = [
    "Use any language and framework that you like.",
    "The language is up to you, and so are the libraries.",
    "You are free in the choice of language and tools.",
    "Any programming language will do.",
    "Which language you write it in does not matter to us.",
];

const LATER: [&str; 5] = [
    "Later messages will change this API step by step. Each states only what changes; everything that it does not \
     mention stays as it is.",
    "Expect change requests after this one. They will name only what is different then, and all the rest keeps holding.",
    "This is the first version. In later messages we will ask for changes; whatever they do not mention has to stay as \
     it is.",
    "The API will grow and change over many messages, so write it in a way that is easy to change. What a message does \
     not mention stays as it was.",
    "More requests will follow, and each will describe changes only. Anything not mentioned in them remains as \
     specified before.",
];

const EXACT: [&str; 4] = [
    "The specification is exact: an automatic test suite checks what it says, and nothing that it does not say.",
    "Please follow the specification by letter; it is tested automatically.",
    "Everything in the specification counts and is checked by tests.",
    "We test the server automatically against what is written here.",
];

/// The task, how the server is started, what comes later, and the specification.
pub(super) fn first_request(seed: Seed, schema: &Schema, benchmark: Benchmark) -> String {
    let mut draw = seed.draw(schema.turn, "request");
    let mut one = |from: &[&'static str]| draw.pick(from).copied().unwrap_or_default();
    let count = u32::try_from(schema.entities.len()).unwrap_or(u32::MAX);
    let task = one(&TASKS)
        .replace("{title}", &schema.title)
        .replace("{entities}", &counted(count, "entity", "entities").replace('`', ""));
    let mut out = String::with_capacity(16 * 1024);
    out.push_str(&task);
    out.push_str("\n\n");
    out.push_str(
        "The project's top folder must contain an executable `run.sh` that starts the server on the port in the \
         environment variable `PORT`, listening on `0.0.0.0`, and stays in the foreground. ",
    );
    out.push_str(one(&MEANS));
    out.push_str(" Keep all data in memory: no database is needed, and every start begins empty. ");
    out.push_str(one(&EXACT));
    out.push_str("\n\n");
    if benchmark == Benchmark::Iterative {
        out.push_str(one(&LATER));
        out.push_str("\n\n");
    }
    out.push_str(&format!("# {}: API specification\n\n{}\n\n", schema.title, super::NOTATION));
    document::write(schema, 2, &mut out);
    out
}
