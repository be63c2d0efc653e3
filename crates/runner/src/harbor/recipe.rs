//! What the recipe of an image (`Dockerfile`) does, for a person who has to decide whether it may be built.
//!
//! Not for building: the engine reads the recipe itself. What is not known to do nothing is shown as it stands.

/// Letters of a command that are shown.
const SHOWN_LETTERS: usize = 200;
/// Commands that are shown.
const SHOWN: usize = 20;
/// Images that are shown.
const SHOWN_IMAGES: usize = 20;

/// Instructions that execute nothing and fetch nothing.
const QUIET: [&str; 10] =
    ["ARG", "ENV", "EXPOSE", "LABEL", "MAINTAINER", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"];

/// A recipe in short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// Images that it begins with or copies from, in its order.
    pub from: Vec<String>,
    /// What it executes or fetches, in its order: the instruction with what stands behind it, on one line and cut.
    pub executes: Vec<String>,
    /// Further images and commands that are not shown.
    pub more: u32,
}

impl Recipe {
    /// Reads the text of a recipe.
    pub(super) fn from_text(text: &str) -> Self {
        let mut recipe = Self::default();
        let mut stages: Vec<String> = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let whole = instruction(line, &mut lines);
            let word = whole.split_whitespace().next().unwrap_or_default().to_uppercase();
            let rest: Vec<&str> = whole.split_whitespace().skip(1).collect();
            let (flags, names): (Vec<&str>, Vec<&str>) = rest.iter().partition(|word| word.starts_with("--"));
            match word.as_str() {
                "FROM" => {
                    recipe.add_image(names.first().copied().unwrap_or_default(), &stages);
                    if let Some(at) = names.iter().position(|word| word.eq_ignore_ascii_case("AS")) {
                        stages.extend(names.get(at + 1).map(|name| (*name).to_owned()));
                    }
                }
                "COPY" => {
                    for image in flags.iter().filter_map(|flag| flag.strip_prefix("--from=")) {
                        recipe.add_image(image, &stages);
                    }
                }
                // Files of the task's own folder, unless they come from an address.
                "ADD" if !rest.iter().any(|word| word.contains("://") || word.contains('@')) => {}
                word if QUIET.contains(&word) => {}
                _ => recipe.add_command(&whole),
            }
        }
        recipe
    }

    fn add_image(&mut self, name: &str, stages: &[String]) {
        let is_stage =
            name.parse::<u32>().is_ok() || stages.iter().any(|stage| stage.eq_ignore_ascii_case(name));
        if is_stage || self.from.iter().any(|known| known == name) {
            return;
        }
        if self.from.len() < SHOWN_IMAGES {
            self.from.push(cut(name));
        } else {
            self.more += 1;
        }
    }

    fn add_command(&mut self, whole: &str) {
        if self.executes.len() < SHOWN {
            self.executes.push(cut(whole));
        } else {
            self.more += 1;
        }
    }
}

/// A whole instruction: its first line, with lines that continue it and texts that stand below it (`<<END`).
fn instruction<'a>(first: &str, lines: &mut impl Iterator<Item = &'a str>) -> String {
    let mut whole = first.to_owned();
    while whole.ends_with('\\') {
        whole.pop();
        // Comments may stand between lines that belong together.
        let Some(next) = lines.by_ref().find(|line| !line.trim_start().starts_with('#')) else { break };
        whole.push(' ');
        whole.push_str(next.trim());
    }
    let ends: Vec<String> = whole
        .split_whitespace()
        .filter_map(|word| word.split_once("<<"))
        .map(|(_, end)| end.trim_start_matches('-').trim_matches(['"', '\'']).to_owned())
        .filter(|end| end.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .collect();
    for end in ends {
        for line in lines.by_ref() {
            if line.trim() == end {
                break;
            }
            whole.push_str("; ");
            whole.push_str(line.trim());
        }
    }
    whole
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
             COPY --chown=0 --from=example/tool:1 /x /y\n\
             ADD local.tar /\n\
             ADD https://example.org/x.tar /x\n\
             RUN <<END\n  curl example.org\n  sh x\nEND\n\
             FROM base\n\
             FROM debian\n\
             USER nobody\n\
             ENTRYPOINT [\"/start.sh\"]\n\
             TICK RUN whatever\n",
        );
        assert_eq!(recipe.from, ["python:3.12", "example/tool:1", "debian"]);
        assert_eq!(
            recipe.executes,
            [
                "RUN apt-get update && apt-get install -y git",
                "ADD https://example.org/x.tar /x",
                "RUN <<END; curl example.org; sh x",
                "ENTRYPOINT [\"/start.sh\"]",
                "TICK RUN whatever",
            ]
        );
        assert_eq!(recipe.more, 0);
    }

    #[test]
    fn of_a_long_recipe_it_is_said_how_much_is_not_shown() {
        let pairs: Vec<String> =
            (0..50).map(|n| format!("FROM image-{n}\nRUN {}", "x".repeat(1000))).collect();
        let recipe = Recipe::from_text(&pairs.join("\n"));
        assert_eq!((recipe.from.len(), recipe.executes.len(), recipe.more), (20, 20, 60));
        assert!(recipe.executes[0].ends_with("… (804 more characters)"), "{}", recipe.executes[0]);
        // A text below an instruction that never ends.
        assert_eq!(Recipe::from_text("RUN <<END\na").executes, ["RUN <<END; a"]);
        assert_eq!(Recipe::from_text("RUN a \\").executes, ["RUN a"]);
    }
}
