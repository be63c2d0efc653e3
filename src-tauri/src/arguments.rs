//! The command line of the desktop app.

use std::path::PathBuf;

use clap::Parser;

/// See how long coding agents last: opens results of Harbor, EvoCode-Bench and `StaminaBench`.
#[derive(Debug, Parser)]
#[command(name = "stamina-lab", version, about, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Folders and zips to open, or a `stamina://` link to go to
    pub(crate) open: Vec<PathBuf>,
    /// The library's database; made if it is not there. Default: the user's own library
    #[arg(long, value_name = "FILE", env = "STAMINA_DB")]
    pub(crate) db: Option<PathBuf>,
    /// Draw without the graphics card's buffers, if the window stays blank or flickers (Linux)
    #[arg(long)]
    pub(crate) safe_rendering: bool,
}

impl Arguments {
    /// A script that gives the UI what to open, before its own code runs. Paths are absolute.
    pub(crate) fn for_the_ui(&self) -> String {
        let open: Vec<String> = self
            .open
            .iter()
            .map(|argument| {
                let text = argument.to_string_lossy();
                if text.starts_with("stamina://") {
                    return text.into_owned();
                }
                // A path that is not there stays as it is, so that the message names what was typed.
                let path = std::path::absolute(argument).unwrap_or_else(|_| argument.clone());
                path.to_string_lossy().into_owned()
            })
            .collect();
        format!("window.__STAMINA_OPENED__ = {};", serde_json::json!(open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(arguments: &[&str]) -> String {
        Arguments::parse_from(std::iter::once("stamina-lab").chain(arguments.iter().copied())).for_the_ui()
    }

    #[test]
    fn relative_paths_become_absolute_and_links_stay() {
        let current_folder = std::env::current_dir().unwrap();
        let expected =
            serde_json::json!([current_folder.join("results").to_string_lossy(), "stamina://run/a"]);
        assert_eq!(
            script(&["results", "stamina://run/a"]),
            format!("window.__STAMINA_OPENED__ = {expected};")
        );
    }

    #[test]
    fn a_name_cannot_leave_its_string() {
        let script = script(&["/x\"];alert(1);\u{2028}</script>"]);
        let value =
            script.strip_prefix("window.__STAMINA_OPENED__ = ").and_then(|s| s.strip_suffix(';')).unwrap();
        assert_eq!(
            serde_json::from_str::<Vec<String>>(value).unwrap(),
            ["/x\"];alert(1);\u{2028}</script>".to_owned()]
        );
    }
}
