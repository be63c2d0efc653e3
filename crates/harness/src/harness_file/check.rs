//! The rules of harness files that TOML cannot express. An error names the key.

use std::collections::BTreeMap;

use super::format::{Commands, Document, Failure, File, Mode, Reader, SessionSource, Success, Transcript};
use super::template::{NAMES, names};
use crate::outcome_code::Program;

/// What a call uses in one mode.
pub(super) struct CallParts<'a> {
    pub(super) commands: &'a Commands,
    pub(super) env: BTreeMap<&'a str, &'a str>,
    pub(super) files: Vec<&'a File>,
    /// The name of the model for the program.
    pub(super) model: Option<&'a str>,
}

impl CallParts<'_> {
    /// Whether a command, a variable or a file has one of these placeholders.
    pub(super) fn has(&self, wanted: &[&str]) -> bool {
        let texts = self.commands.all().flat_map(|(_, argv)| argv.iter().map(String::as_str));
        let texts = texts.chain(self.env.values().copied());
        let texts = texts.chain(self.commands.later_env.values().map(String::as_str));
        let mut texts = texts.chain(self.files.iter().map(|file| file.text.as_str()));
        texts.any(|text| has(text, wanted))
    }

    /// Whether the request must be a file in HOME.
    pub(super) fn has_prompt_file(&self) -> bool {
        self.commands.stdin || self.has(&["prompt_file"])
    }
}

impl Commands {
    /// The commands with their keys.
    fn all(&self) -> impl Iterator<Item = (&'static str, &Vec<String>)> {
        let all = [
            ("first", Some(&self.first)),
            ("later", self.later.as_ref()),
            ("later_without_id", self.later_without_id.as_ref()),
        ];
        all.into_iter().filter_map(|(key, argv)| Some((key, argv?)))
    }
}

impl Document {
    /// What a call uses with the gateway or in direct mode.
    pub(super) fn call_parts(&self, direct: bool) -> CallParts<'_> {
        let mode = if direct { &self.direct } else { &self.gateway };
        let env = self.env.iter().chain(&mode.env);
        let keys_of_both =
            self.files.iter().filter(|file| mode.files.iter().all(|mode_file| mode_file.path != file.path));
        CallParts {
            commands: mode.commands.as_ref().unwrap_or(&self.commands),
            env: env.map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            files: keys_of_both.chain(&mode.files).collect(),
            model: mode.model.as_deref(),
        }
    }

    /// Whether a call in direct mode has a placeholder that needs the gateway.
    pub(super) fn needs_endpoint(&self) -> bool {
        self.call_parts(true).has(&["base_url", "key"])
    }

    fn modes(&self) -> [(&'static str, &Mode); 2] {
        [("gateway", &self.gateway), ("direct", &self.direct)]
    }

    /// All commands with their keys.
    fn argvs(&self) -> Vec<(String, &Vec<String>)> {
        let commands = self.commands.all().map(|(key, argv)| (format!("commands.{key}"), argv));
        let mut found: Vec<_> = commands.collect();
        for (name, mode) in self.modes() {
            let mode_commands = mode.commands.iter().flat_map(Commands::all);
            found.extend(mode_commands.map(|(key, argv)| (format!("{name}.commands.{key}"), argv)));
        }
        found
    }

    /// All variables: key, name and value.
    fn variables(&self) -> Vec<(String, &str, &str)> {
        let mut tables =
            vec![("env".to_owned(), &self.env), ("commands.later_env".to_owned(), &self.commands.later_env)];
        for (name, mode) in self.modes() {
            tables.push((format!("{name}.env"), &mode.env));
            let commands = mode.commands.iter();
            tables
                .extend(commands.map(|commands| (format!("{name}.commands.later_env"), &commands.later_env)));
        }
        let mut found = Vec::new();
        for (key, table) in tables {
            let table = table.iter();
            found.extend(table.map(|(name, value)| (format!("{key}.{name}"), name.as_str(), value.as_str())));
        }
        found
    }

    /// All files with their keys.
    fn all_files(&self) -> Vec<(String, &File)> {
        let mut found: Vec<_> =
            self.files.iter().enumerate().map(|(n, file)| (format!("files[{n}]"), file)).collect();
        for (name, mode) in self.modes() {
            let files = mode.files.iter().enumerate();
            found.extend(files.map(|(n, file)| (format!("{name}.files[{n}]"), file)));
        }
        found
    }

    /// All texts with placeholders, with their keys.
    fn texts(&self) -> Vec<(String, &str)> {
        let mut found = Vec::new();
        for (key, argv) in self.argvs() {
            found.extend(argv.iter().enumerate().map(|(n, text)| (format!("{key}[{n}]"), text.as_str())));
        }
        found.extend(self.variables().into_iter().map(|(key, _, value)| (key, value)));
        found.extend(
            self.all_files().into_iter().map(|(key, file)| (format!("{key}.text"), file.text.as_str())),
        );
        found.extend(self.paths().into_iter().map(|(key, path)| (key.to_owned(), path)));
        found
    }

    /// The paths below HOME with placeholders, with their keys.
    fn paths(&self) -> Vec<(&'static str, &str)> {
        let paths = [
            ("transcript.file", self.transcript.file.as_deref()),
            ("usage.file", self.usage.as_ref().and_then(|u| u.file.as_deref())),
            ("success.file.path", self.success.file.as_ref().map(|f| f.path.as_str())),
            ("failure.file", self.failure.file.as_deref()),
        ];
        paths.into_iter().filter_map(|(key, path)| Some((key, path?))).collect()
    }

    /// Checks the rules. The file of a user must not have the name of a harness that comes with Stamina Lab.
    pub(super) fn check(&self, is_built_in: bool) -> Result<(), String> {
        let word = |text: &str| {
            !text.is_empty()
                && text.len() <= 40
                && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        };
        if !word(&self.name) {
            return Err(format!(
                "name: {:?} is not a word of at most 40 lower-case letters, digits and _",
                self.name
            ));
        }
        if !is_built_in && crate::all().iter().any(|known| known.name() == self.name) {
            return Err(format!("name: {} is the name of a harness that comes with Stamina Lab", self.name));
        }
        for (key, text) in [("image", &self.image), ("version", &self.version)] {
            if text.trim().is_empty() || text.chars().any(char::is_whitespace) {
                return Err(format!("{key}: it is empty or has a blank in it"));
            }
        }
        for (key, argv) in std::iter::once(("probe".to_owned(), &self.probe)).chain(self.argvs()) {
            if argv.first().is_none_or(String::is_empty) {
                return Err(format!("{key}: it names no program"));
            }
        }
        for (key, text) in self.texts() {
            if let Some(unknown) = names(text).find(|name| !NAMES.contains(name)) {
                let known = NAMES.map(|name| format!("{{{name}}}")).join(" ");
                return Err(format!("{key}: there is no placeholder {{{unknown}}}; there are {known}"));
            }
        }
        for (name, mode) in self.modes() {
            let mut others = mode.model.iter().flat_map(|text| names(text)).filter(|name| *name != "model");
            if let Some(other) = others.next() {
                return Err(format!("{name}.model: {{{other}}} cannot be used here; only {{model}} can"));
            }
        }
        self.check_commands(false)?;
        self.check_commands(true)?;
        for (key, file) in self.all_files() {
            below_home(&format!("{key}.path"), &file.path)?;
        }
        let session_files = self.session.files.as_deref().map(|path| ("session.files", path));
        let session_file = self.session.file.as_deref().map(|path| ("session.file", path));
        for (key, path) in self.paths().into_iter().chain(session_files).chain(session_file) {
            below_home(key, path)?;
        }
        for (key, name, _) in self.variables() {
            if name.is_empty() || name.contains(['=', '\0']) || name == "HOME" {
                return Err(format!("{key}: this variable cannot be set"));
            }
        }
        self.check_session()?;
        self.check_reading()
    }

    /// Checks the commands of one mode.
    fn check_commands(&self, direct: bool) -> Result<(), String> {
        let (name, mode) = if direct { ("direct", &self.direct) } else { ("gateway", &self.gateway) };
        let before = if mode.commands.is_some() { format!("{name}.commands") } else { "commands".to_owned() };
        let used = self.call_parts(direct);
        let in_file = used.files.iter().any(|file| has(&file.text, &["prompt", "prompt_file"]));
        let in_env = used.env.values().any(|value| has(value, &["prompt", "prompt_file"]));
        for (key, argv) in used.commands.all() {
            let in_argv = argv.iter().any(|part| has(part, &["prompt", "prompt_file"]));
            if !(in_argv || used.commands.stdin || in_file || in_env) {
                return Err(format!(
                    "{before}.{key}: the request is missing: use {{prompt}}, {{prompt_file}} or stdin = true"
                ));
            }
            // The script of a shell must not contain text from a request, the name of a model or a container.
            let shell = argv
                .first()
                .and_then(|p| p.rsplit('/').next())
                .is_some_and(|p| matches!(p, "sh" | "bash" | "dash" | "zsh" | "ash" | "busybox"));
            let script = argv.iter().position(|part| part.starts_with('-') && part.ends_with('c'));
            if let (true, Some(script)) = (shell, script.and_then(|index| argv.get(index + 1)))
                && let Some(name) = names(script).next()
            {
                return Err(format!(
                    "{before}.{key}: {{{name}}} inside a shell's script would be read as shell; give it as a further \
                     argument and use \"$1\""
                ));
            }
        }
        let source = self.session.source();
        let placeholder = if source == SessionSource::File { "session_file" } else { "session" };
        if source != SessionSource::None && !used.has(&[placeholder]) {
            return Err(format!(
                "session.from: no command uses {{{placeholder}}}, so no session would be continued"
            ));
        }
        let in_path = self.paths().iter().any(|(_, path)| has(path, &["session_file"]));
        if source != SessionSource::File && (in_path || used.has(&["session_file"])) {
            return Err("session.from: {session_file} needs session.from = \"file\"".to_owned());
        }
        let has_session = |argv: &[String]| argv.iter().any(|part| has(part, &["session"]));
        if source != SessionSource::Caller && has_session(&used.commands.first) {
            return Err(format!(
                "{before}.first: {{session}} is not known before the first call, unless session.from = \"caller\""
            ));
        }
        if let Some(argv) = &used.commands.later_without_id {
            if has_session(argv) {
                return Err(format!("{before}.later_without_id: {{session}} is not known in this command"));
            }
            if matches!(source, SessionSource::None | SessionSource::Caller | SessionSource::File)
                || used.commands.later.is_none()
            {
                return Err(format!(
                    "{before}.later_without_id: it needs {before}.later, and a session.from that finds the id after a call"
                ));
            }
        }
        Ok(())
    }

    fn check_session(&self) -> Result<(), String> {
        let session = &self.session;
        if let Some(file) = self.outcome.and_then(Program::session_file)
            && (session.from, session.file.as_deref()) != (Some(SessionSource::File), Some(file))
        {
            return Err(format!(
                "session.file: with this outcome session.from is \"file\" and session.file is \"{file}\", where the outcome \
                 is read"
            ));
        }
        if self.outcome.is_some_and(Program::has_chosen_id) && session.from != Some(SessionSource::Caller) {
            return Err("session.from: with this outcome it is \"caller\"".to_owned());
        }
        match session.from {
            Some(SessionSource::Stdout) if session.key.as_deref().is_none_or(str::is_empty) => {
                Err("session.key: session.from = \"stdout\" needs the key of the id in its JSON lines"
                    .to_owned())
            }
            Some(SessionSource::Files) if session.pattern().is_none() => {
                Err("session.files: session.from = \"files\" needs a path with one *, in its last part"
                    .to_owned())
            }
            Some(SessionSource::File) if session.file.as_deref().is_none_or(|file| !file.ends_with(".json")) => {
                Err("session.file: session.from = \"file\" needs a path below HOME that ends in .json".to_owned())
            }
            _ if session.file.is_some() && session.from != Some(SessionSource::File) => {
                Err("session.file: it needs session.from = \"file\"".to_owned())
            }
            Some(SessionSource::Outcome) if self.outcome.is_none() => {
                Err("session.from: \"outcome\" needs an outcome, which names the program".to_owned())
            }
            Some(SessionSource::Stdout | SessionSource::Files) if self.outcome.is_some() => {
                Err("session.from: with an outcome it is \"outcome\", \"caller\", \"file\" or \"none\"".to_owned())
            }
            None if self.commands.later.is_none() => Err(
                "session.from: without it and without commands.later every call would begin a new session; a harness that \
                 finds its session itself says session.from = \"none\""
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }

    /// Checks how its outcome is read.
    fn check_reading(&self) -> Result<(), String> {
        if self.outcome.is_some() {
            for (key, is_absent) in [
                ("transcript", self.transcript == Transcript::default()),
                ("usage", self.usage.is_none()),
                ("success", self.success == Success::default()),
                ("failure", self.failure == Failure::default()),
            ] {
                if !is_absent {
                    return Err(format!(
                        "{key}: outcome already says how this is read; leave one of them out"
                    ));
                }
            }
            return Ok(());
        }
        if self.transcript.file.is_some() && self.transcript.reader == Reader::None {
            return Err("transcript.file: it needs a transcript.reader".to_owned());
        }
        if self.transcript.list.is_some() && self.transcript.file.is_none() {
            return Err("transcript.list: it needs a document, which transcript.file names".to_owned());
        }
        if self.transcript.has_end && self.transcript.file.is_none() {
            return Err("transcript.has_end: it needs a file, which transcript.file names".to_owned());
        }
        if self.success.among.is_some() && self.success.last_line.is_none() {
            return Err("success.among: it needs a success.last_line".to_owned());
        }
        if self.usage.as_ref().is_some_and(|usage| usage.lines && usage.file.is_none()) {
            return Err("usage.lines: it needs a file, which usage.file names".to_owned());
        }
        if self.failure.file.is_some() && self.failure.message.is_none() {
            return Err("failure.file: it needs a failure.message".to_owned());
        }
        if self.success.last_line.is_none() && self.success.file.is_none() {
            return Err(
                "success: it needs last_line or file, because an exit code alone is not enough".to_owned()
            );
        }
        Ok(())
    }
}

/// Whether a text has one of these placeholders.
fn has(text: &str, wanted: &[&str]) -> bool {
    names(text).any(|name| wanted.contains(&name))
}

/// A path below HOME.
fn below_home(key: &str, path: &str) -> Result<(), String> {
    let outside = path.is_empty()
        || path.starts_with(['/', '~'])
        || path.contains(['\\', '\0'])
        || path.split('/').any(|part| matches!(part, "" | "." | ".."));
    if outside {
        return Err(format!("{key}: {path:?} is not a path below HOME: relative, with /, without .."));
    }
    Ok(())
}
