//! What surrounds the changes of a request, and the first request.

use super::document;
use super::english::counted;
use crate::Seed;
use crate::config::Benchmark;
use crate::draw::Draw;
use crate::ir::Schema;

/// Before clauses that no change stated.
pub(super) const FOLLOWS: [&str; 5] = [
    "As a consequence, these rules apply from now on:",
    "This also affects the following rules:",
    "For completeness, these rules apply from now on as well:",
    "Other rules that apply because of this:",
    "With this, these rules apply, too:",
];

/// Before what was removed and no change stated.
pub(super) const CONSEQUENCE_OPENINGS: [&str; 5] = [
    "As a consequence, also:",
    "This also has these consequences:",
    "Removed or dropped along with this:",
    "With this, the following changes as well:",
    "Also note:",
];

/// Before names that follow from renames.
pub(super) const NAMES: [&str; 5] = [
    "These paths and names change along with it (old → new):",
    "Paths and names that follow from this (old → new):",
    "With the new names, these change too (old → new):",
    "The renaming also changes these (old → new):",
    "For reference, other paths and names that change (old → new):",
];

/// Above changes of no entity.
pub(super) const GENERAL_TITLE: &str = "Analytics and general rules";

/// Before rules that no longer hold.
pub(super) const DROPPED_OPENINGS: [&str; 5] = [
    "These rules no longer apply:",
    "With this, the following rules are dropped:",
    "Rules that are no longer in force:",
    "As a consequence, these rules are removed:",
    "Dropped along with this:",
];

/// Letters of tickets.
pub(super) const TEAMS: [&str; 6] = ["API", "CORE", "BACK", "WEB", "OPS", "DATA"];

const OPENINGS: [&str; 16] = [
    "Here is the next round of changes for the “{title}” API.",
    "We have been using the “{title}” API for a while, and a few things came up.",
    "Please update the server as follows.",
    "Time for the next version of “{title}”.",
    "Thanks for the last round! Next, we need this:",
    "The API has to change a little.",
    "After a meeting with the people who use “{title}”, this is what we would like to change.",
    "Next step for “{title}”:",
    "Some more requirements have come in.",
    "The following goes into the next release.",
    "Hello again! There is more to do on “{title}”.",
    "Change request for “{title}”, version {turn}.",
    "I went through the feedback on “{title}”. This is what came out of it.",
    "Could you please make these changes to the existing server?",
    "Release {turn} of “{title}” brings the following changes.",
    "Our requirements have changed.",
];

const OPENINGS_OF_ONE: [&str; 8] = [
    "Just one change for the “{title}” API this time.",
    "A single request today.",
    "Only one thing this time.",
    "One change to “{title}”, please.",
    "There is one more thing to do on “{title}”.",
    "Next change for the server:",
    "Release {turn} of “{title}” brings one change.",
    "Please make this change to the existing server.",
];

const CLOSINGS: [&str; 12] = [
    "Everything else stays as it is.",
    "All that is not mentioned here must keep working exactly as before.",
    "Please leave the rest of the API unchanged.",
    "Anything that this message does not mention does not change.",
    "Nothing else changes. The server is started as before.",
    "The rest of the specification still applies, word for word.",
    "As always, everything not named above stays the same.",
    "Please make sure that everything else keeps working as it did.",
    "No other behavior may change.",
    "Other routes, fields and rules are not affected.",
    "Thank you! The rest remains as specified before.",
    "Apart from that, all earlier requirements remain in force.",
];

const NOTES: [&str; 4] = [
    "(Names and paths below are those that apply after all of the changes; only a rename itself quotes the old one.)",
    "Where a name or path changes, all of this message uses the new one; only the change itself quotes the old one.",
    "Apart from the old name or path in a rename itself, this message uses the new ones.",
    "Note that this message uses names and paths as they are after all changes, except for the old ones in the renames.",
];

pub(super) fn names_note(draw: &mut Draw) -> &'static str {
    draw.pick(&NOTES).copied().unwrap_or_default()
}

pub(super) fn opening(draw: &mut Draw, _before: &Schema, after: &Schema, count: usize, out: &mut String) {
    let texts: &[&str] = if count == 1 { &OPENINGS_OF_ONE } else { &OPENINGS };
    let text = draw.pick(texts).copied().unwrap_or_default();
    out.push_str(&text.replace("{title}", &after.title).replace("{turn}", &after.turn.to_string()));
}

pub(super) fn closing(draw: &mut Draw, out: &mut String) {
    out.push_str(draw.pick(&CLOSINGS).copied().unwrap_or_default());
    out.push('\n');
}

/// What leads from one paragraph to the next.
pub(super) fn connective(draw: &mut Draw, index: usize, count: usize) -> &'static str {
    let texts: &[&str] = if index == 0 {
        &["", "First: ", "To begin with: ", ""]
    } else if index + 1 == count {
        &["Finally: ", "Last point: ", "Last but not least: ", "", "One more thing: "]
    } else {
        &["", "", "Then: ", "Next: ", "Also: ", "In addition: ", "Another point: "]
    };
    draw.pick(texts).copied().unwrap_or_default()
}

const TASKS: [&str; 8] = [
    "Please build a REST API server for a system called “{title}”.",
    "We are starting a new project, “{title}”, and need its backend: an HTTP server with a JSON API.",
    "I need a server for “{title}”. It has no user interface, only a REST API that other teams will use.",
    "Your task is to write the backend of “{title}”, an HTTP API with {entities}.",
    "Our team has taken over “{title}” and wants to start again with a clean REST API. Please implement it.",
    "“{title}” needs an API. Below is what we agreed on; please implement all of it.",
    "For a prototype of “{title}”, we need a working REST server as specified below.",
    "We lost the source code of our system “{title}”; only its specification is left. Please write the server again.",
];

const MEANS: [&str; 5] = [
    "Use any language and framework you like.",
    "The language and the libraries are up to you.",
    "You are free to choose the language and the tools.",
    "Any programming language will do.",
    "It does not matter to us which language you write it in.",
];

const LATER_MESSAGES: [&str; 5] = [
    "Later messages will change this API step by step. Each states only what changes; everything that it does not mention \
     stays as it is.",
    "Expect change requests after this one. They state only what is different; everything else stays in force.",
    "This is the first version. Later messages will ask for changes; whatever they do not mention stays as it is.",
    "The API will grow and change over many messages, so write it in a way that is easy to change. What a message does \
     not mention stays as it was.",
    "More requests will follow, and each describes only changes. Everything that they do not mention stays as specified \
     before.",
];

const EXACT_REQUESTS: [&str; 4] = [
    "The specification is exact: automated tests check what it states, and nothing that it does not state.",
    "Please follow the specification to the letter; automated tests check it.",
    "Everything in the specification counts and is checked by automated tests.",
    "We test the server automatically against the specification below.",
];

/// The task, how the server is started, what comes later, and the specification.
pub(super) fn first_request(seed: Seed, schema: &Schema, benchmark: Benchmark) -> String {
    let mut draw = seed.draw(schema.turn, "request");
    let mut pick_text = |texts: &[&'static str]| draw.pick(texts).copied().unwrap_or_default();
    let count = u32::try_from(schema.entities.len()).unwrap_or(u32::MAX);
    let task = pick_text(&TASKS)
        .replace("{title}", &schema.title)
        .replace("{entities}", &counted(count, "entity", "entities").replace('`', ""));
    let mut out = String::with_capacity(16 * 1024);
    out.push_str(&task);
    out.push_str("\n\n");
    out.push_str(
        "The project's top folder must contain an executable file `run.sh` that starts the server on the port given by the \
         environment variable `PORT`, listens on `0.0.0.0`, and stays in the foreground. ",
    );
    out.push_str(pick_text(&MEANS));
    out.push_str(
        " Keep all data in memory: no database is needed, and the server starts without any records. ",
    );
    out.push_str(pick_text(&EXACT_REQUESTS));
    out.push_str("\n\n");
    if benchmark == Benchmark::Iterative {
        out.push_str(pick_text(&LATER_MESSAGES));
        out.push_str("\n\n");
    }
    out.push_str(&format!("# {}: API specification\n\n{}\n\n", schema.title, super::NOTATION));
    document::write(schema, 2, &mut out);
    out
}
