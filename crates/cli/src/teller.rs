//! What a run in the foreground tells: its events as JSON lines on standard output, or lines for people on standard error.
//!
//! A thread of its own writes them. A reader that is slow, such as a pager or a terminal that was halted, holds up neither
//! the run nor its stop.

use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use runner::Event;
use workbench::api::ApiError;

use crate::print::note;
use crate::progress::Progress;

/// Where news go. Dropped without [`Teller::end`], what still waits is lost.
pub(crate) struct Teller(Mutex<Option<Writing>>);

struct Writing {
    // Without a bound, as whoever tells must not wait: a large run has some ten thousand events of some hundred bytes.
    news: Sender<News>,
    thread: JoinHandle<std::io::Result<()>>,
}

enum News {
    Event(Box<Event>),
    Says(String),
    Tick,
}

impl Teller {
    /// Tells events as JSON, and everything else in words.
    ///
    /// `gone` is called once if they cannot be written any more: the reader went away, or the disk is full. Events after
    /// that are dropped.
    pub(crate) fn as_json(gone: impl FnOnce() + Send + 'static) -> Self {
        Self::of(move |news| write_json(&news, gone))
    }

    /// Tells people, of the run in this folder. A standard error that is closed is nobody's fault.
    pub(crate) fn in_words(folder: &Path) -> Self {
        let mut progress = Progress::new(folder);
        Self::of(move |news| {
            for news in news {
                match news {
                    News::Event(event) => progress.event(&event),
                    News::Says(line) => progress.says(&line),
                    News::Tick => progress.tick(),
                }
            }
            progress.end();
            Ok(())
        })
    }

    fn of(write: impl FnOnce(Receiver<News>) -> std::io::Result<()> + Send + 'static) -> Self {
        let (news, told) = channel();
        Self(Mutex::new(Some(Writing { news, thread: std::thread::spawn(move || write(told)) })))
    }

    /// Tells an event.
    pub(crate) fn event(&self, event: &Event) {
        self.tell(News::Event(Box::new(event.clone())));
    }

    /// Tells a line that stays.
    pub(crate) fn says(&self, line: &str) {
        self.tell(News::Says(line.to_owned()));
    }

    /// Has what is drawn drawn anew.
    pub(crate) fn tick(&self) {
        self.tell(News::Tick);
    }

    /// After the end, nothing is told.
    fn tell(&self, news: News) {
        if let Some(writing) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            // The thread only ends when this is gone.
            let _ = writing.news.send(news);
        }
    }

    /// Waits until all is written. A reader that went away is no fault: the run was stopped for it.
    pub(crate) fn end(&self) -> Result<(), ApiError> {
        let Some(Writing { news, thread }) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
        else {
            return Ok(());
        };
        drop(news);
        match thread.join() {
            Ok(Err(error)) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(ApiError::new("output.failed", format!("The events cannot be written: {error}")))
            }
            _ => Ok(()),
        }
    }
}

fn write_json(told: &Receiver<News>, gone: impl FnOnce()) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let mut write = |news| match news {
        News::Event(event) => {
            let line = format!("{}\n", serde_json::to_string(&event).unwrap_or_default());
            out.write_all(line.as_bytes()).and_then(|()| out.flush())
        }
        News::Says(line) => {
            note(&line);
            Ok(())
        }
        News::Tick => Ok(()),
    };
    let written = told.iter().try_for_each(&mut write);
    if written.is_err() {
        gone();
        told.iter().for_each(drop);
    }
    written
}
