//! Files of JSON lines that grow from call to call. Each call reads only the new lines.

use serde_json::Value;

use crate::Session;
use crate::lines::objects;

/// How many new bytes are read at most.
const CAP: u64 = 64 << 20;
/// Size of one read in bytes.
const PIECE: u64 = 8 << 20;
/// How many files per session have a stored position.
const FILE_CAP: usize = 300;

/// A file of JSON lines that grows.
pub(crate) struct GrowingLines<'a> {
    session: &'a mut Session,
    key: String,
    home: &'a files::Tree,
    path: &'a str,
}

impl<'a> GrowingLines<'a> {
    /// A file of HOME. The session stores the read position under `name`.
    pub(crate) fn new(session: &'a mut Session, name: &str, home: &'a files::Tree, path: &'a str) -> Self {
        let key = format!("read:{}", crate::text::cut(name, 100).0);
        Self { session, key, home, path }
    }

    /// Reads the lines after the read position. A file that became shorter is read from its start.
    pub(crate) fn read(self, mut line: impl FnMut(&Value)) {
        let Some(size) = self.home.entry(self.path).filter(|e| !e.is_folder()).map(|e| e.size) else {
            return;
        };
        let before = self.session.memory.get(&self.key).and_then(|n| n.parse().ok()).filter(|n| *n <= size);
        let mut offset: u64 = before.unwrap_or(0);
        let end = size.min(offset.saturating_add(CAP));
        while offset < end {
            let Ok((piece, _)) = self.home.read_range(self.path, offset, PIECE.min(end - offset)) else {
                return;
            };
            // An incomplete line belongs to the next piece. A line that fills a whole piece is skipped.
            let complete = piece.iter().rposition(|b| *b == b'\n').map_or(piece.len(), |newline| newline + 1);
            if complete == 0 {
                return;
            }
            objects(&piece[..complete]).for_each(|object| line(&object));
            offset += complete as u64;
        }
        if self.session.memory.len() < FILE_CAP || self.session.memory.contains_key(&self.key) {
            self.session.memory.insert(self.key, size.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_reads_the_new_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("wire.jsonl");
        let mut session = Session::default();
        let mut read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let home = files::Tree::open(dir.path()).unwrap();
            let mut lines = Vec::new();
            GrowingLines::new(&mut session, "w", &home, "wire.jsonl").read(|v| lines.push(v.to_string()));
            lines
        };
        assert_eq!(read("{\"a\":1}\n{\"a\":2}\n"), ["{\"a\":1}", "{\"a\":2}"]);
        assert!(read("{\"a\":1}\n{\"a\":2}\n").is_empty());
        assert_eq!(read("{\"a\":1}\n{\"a\":2}\n{\"a\":3}"), ["{\"a\":3}"]);
        assert_eq!(read("{\"a\":4}\n"), ["{\"a\":4}"]);
    }

    #[test]
    fn lines_continue_over_pieces() {
        let dir = tempfile::tempdir().unwrap();
        let line = format!("{{\"a\":\"{}\"}}\n", "x".repeat(3 << 20));
        std::fs::write(dir.path().join("w"), line.repeat(5)).unwrap();
        let home = files::Tree::open(dir.path()).unwrap();
        let (mut session, mut line_count) = (Session::default(), 0);
        GrowingLines::new(&mut session, "w", &home, "w").read(|_| line_count += 1);
        assert_eq!(line_count, 5);
    }
}
