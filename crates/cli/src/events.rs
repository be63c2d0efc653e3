//! The events of a run as JSON lines on standard output, written by a thread of their own: a reader that is slow holds up
//! neither the run nor its stop.

use std::io::Write as _;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use runner::Event;
use workbench::api::ApiError;

/// Lines that wait for a slow reader before the run waits, too: some hundred turns of many episodes.
const WAITING: usize = 1 << 14;

/// Where events go. Dropped without [`Events::end`], what still waits is lost.
pub(crate) struct Events(Mutex<Option<Writer>>);

struct Writer {
    lines: SyncSender<String>,
    thread: JoinHandle<std::io::Result<()>>,
}

impl Events {
    /// `gone` is called once if nothing can be written any more: the reader went away, or the disk is full. What is told
    /// afterwards is dropped.
    pub(crate) fn new(gone: impl FnOnce() + Send + 'static) -> Self {
        let (lines, told) = sync_channel(WAITING);
        let thread = std::thread::spawn(move || write(&told, gone));
        Self(Mutex::new(Some(Writer { lines, thread })))
    }

    /// Tells one; after the end, nothing.
    pub(crate) fn tell(&self, event: &Event) {
        if let Some(writer) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            // The thread only ends when this is gone.
            let _ = writer.lines.send(format!("{}\n", serde_json::to_string(event).unwrap_or_default()));
        }
    }

    /// Waits until all is written. A reader that went away is no fault: the run was stopped for it.
    pub(crate) fn end(&self) -> Result<(), ApiError> {
        let Some(Writer { lines, thread }) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
        else {
            return Ok(());
        };
        drop(lines);
        match thread.join() {
            Ok(Err(error)) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(ApiError::new("output.failed", format!("The events can not be written: {error}")))
            }
            _ => Ok(()),
        }
    }
}

fn write(told: &Receiver<String>, gone: impl FnOnce()) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let written = told.iter().try_for_each(|line| out.write_all(line.as_bytes()).and_then(|()| out.flush()));
    if written.is_err() {
        gone();
        // Nobody is to wait for what is not written.
        told.iter().for_each(drop);
    }
    written
}
