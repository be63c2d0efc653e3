//! A run in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::app::{Gate, TestHome};
use crate::run::refs;

/// A run in a process of its own, whose events are read as they come.
pub(crate) struct Playing {
    pub(crate) child: Child,
    pub(crate) lines: std::io::Lines<Box<dyn std::io::BufRead>>,
}

impl Playing {
    /// One whose agents wait at a gate.
    pub(crate) fn held(home: &TestHome, gate: &Gate, args: &[String]) -> Self {
        Self::spawn(home.command(&refs(args)).env("PATH", gate.path()))
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("stamina runs");
        let reader: Box<dyn std::io::BufRead> =
            Box::new(BufReader::new(child.stdout.take().expect("its output")));
        Self { child, lines: reader.lines() }
    }

    /// Closes the reading end.
    pub(crate) fn leave(&mut self) {
        let nothing: Box<dyn std::io::BufRead> = Box::new(std::io::empty());
        self.lines = nothing.lines();
    }

    pub(crate) fn until(&mut self, name: &str) -> Value {
        for line in self.lines.by_ref() {
            let event: Value = serde_json::from_str(&line.expect("a line")).expect("an event");
            if event["event"] == name {
                return event;
            }
        }
        let mut message = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().expect("stderr"), &mut message)
            .expect("text");
        panic!("it ended without {name}: {message}");
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
    }

    pub(crate) fn code(mut self) -> Option<i32> {
        for line in self.lines.by_ref() {
            line.expect("a line");
        }
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Playing {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
