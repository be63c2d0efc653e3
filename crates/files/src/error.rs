//! Why a file could not be read, and how damage inside a stream becomes that.

use std::io;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Nothing of that name.
    #[error("There is no such file")]
    Missing,
    /// Larger than the reader takes.
    #[error("The file has {size} bytes; at most {cap} are read")]
    TooLarge {
        /// Bytes it has.
        size: u64,
        /// Bytes that are taken.
        cap: u64,
    },
    /// The path leaves the tree or is no path.
    #[error("The path leads out of the source")]
    Outside,
    /// The path is a link or goes through one.
    #[error("The path goes through a link, and links are not followed")]
    Link,
    /// The zip entry is damaged.
    #[error("The zip entry is damaged: {0}")]
    Damaged(String),
    /// Not what the reader expects: JSON, text, …
    #[error("{message}")]
    Malformed {
        /// Warning code, such as `json.truncated`.
        code: &'static str,
        /// What is wrong and where.
        message: String,
    },
    /// The system says no.
    #[error("The file cannot be read: {0}")]
    Io(io::Error),
}

impl ReadError {
    /// The warning code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing => "file.missing",
            Self::TooLarge { .. } => "file.too_large",
            Self::Outside => "path.outside",
            Self::Link => "link.skipped",
            Self::Damaged(_) => "zip.damaged",
            Self::Malformed { code, .. } => code,
            Self::Io(_) => "file.unreadable",
        }
    }

    pub(super) fn malformed(code: &'static str, message: impl Into<String>) -> Self {
        Self::Malformed { code, message: message.into() }
    }
}

/// What is wrong with a zip entry, carried through `io::Error` because it turns up in the middle of reading.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Damage(pub(super) String);

impl Damage {
    pub(super) fn error(message: impl Into<String>) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, Self(message.into()))
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        if let Some(damage) = error.get_ref().and_then(|inner| inner.downcast_ref::<Damage>()) {
            return Self::Damaged(damage.0.clone());
        }
        if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            return Self::Link;
        }
        match error.kind() {
            // A name below a file is as absent as a name that is not there.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            io::ErrorKind::IsADirectory => not_a_file_error(),
            _ => Self::Io(error),
        }
    }
}

pub(super) fn not_a_file_error() -> ReadError {
    ReadError::malformed("file.special", "It is not a regular file")
}
