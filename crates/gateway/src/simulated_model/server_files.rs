//! The files of a server, and the tool calls that write them.
//!
//! **Through a shell** a file is sent as gzip in base64, in lines of a here-document: no quoting of a shell changes it, no line is
//! too long for a terminal, and 140 kB of Python shrink to about 20. A command stays below [`MOST_BASE64`] bytes, because some harnesses
//! pass it as one argument of a process, which is limited to 128 KiB. A longer file is sent in parts, which the last command
//! assembles. Every command is repeatable.
//!
//! **Without a shell** each file is written by one call.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, GzBuilder};
use scenario::ir::Schema;

use super::Stack;
use super::offered_tools::{OfferedTools, ToolCall};

/// Most bytes of base64 in a command.
const MOST_BASE64: usize = 60_000;
/// Bytes of a line of base64, a multiple of 4.
const LINE: usize = 100;
/// Ends a here-document. Not in the alphabet of base64.
const END: &str = "END_OF_FILE";
/// The command that the instructions of mini-swe-agent require at the end.
pub(super) const SUBMIT: &str = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";

/// A file of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    /// Path in the workspace.
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
            // A parsed schema has only numbers that can be written.
            schema.to_yaml().unwrap_or_default(),
            r#"exec "$STAMINA" serve-reference --schema schema.yaml --port "$PORT""#,
        ),
    };
    let run = format!("#!/bin/sh\ncd \"$(dirname \"$0\")\" || exit 1\n{start}\n");
    [File { path, text }, File { path: "run.sh", text: run }]
}

/// A step of an attempt: a text and a tool call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    /// One sentence.
    pub text: String,
    /// The tool call.
    pub call: ToolCall,
}

/// The steps that write these files with the offered tools. Empty without useful tools.
pub(super) fn steps(files: &[File; 2], offered: &OfferedTools<'_>) -> Vec<Step> {
    let [server, run] = files;
    let mut steps = Vec::new();
    if offered.has_shell() {
        let mut step = |text: String, command: &str| {
            steps.extend(offered.run(command, &text).map(|call| Step { text, call }));
        };
        for (text, command) in write_commands(server) {
            step(text, &command);
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
            let text = format!("I write {}.", file.path);
            steps.extend(offered.write(file.path, &file.text, &text).map(|call| Step { text, call }));
        }
    }
    steps
}

/// The commands that write a file, each with a description.
fn write_commands(file: &File) -> Vec<(String, String)> {
    write_file("/workspace", file.path, file.text.as_bytes())
}

/// The same for any content. `folder` and `path`, which is relative to it, are words of a shell.
pub(super) fn write_file(folder: &str, path: &str, content: &[u8]) -> Vec<(String, String)> {
    let packed = lines(&STANDARD.encode(gzip(content)));
    let pieces = pieces(&packed);
    if let [one] = pieces.as_slice() {
        let command = format!("cd {folder} && base64 -d <<'{END}' | gunzip > {path}\n{one}{END}\n");
        return vec![(format!("I write {path}."), command)];
    }
    let count = pieces.len();
    let mut commands: Vec<(String, String)> = pieces
        .into_iter()
        .enumerate()
        .map(|(index, piece)| {
            let part = format!("{path}.part{index:02}");
            // An interrupted attempt may have left parts.
            let clean = if index == 0 { format!("rm -f {path}.part* && ") } else { String::new() };
            let command = format!("cd {folder} && {clean}cat > {part} <<'{END}'\n{piece}{END}\n");
            (format!("I write {path}, part {} of {count}.", index + 1), command)
        })
        .collect();
    let command = format!(
        "cd {folder} && if ls {path}.part* > /dev/null 2>&1; then \
         cat {path}.part* | base64 -d | gunzip > {path} && rm {path}.part*; fi"
    );
    commands.push((format!("I put {path} together."), command));
    commands
}

/// Compressed bytes without time and name, so that the same text gives the same bytes.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    // Writing to a vector cannot fail.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

/// Splits a text into lines.
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

/// Splits lines into pieces of at most [`MOST_BASE64`] bytes.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for line in text.split_inclusive('\n') {
        match pieces.last_mut() {
            Some(last) if last.is_empty() || last.len() + line.len() <= MOST_BASE64 => last.push_str(line),
            _ => pieces.push(line.to_owned()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// An incompressible file is sent in parts, whatever bytes it has, and every command is repeatable.
    #[test]
    fn a_file_of_any_size_is_written_unchanged() {
        let mut random = scenario::draw::Draw::new(1, 0, 0, "bytes");
        let text: String = (0..150_000)
            .map(|_| char::from_u32(random.number_below(0x2000) as u32 + 1).unwrap_or('\n'))
            .collect();
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("server.py.part99"), "left over").expect("it is written");
        let commands = write_commands(&File { path: "server.py", text: text.clone() });
        assert!(commands.len() > 3, "{}", commands.len());
        for (_, command) in commands.iter().flat_map(|command| [command, command]).skip(1) {
            assert!(command.len() < MOST_BASE64 + 1000);
            let command = command.replace("/workspace", &folder.path().to_string_lossy());
            let status = Command::new("sh").args(["-c", &command]).stdin(Stdio::null()).status();
            assert!(status.expect("it runs").success());
        }
        assert_eq!(std::fs::read_to_string(folder.path().join("server.py")).expect("a file"), text);
        assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }
}
