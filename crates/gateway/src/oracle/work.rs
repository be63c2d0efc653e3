//! What an attempt takes: the files of a server, and the calls that write them.
//!
//! **Through a shell** a file goes as gzip in base64, in lines, in a here-document: no quoting of any shell touches it, no
//! line is too long for a terminal, and 140 kB of Python become about 20. A command stays below [`MOST`] bytes, since some
//! harnesses pass it as one argument of a process, which holds 128 KiB; what is longer goes into parts that are put
//! together by the last. Every command can be run twice without harm.
//!
//! **Without a shell** files are written as they are, one call each.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, GzBuilder};
use scenario::ir::Schema;

use super::Stack;
use super::tools::{Hands, Use};

/// Most bytes of base64 in a command.
const MOST: usize = 60_000;
/// Bytes of a line of base64, a multiple of 4.
const LINE: usize = 100;
/// Ends a here-document. Not in the alphabet of base64.
const END: &str = "END_OF_FILE";
/// What mini-swe-agent's instructions ask for at the end, as a command of its own.
pub(super) const SUBMIT: &str = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";

/// A file of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    /// In the workspace.
    pub path: &'static str,
    /// Its content.
    pub text: String,
}

/// The files of a server of a schema; the second is `run.sh`.
pub(super) fn files(schema: &Schema, stack: Stack) -> [File; 2] {
    let (path, text, start) = match stack {
        Stack::Flask => ("server.py", scenario::code::flask(schema), "exec python3 server.py"),
        Stack::Native => (
            "schema.yaml",
            // A schema that was read has no numbers that can not be written.
            schema.to_yaml().unwrap_or_default(),
            r#"exec "$STAMINA" serve-reference --schema schema.yaml --port "$PORT""#,
        ),
    };
    let run = format!("#!/bin/sh\ncd \"$(dirname \"$0\")\" || exit 1\n{start}\n");
    [File { path, text }, File { path: "run.sh", text: run }]
}

/// A step of an attempt: what the model says, and the call that goes with it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    /// One sentence.
    pub says: String,
    /// What it calls.
    pub uses: Use,
}

/// The steps that write these files with the tools at hand; none where there are no hands.
pub(super) fn steps(files: &[File; 2], hands: &Hands<'_>) -> Vec<Step> {
    let [server, run] = files;
    let mut steps = Vec::new();
    if hands.has_shell() {
        let mut step = |says: String, command: &str| {
            steps.extend(hands.run(command, &says).map(|uses| Step { says, uses }));
        };
        for (says, command) in unpack(server) {
            step(says, &command);
        }
        let check = match server.path {
            "server.py" => "python3 -m py_compile server.py",
            _ => "test -s schema.yaml",
        };
        let mut lines = String::new();
        for line in run.text.lines() {
            lines.push_str(&format!(" '{line}'"));
        }
        let command = format!(
            "cd /workspace && printf '%s\\n'{lines} > run.sh && chmod +x run.sh && {check} && wc -c *.*"
        );
        step(format!("I write run.sh and look whether {} is in order.", server.path), &command);
    } else {
        for file in files {
            let says = format!("I write {}.", file.path);
            steps.extend(hands.write(file.path, &file.text, &says).map(|uses| Step { says, uses }));
        }
    }
    steps
}

/// The commands that write a file, each with what it does.
fn unpack(file: &File) -> Vec<(String, String)> {
    let path = file.path;
    let packed = lines(&STANDARD.encode(gzip(file.text.as_bytes())));
    let pieces = pieces(&packed);
    if let [one] = pieces.as_slice() {
        let command = format!("cd /workspace && base64 -d <<'{END}' | gunzip > {path}\n{one}{END}\n");
        return vec![(format!("I write {path}."), command)];
    }
    let count = pieces.len();
    let mut commands: Vec<(String, String)> = pieces
        .into_iter()
        .enumerate()
        .map(|(index, piece)| {
            let part = format!("{path}.part{index:02}");
            // What an interrupted attempt left would be taken for a part of this one.
            let clean = if index == 0 { format!("rm -f {path}.part* && ") } else { String::new() };
            let command = format!("cd /workspace && {clean}cat > {part} <<'{END}'\n{piece}{END}\n");
            (format!("I write {path}, part {} of {count}.", index + 1), command)
        })
        .collect();
    let command = format!(
        "cd /workspace && if ls {path}.part* > /dev/null 2>&1; then \
         cat {path}.part* | base64 -d | gunzip > {path} && rm {path}.part*; fi"
    );
    commands.push((format!("I put {path} together."), command));
    commands
}

/// The same bytes for the same text: no time, no name.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    // A vector takes everything.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

/// Breaks a text into lines.
fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / LINE + 1);
    for (index, c) in text.chars().enumerate() {
        if index > 0 && index % LINE == 0 {
            out.push('\n');
        }
        out.push(c);
    }
    out.push('\n');
    out
}

/// Cuts lines into pieces of at most [`MOST`] bytes.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for line in text.split_inclusive('\n') {
        match pieces.last_mut() {
            Some(last) if last.is_empty() || last.len() + line.len() <= MOST => last.push_str(line),
            _ => pieces.push(line.to_owned()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// What can not be packed small goes in parts, whatever bytes it has; done twice it is the same.
    #[test]
    fn a_file_of_any_size_comes_out_as_it_went_in() {
        let mut random = scenario::draw::Draw::new(1, 0, 0, "bytes");
        let text: String =
            (0..150_000).map(|_| char::from_u32(random.below(0x2000) as u32 + 1).unwrap_or('\n')).collect();
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("server.py.part99"), "left over").expect("it is written");
        let commands = unpack(&File { path: "server.py", text: text.clone() });
        assert!(commands.len() > 3, "{}", commands.len());
        for (_, command) in commands.iter().flat_map(|command| [command, command]).skip(1) {
            assert!(command.len() < MOST + 1000);
            let command = command.replace("/workspace", &folder.path().to_string_lossy());
            let status = Command::new("sh").args(["-c", &command]).stdin(Stdio::null()).status();
            assert!(status.expect("it runs").success());
        }
        assert_eq!(std::fs::read_to_string(folder.path().join("server.py")).expect("a file"), text);
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }
}
