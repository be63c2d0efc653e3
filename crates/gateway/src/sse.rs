//! Server-sent events, split as they come.
//!
//! Bytes go in as the network gives them, whole events come out: the lines up to and with the empty line that ends them, byte
//! for byte. An event that is longer than [`LONGEST`] comes out in parts that nobody reads, so that memory stays bounded.

/// Longest event that is kept whole, in bytes. The last event of the responses API repeats the whole answer.
const LONGEST: usize = 16 << 20;

/// A piece of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// A whole event with its empty line.
    Event(&'a [u8]),
    /// A part of an event that is too long to be kept.
    Part(&'a [u8]),
}

/// Splits a stream.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    kept: Vec<u8>,
    /// Where the line begins that is not ended yet.
    line: usize,
    /// Inside an event that is too long.
    too_long: bool,
}

impl Splitter {
    /// Takes bytes, gives the pieces that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Piece<'_>)) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.kept.extend_from_slice(line);
            if !line.ends_with(b"\n") {
                if self.kept.len() > LONGEST {
                    each(Piece::Part(&self.kept));
                    self.too_long = true;
                    // A line is empty or not by what follows; what is given away here was not empty.
                    self.kept.clear();
                    self.line = usize::MAX;
                }
                continue;
            }
            let empty =
                self.line != usize::MAX && matches!(self.kept.get(self.line..), Some(b"\n" | b"\r\n"));
            if empty {
                each(if self.too_long { Piece::Part(&self.kept) } else { Piece::Event(&self.kept) });
                self.too_long = false;
                self.kept.clear();
            } else if self.too_long || self.kept.len() > LONGEST {
                each(Piece::Part(&self.kept));
                self.too_long = true;
                self.kept.clear();
            }
            self.line = self.kept.len();
        }
    }

    /// What is left at the end of the stream: an event without its empty line, or nothing.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        self.line = 0;
        std::mem::take(&mut self.kept)
    }
}

/// The data of an event: its `data` lines, joined.
pub(crate) fn data(event: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    for line in event.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(text) = line.strip_prefix(b"data:") {
            if !all.is_empty() {
                all.push(b'\n');
            }
            all.extend_from_slice(text.strip_prefix(b" ").unwrap_or(text));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let mut splitter = Splitter::default();
        let mut events = Vec::new();
        for piece in pieces {
            splitter.push(piece, |piece| match piece {
                Piece::Event(event) => events.push(event.to_vec()),
                Piece::Part(_) => panic!("nothing here is long"),
            });
        }
        (events, splitter.rest())
    }

    proptest! {
        /// Wherever the network cuts, the same events come out, and no byte is lost.
        #[test]
        fn cuts_do_not_matter(
            lines in prop::collection::vec("(data: ?[a-z]{0,8}|: ping|event: x|)\r?\n", 0..24),
            cuts in prop::collection::vec(1_usize..9, 1..40),
        ) {
            let all = lines.concat().into_bytes();
            let mut rest = all.as_slice();
            let mut pieces = Vec::new();
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break }
                let (head, tail) = rest.split_at((*cut).min(rest.len()));
                pieces.push(head);
                rest = tail;
            }
            let (events, left) = split(&pieces);
            prop_assert_eq!(&events, &split(&[&all]).0);
            let mut joined = events.concat();
            joined.extend(left);
            prop_assert_eq!(joined, all);
        }
    }

    #[test]
    fn data_lines_are_joined() {
        assert_eq!(data(b"event: x\ndata: a\r\ndata:b\n\n"), b"a\nb");
        assert_eq!(data(b": comment\n\n"), b"");
    }

    #[test]
    fn an_endless_event_is_given_away_in_parts_and_the_next_one_is_whole() {
        let mut splitter = Splitter::default();
        let (mut parts, mut events) = (0, Vec::new());
        let block = vec![b'x'; 1 << 20];
        let mut see = |piece: Piece<'_>| match piece {
            Piece::Part(part) => parts += part.len(),
            Piece::Event(event) => events.push(event.to_vec()),
        };
        splitter.push(b"data: ", &mut see);
        for _ in 0..40 {
            splitter.push(&block, &mut see);
        }
        assert!(splitter.kept.len() <= LONGEST + (1 << 20));
        splitter.push(b"\n\ndata: a\n\n", &mut see);
        assert_eq!(parts, 6 + (40 << 20) + 2);
        assert_eq!(events, [b"data: a\n\n"]);
    }
}
