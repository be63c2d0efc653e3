//! Writes what a run in the foreground reports: its events as JSON lines on standard output, or lines for people on
//! standard error.
//!
//! A thread of its own writes them. A slow reader, such as a pager or a halted terminal, delays neither the run nor its
//! stop.

use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use runner::Event;
use workbench::api::ApiError;

use crate::print::{escaped_json, note};
use crate::run_lines::RunLines;

/// Hands messages to the thread that writes them. Dropped without [`EventWriter::finish`], what still waits is lost.
pub(crate) struct EventWriter(Mutex<Option<WriterThread>>);

struct WriterThread {
    // Without a bound, because senders must not wait: a large run has some ten thousand events of some hundred bytes.
    messages: Sender<Message>,
    thread: JoinHandle<std::io::Result<()>>,
}

enum Message {
    Event(Box<Event>),
    Line(String),
    Redraw,
}

impl EventWriter {
    /// Writes events as JSON, and everything else as lines for people.
    ///
    /// `on_closed` is called once if events cannot be written any more: the reader exited, or the disk is full. Later
    /// events are dropped.
    pub(crate) fn as_json(on_closed: impl FnOnce() + Send + 'static) -> Self {
        Self::spawn(move |messages| write_json(&messages, on_closed))
    }

    /// Writes lines for people about the run in this folder. A closed standard error is no failure.
    pub(crate) fn as_lines(folder: &Path) -> Self {
        let mut lines = RunLines::new(folder);
        Self::spawn(move |messages| {
            for message in messages {
                match message {
                    Message::Event(event) => lines.show_event(&event),
                    Message::Line(line) => lines.show_line(&line),
                    Message::Redraw => lines.redraw(),
                }
            }
            lines.finish();
            Ok(())
        })
    }

    fn spawn(write: impl FnOnce(Receiver<Message>) -> std::io::Result<()> + Send + 'static) -> Self {
        let (messages, received) = channel();
        let thread = std::thread::spawn(move || write(received));
        Self(Mutex::new(Some(WriterThread { messages, thread })))
    }

    /// Writes an event.
    pub(crate) fn write_event(&self, event: &Event) {
        self.send(Message::Event(Box::new(event.clone())));
    }

    /// Writes a line that stays.
    pub(crate) fn write_line(&self, line: &str) {
        self.send(Message::Line(line.to_owned()));
    }

    /// Draws the lines of running episodes anew.
    pub(crate) fn redraw(&self) {
        self.send(Message::Redraw);
    }

    /// After [`EventWriter::finish`] messages are dropped.
    fn send(&self, message: Message) {
        if let Some(writer) = model::lock(&self.0).as_ref() {
            // The thread ends only when the sender is dropped.
            let _ = writer.messages.send(message);
        }
    }

    /// Waits until everything is written. A reader that exited is no failure: the run was stopped for it.
    pub(crate) fn finish(&self) -> Result<(), ApiError> {
        let Some(WriterThread { messages, thread }) = model::lock(&self.0).take() else {
            return Ok(());
        };
        drop(messages);
        match thread.join() {
            Ok(Err(error)) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(ApiError::new("output.failed", format!("The events cannot be written: {error}")))
            }
            _ => Ok(()),
        }
    }
}

fn write_json(messages: &Receiver<Message>, on_closed: impl FnOnce()) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let mut write = |message| match message {
        Message::Event(event) => {
            // Names in events may be those of somebody else's folder.
            let line = format!("{}\n", escaped_json(&serde_json::to_string(&event).unwrap_or_default()));
            out.write_all(line.as_bytes()).and_then(|()| out.flush())
        }
        Message::Line(line) => {
            note(&line);
            Ok(())
        }
        Message::Redraw => Ok(()),
    };
    let written = messages.iter().try_for_each(&mut write);
    if written.is_err() {
        on_closed();
        messages.iter().for_each(drop);
    }
    written
}
