//! What holds for all routes of an API.

use serde::{Deserialize, Serialize};

/// How words are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Case {
    /// `order_item`.
    Snake,
    /// `orderItem`.
    Camel,
    /// `order-item` (paths only).
    Kebab,
}

/// What holds for all routes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conventions {
    /// Before every path but the reset route: `""`, `/api`, `/api/v2`.
    pub prefix: String,
    /// Of path segments: kebab or snake.
    pub path_case: Case,
    /// Of JSON keys and query parameters: snake or camel.
    pub field_case: Case,
    /// Body of every answer with a status of 400 or more.
    pub error: ErrorShape,
    /// The codes in error bodies.
    pub codes: ErrorCodes,
    /// Status codes that a schema chooses.
    pub status: Statuses,
    /// Body of lists.
    pub list: ListShape,
    /// Pages of lists.
    pub pagination: Pagination,
    /// What happens with body fields that the entity does not have.
    pub unknown_fields: UnknownFields,
}

/// The body of an error. The message is any text that is not empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "snake_case", deny_unknown_fields)]
pub enum ErrorShape {
    /// `{"code": "not_found", "message": "…"}`; both keys as given here.
    Flat {
        /// Key of the code.
        code: String,
        /// Key of the message.
        message: String,
    },
    /// `{"error": {"code": "not_found", "message": "…"}}`; all keys as given here.
    Nested {
        /// Key of the object.
        key: String,
        /// Key of the code.
        code: String,
        /// Key of the message.
        message: String,
    },
}

impl ErrorShape {
    /// JSON pointer to the code.
    pub fn code_pointer(&self) -> String {
        match self {
            Self::Flat { code, .. } => format!("/{code}"),
            Self::Nested { key, code, .. } => format!("/{key}/{code}"),
        }
    }

    /// JSON pointer to the message.
    pub fn message_pointer(&self) -> String {
        match self {
            Self::Flat { message, .. } => format!("/{message}"),
            Self::Nested { key, message, .. } => format!("/{key}/{message}"),
        }
    }
}

/// The codes in error bodies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorCodes {
    /// A body or query that breaks a rule.
    pub invalid: String,
    /// No such record or route.
    pub not_found: String,
    /// A unique value that is taken, or a deletion that a reference forbids.
    pub conflict: String,
    /// An action whose guard does not hold, or whose effects would break a rule.
    pub refused: String,
}

/// Status codes that a schema chooses; the others are fixed (200 for reads and changes, 404 for what is missing).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statuses {
    /// Of a create: 201 or 200.
    pub created: u16,
    /// Of a delete: 204 without a body, or 200 with the record that was deleted.
    pub deleted: u16,
    /// Of a broken rule: 400 or 422.
    pub invalid: u16,
    /// Of a conflict: 409 or 400.
    pub conflict: u16,
    /// Of a refused action: 409, 403 or 422.
    pub refused: u16,
}

/// The body of lists: `{"items": […], "total": 12}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListShape {
    /// Key of the records of this page: `items`, `data`, `results`, `records`.
    pub items: String,
    /// Key of the number of all records that match, over all pages: `total`, `count`, `total_count` (written as it
    /// stands, in every case).
    pub total: String,
}

/// Pages of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pagination {
    /// Which parameters.
    pub style: PaginationStyle,
    /// Records on a page if nothing is asked for; 5 to 100.
    pub default_size: u32,
    /// The most that can be asked for; at least `default_size`, at most 200.
    pub max_size: u32,
}

/// How a page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaginationStyle {
    /// `page` (from 1) and `page_size`.
    Page,
    /// `limit` and `offset` (from 0).
    Offset,
}

impl PaginationStyle {
    /// Names of (which page, how many): `(page, page_size)` or `(offset, limit)`, before casing.
    pub fn params(self) -> (&'static str, &'static str) {
        match self {
            Self::Page => ("page", "page_size"),
            Self::Offset => ("offset", "limit"),
        }
    }
}

/// What happens with body fields that the entity does not have. `id`, `deleted` and computed fields are always ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownFields {
    /// They are ignored.
    Ignore,
    /// The body is invalid.
    Reject,
}
