//! The compact protocol of Thrift, as far as the heads in Parquet need it: structs are walked by what their fields have to be,
//! or passed over. Nothing is set aside for sizes that are stated.

/// The kind on the wire that ends a struct.
pub const STOP: u8 = 0;
/// The kind on the wire of a `binary` or `string`.
pub const BYTES: u8 = 8;
/// The kind on the wire of a list.
pub const LIST: u8 = 9;
/// The kind on the wire of a struct.
pub const STRUCT: u8 = 12;

/// Most levels of what is passed over: those of Parquet have fewer than ten.
const DEPTH_CAP: u32 = 64;

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// An `i32`; the visitor gets it under this name, 0 = not at all.
    Number(u8),
    /// An `i64`.
    Long,
    /// An `i8`.
    Byte,
    /// A `bool`.
    Flag,
    /// A `binary` or `string`.
    Bytes,
    /// A struct.
    Struct(&'static Spec),
}

/// The fields of a struct: number and kind.
#[derive(Debug)]
pub struct Spec(pub &'static [(i16, Kind)]);

/// A walk over bytes. Once something is not as it has to be, the walk is broken and nothing more is read.
#[derive(Debug)]
pub struct ThriftReader<'a> {
    bytes: &'a [u8],
    broken: bool,
}

impl<'a> ThriftReader<'a> {
    /// From their beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, broken: false }
    }

    /// Whether something was not as it has to be, or the bytes ended.
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Bytes that are not walked over.
    pub fn bytes_left(&self) -> usize {
        self.bytes.len()
    }

    /// Walks over a struct and tells its named numbers. A field that the struct does not have, or of another kind, breaks the
    /// walk.
    pub fn structure(&mut self, spec: &'static Spec, on_number: &mut dyn FnMut(u8, i64)) {
        let mut last = 0;
        loop {
            let Some((id, wire)) = self.field(last) else {
                self.broken = true;
                return;
            };
            if wire == STOP {
                return;
            }
            let Some((_, kind)) = spec.0.iter().find(|(known, _)| *known == id) else {
                self.broken = true;
                return;
            };
            if self.value(*kind, wire, on_number).is_none() {
                self.broken = true;
            }
            if self.broken {
                return;
            }
            last = id;
        }
    }

    fn value(&mut self, kind: Kind, wire: u8, on_number: &mut dyn FnMut(u8, i64)) -> Option<()> {
        match (kind, wire) {
            (Kind::Number(name), 5) => {
                // As the library takes it.
                let number = i64::from(self.number()? as i32);
                if name != 0 {
                    on_number(name, number);
                }
            }
            (Kind::Long, 6) => {
                self.number()?;
            }
            (Kind::Byte, 3) => {
                self.byte()?;
            }
            (Kind::Flag, 1 | 2) => {}
            (Kind::Bytes, BYTES) => {
                self.bytes()?;
            }
            (Kind::Struct(spec), STRUCT) => self.structure(spec, on_number),
            _ => return None,
        }
        Some(())
    }

    /// The next field of a struct, by the number of the one before: its number and its kind on the wire, which is [`STOP`] at
    /// the end of the struct.
    pub fn field(&mut self, last: i16) -> Option<(i16, u8)> {
        let head = self.byte()?;
        let wire = head & 0xf;
        if wire == STOP {
            return Some((last, STOP));
        }
        let id = match head >> 4 {
            0 => self.number()? as i16,
            delta => last.checked_add(i16::from(delta))?,
        };
        Some((id, wire))
    }

    /// The head of a list: the kind of its elements on the wire, and how many.
    pub fn list(&mut self) -> Option<(u8, u32)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => u32::try_from(self.varint()?).ok()?,
            few => u32::from(few),
        };
        Some((head & 0xf, count))
    }

    /// A `binary` or `string`.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (value, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(value)
    }

    /// Passes over the value of a field of this kind on the wire, whatever it holds. `None` where it is cut short, is of an unknown kind or
    /// has too many levels.
    pub fn skip_value(&mut self, wire: u8) -> Option<()> {
        self.skip(wire, DEPTH_CAP)
    }

    fn skip(&mut self, wire: u8, levels: u32) -> Option<()> {
        let levels = levels.checked_sub(1)?;
        match wire {
            // The kind of a flag is its value.
            1 | 2 => {}
            3 => {
                self.byte()?;
            }
            4..=6 => {
                self.varint()?;
            }
            7 => self.bytes = self.bytes.get(8..)?,
            BYTES => {
                self.bytes()?;
            }
            // Lists and sets.
            LIST | 10 => {
                let (kind, count) = self.list()?;
                for _ in 0..count {
                    self.skip_element(kind, levels)?;
                }
            }
            11 => {
                let count = self.varint()?;
                if count > 0 {
                    let kinds = self.byte()?;
                    for _ in 0..count {
                        self.skip_element(kinds >> 4, levels)?;
                        self.skip_element(kinds & 0xf, levels)?;
                    }
                }
            }
            STRUCT => {
                let mut last = 0;
                loop {
                    let (id, wire) = self.field(last)?;
                    if wire == STOP {
                        break;
                    }
                    self.skip(wire, levels)?;
                    last = id;
                }
            }
            // A UUID.
            13 => self.bytes = self.bytes.get(16..)?,
            _ => return None,
        }
        Some(())
    }

    /// Every element takes at least a byte, so that a count is no work beyond the bytes that are there.
    fn skip_element(&mut self, kind: u8, levels: u32) -> Option<()> {
        match kind {
            1 | 2 => self.byte().map(drop),
            _ => self.skip(kind, levels),
        }
    }

    /// A number with a sign.
    pub fn number(&mut self) -> Option<i64> {
        let raw = self.varint()?;
        Some((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INNER: Spec = Spec(&[(1, Kind::Number(2)), (2, Kind::Bytes)]);
    const OUTER: Spec = Spec(&[(1, Kind::Number(1)), (3, Kind::Struct(&INNER)), (20, Kind::Flag)]);

    fn walked(bytes: &[u8]) -> Option<Vec<(u8, i64)>> {
        let mut visited = Vec::new();
        let mut thrift = ThriftReader::new(bytes);
        thrift.structure(&OUTER, &mut |name, number| visited.push((name, number)));
        (!thrift.is_broken()).then_some(visited)
    }

    #[test]
    fn a_struct_is_walked_by_the_kinds_of_its_fields() {
        // 1: 150, 3: {1: -1, 2: "ab"}, 20: true.
        let bytes = [0x15, 0xac, 0x02, 0x2c, 0x15, 0x01, 0x18, 2, b'a', b'b', 0, 0x01, 40, 0];
        assert_eq!(walked(&bytes), Some(vec![(1, 150), (2, -1)]));
        for cut in 0..bytes.len() {
            assert_eq!(walked(&bytes[..cut]), None, "{cut}");
        }
        // A text where a number has to be, a field that is not known, a text that is longer than what there is.
        assert_eq!(walked(&[0x18, 1, b'a', 0]), None);
        assert_eq!(walked(&[0x25, 2, 0]), None);
        assert_eq!(walked(&[0x3c, 0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), None);
    }

    #[test]
    fn what_is_passed_over_is_as_long_as_it_says() {
        // 1: true, 2: 150, 3: "ab", 4: [true, false], 5: {7: "x"}, 6: {1: 0.0}, 7: [].
        let bytes = [
            &[0x11, 0x15, 0xac, 0x02, 0x18, 2, b'a', b'b', 0x19, 0x21, 1, 2, 0x1b, 1, 0x38, 7, 1, b'x'][..],
            &[0x1c, 0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x19, 0x0c, 0],
        ]
        .concat();
        let mut thrift = ThriftReader::new(&bytes);
        assert_eq!((thrift.skip_value(STRUCT), thrift.bytes_left()), (Some(()), 0));
        for cut in 0..bytes.len() {
            assert_eq!(ThriftReader::new(&bytes[..cut]).skip_value(STRUCT), None, "{cut}");
        }
        // More elements than bytes, a kind that there is not, a hundred thousand levels.
        assert_eq!(ThriftReader::new(&[0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f]).skip_value(LIST), None);
        assert_eq!(ThriftReader::new(&[0x1e, 0, 0]).skip_value(STRUCT), None);
        assert_eq!(ThriftReader::new(&vec![0x1c; 100_000]).skip_value(STRUCT), None);
        assert_eq!(ThriftReader::new(&vec![0x19; 100_000]).skip_value(LIST), None);
    }
}
