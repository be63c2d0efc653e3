//! The lines of the log on standard error. Parts of them may come from results, servers and containers.

use std::fmt;

use model::plain_line;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// One line for each event: its level, its message and its fields, without control characters.
pub(crate) struct LogLines;

impl<S, N> FormatEvent<S, N> for LogLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut text = String::new();
        context.field_format().format_fields(Writer::new(&mut text), event)?;
        let level = *event.metadata().level();
        if writer.has_ansi_escapes() {
            let color = match level {
                Level::ERROR => 31,
                Level::WARN => 33,
                _ => 34,
            };
            write!(writer, "\u{1b}[{color}m{level:>5}\u{1b}[0m ")?;
        } else {
            write!(writer, "{level:>5} ")?;
        }
        writeln!(writer, "{}", plain_line(&text))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use model::is_display_control;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("nobody panicked").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    // docs/security.md: Pages, terminals and files that others open
    fn a_line_of_the_log_has_nothing_that_a_terminal_would_obey() {
        let lines = Lines::default();
        let kept = lines.clone();
        let log = tracing_subscriber::fmt()
            .with_ansi(false)
            .event_format(LogLines)
            .with_writer(move || lines.clone())
            .finish();
        tracing::subscriber::with_default(log, || {
            let hostile = "a\u{1b}]0;title\u{7}b\u{9b}2Jc\u{202e}d\n WARN forged";
            tracing::warn!("it could not be read: {hostile}");
            tracing::error!(name = hostile, debug = ?hostile, "a field");
        });
        let text = String::from_utf8(kept.0.lock().expect("nobody panicked").clone()).expect("text");
        assert_eq!(text.lines().count(), 2, "{text:?}");
        assert!(
            text.starts_with(" WARN it could not be read: a") && text.contains("\nERROR a field"),
            "{text:?}"
        );
        assert!(!text.contains(is_display_control), "{text:?}");
    }
}
