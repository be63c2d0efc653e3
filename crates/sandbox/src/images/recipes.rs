//! The recipes of our images: the folders of `data/images`, embedded, so that a binary alone can build them.

use crate::volumes::fnv;

/// What one image is built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recipe {
    /// Its folder's name: `qwen-code`.
    pub name: &'static str,
    /// The image's name: `stamina/qwen-code:0.24.4`.
    pub image: &'static str,
    /// Names and contents of its files; one is the `Dockerfile`.
    pub files: &'static [(&'static str, &'static str)],
}

macro_rules! recipe {
    ($name:literal, $version:literal, $($file:literal),+) => {
        Recipe {
            name: $name,
            image: concat!("stamina/", $name, ":", $version),
            files: &[$(($file, include_str!(concat!("../../../../data/images/", $name, "/", $file)))),+],
        }
    };
}

/// What all other recipes begin with.
pub const BASE: &Recipe = &RECIPES[0];

/// All of them; the base first.
pub const RECIPES: [Recipe; 10] = [
    recipe!("base", "1", "Dockerfile", "constraints.txt"),
    recipe!("mini-swe-agent", "2.4.6", "Dockerfile", "constraints.txt"),
    recipe!("opencode", "1.18.33", "Dockerfile"),
    recipe!("qwen-code", "0.24.4", "Dockerfile"),
    recipe!("kimi-code", "2.1.0", "Dockerfile"),
    recipe!("claude-code", "2.1.329", "Dockerfile"),
    recipe!("codex", "0.169.0", "Dockerfile"),
    recipe!("mistral-vibe", "3.0.2", "Dockerfile", "constraints.txt"),
    recipe!("kimi-cli", "1.51.0", "Dockerfile", "constraints.txt"),
    recipe!("openhands", "1.16.0", "Dockerfile", "constraints.txt"),
];

/// The recipe of an image, by the image's name or the recipe's.
pub fn recipe(name: &str) -> Option<&'static Recipe> {
    static ALL: [Recipe; 10] = RECIPES;
    ALL.iter().find(|recipe| recipe.image == name || recipe.name == name)
}

impl Recipe {
    /// Its Dockerfile.
    pub fn dockerfile(&self) -> &'static str {
        self.files.iter().find(|(name, _)| *name == "Dockerfile").map_or("", |(_, text)| *text)
    }

    /// Tells one state of the recipe from another; written on the image as a label, so that an image that an older
    /// version of the program built is known as such. Part of it is what the image stands on.
    pub fn fingerprint(&self) -> String {
        let mut all = Vec::new();
        for (name, text) in self.files {
            all.extend_from_slice(format!("{name}\0{}\0", text.len()).as_bytes());
            all.extend_from_slice(text.as_bytes());
        }
        if self.name != BASE.name {
            all.extend_from_slice(BASE.fingerprint().as_bytes());
        }
        format!("{:016x}", fnv(&all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_recipe_stands_on_the_base_and_pins_its_version() {
        for recipe in &RECIPES {
            let text = recipe.dockerfile();
            let version = recipe.image.rsplit(':').next().unwrap();
            if recipe.name == "base" {
                assert!(text.contains("FROM debian:trixie-slim"));
            } else {
                assert!(text.starts_with("FROM stamina/base:1\n"), "{}", recipe.name);
                assert!(text.contains(version), "{} pins {version}", recipe.name);
            }
            // Every file that is copied in is embedded; the bundle of certificates is added when it is built.
            for line in text.lines().filter_map(|line| line.strip_prefix("COPY ")) {
                let file = line.split(' ').next().unwrap();
                assert!(
                    file == "ca.crt" || recipe.files.iter().any(|(name, _)| *name == file),
                    "{}: {file}",
                    recipe.name
                );
            }
        }
        let mut prints: Vec<String> = RECIPES.iter().map(Recipe::fingerprint).collect();
        prints.dedup();
        assert_eq!(prints.len(), RECIPES.len());
    }
}
