//! Splits a stream into server-sent events.
//!
//! Bytes go in as the network delivers them. Whole events come out, byte for byte, up to the empty line that ends them. An event
//! longer than [`LONGEST_EVENT`] comes out in parts that nobody reads, so that memory stays bounded.

/// Longest event that is buffered, in bytes. The last event of the responses API repeats the whole answer.
const LONGEST_EVENT: usize = 16 << 20;

/// A piece of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// A whole event, with its empty line.
    Event(&'a [u8]),
    /// A part of an event that is too long to buffer.
    Part(&'a [u8]),
}

/// Splits a stream.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    buffer: Vec<u8>,
    /// Where the unfinished line begins.
    line: usize,
    /// The current event is too long.
    too_long: bool,
}

impl Splitter {
    /// Reads bytes and returns the pieces that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Piece<'_>)) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.buffer.extend_from_slice(line);
            if !line.ends_with(b"\n") {
                if self.buffer.len() > LONGEST_EVENT {
                    each(Piece::Part(&self.buffer));
                    self.too_long = true;
                    // This part of the line is not empty, so the line is not either.
                    self.buffer.clear();
                    self.line = usize::MAX;
                }
                continue;
            }
            let empty =
                self.line != usize::MAX && matches!(self.buffer.get(self.line..), Some(b"\n" | b"\r\n"));
            if empty {
                each(if self.too_long { Piece::Part(&self.buffer) } else { Piece::Event(&self.buffer) });
                self.too_long = false;
                self.buffer.clear();
            } else if self.too_long || self.buffer.len() > LONGEST_EVENT {
                each(Piece::Part(&self.buffer));
                self.too_long = true;
                self.buffer.clear();
            }
            self.line = self.buffer.len();
        }
    }

    /// The rest at the end of the stream: an event without its empty line, or nothing.
    pub(crate) fn take_rest(&mut self) -> Vec<u8> {
        self.line = 0;
        std::mem::take(&mut self.buffer)
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
        (events, splitter.take_rest())
    }

    proptest! {
        /// The same events come out wherever the network splits the bytes, and no byte is lost.
        #[test]
        fn the_split_of_the_bytes_does_not_matter(
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
    fn a_long_event_comes_out_in_parts_and_the_next_one_is_whole() {
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
        assert!(splitter.buffer.len() <= LONGEST_EVENT + (1 << 20));
        splitter.push(b"\n\ndata: a\n\n", &mut see);
        assert_eq!(parts, 6 + (40 << 20) + 2);
        assert_eq!(events, [b"data: a\n\n"]);
    }
}
