//! The log of requests: one record a line, appended as it ends.
//!
//! A thread of its own writes, so that nothing that serves an agent waits for a disk. Lines are written whole and without a
//! buffer in between: what is killed loses at most the line in flight.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use crate::{GatewayError, Record};

/// Lines that may wait for the disk.
const WAITING: usize = 4096;

/// An open log. Dropping it waits until everything is written.
#[derive(Debug)]
pub(crate) struct Log {
    lines: Option<SyncSender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
}

impl Log {
    /// Appends to a file, which is made if it is not there.
    pub(crate) fn open(path: &Path) -> Result<Self, GatewayError> {
        let wrong = |error: std::io::Error| GatewayError::Settings {
            what: format!("the gateway's log {}", path.display()),
            why: error.to_string(),
        };
        let mut file = File::options().read(true).append(true).create(true).open(path).map_err(wrong)?;
        // A line that was cut off by a kill is not to swallow the next one.
        if file.seek(SeekFrom::End(0)).map_err(wrong)? > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1)).map_err(wrong)?;
            file.read_exact(&mut last).map_err(wrong)?;
            if last != *b"\n" {
                file.write_all(b"\n").map_err(wrong)?;
            }
        }
        let (lines, waiting) = sync_channel::<Vec<u8>>(WAITING);
        let shown = path.display().to_string();
        let writer = std::thread::Builder::new()
            .name("gateway log".to_owned())
            .spawn(move || {
                for line in waiting {
                    if let Err(error) = file.write_all(&line) {
                        tracing::warn!(%error, path = shown, "a record of a request could not be written");
                    }
                }
            })
            .map_err(wrong)?;
        Ok(Self { lines: Some(lines), writer: Some(writer) })
    }

    /// Appends a record. Where the disk is so slow that thousands wait, it is dropped, and that is said.
    pub(crate) fn append(&self, record: &Record) {
        let Ok(mut line) = serde_json::to_vec(record) else { return };
        line.push(b'\n');
        if let Some(Err(TrySendError::Full(_))) = self.lines.as_ref().map(|lines| lines.try_send(line)) {
            tracing::warn!("the gateway's log can not keep up with the requests; a record is lost");
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            // It only fails if the writer panicked, which is reported where it happens.
            let _ = writer.join();
        }
    }
}
