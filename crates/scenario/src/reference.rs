//! The reference server: interprets a schema. [`World`] is the whole behaviour as a pure state machine, without sockets
//! and clocks; [`serve`] puts it behind axum.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::Value;

use crate::ir::Schema;
use crate::suite::Method;

/// A request as the reference sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Method.
    pub method: Method,
    /// Path without the query, percent-decoded.
    pub path: String,
    /// Query parameters in order, decoded.
    pub query: Vec<(String, String)>,
    /// Body; `Err` if there was one that is no JSON.
    pub body: Option<Result<Value, ()>>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Status.
    pub status: u16,
    /// JSON body; none with 204.
    pub body: Option<Value>,
}

/// Faults of behaviour that a mutant can have and a schema can not express. The reference has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Flaw {
    /// A filter's parameter is accepted and ignored.
    FilterIgnored,
    // owned by: reference. More as mutants need them.
}

/// The data and behaviour of a server.
#[derive(Debug, Clone)]
pub struct World {
    _schema: Arc<Schema>,
    _flaws: BTreeSet<Flaw>,
}

impl World {
    /// A server of this schema, without records.
    pub fn new(schema: Arc<Schema>) -> Self {
        Self::flawed(schema, BTreeSet::new())
    }

    /// A server with flaws.
    pub fn flawed(schema: Arc<Schema>, flaws: BTreeSet<Flaw>) -> Self {
        Self { _schema: schema, _flaws: flaws }
    }

    /// Answers a request.
    pub fn handle(&mut self, _request: &Request) -> Response {
        todo!("owned by: reference")
    }
}

/// Serves a world on an address (port 0: any free one) until the returned handle is dropped.
pub async fn serve(_world: World, _address: SocketAddr) -> std::io::Result<Serving> {
    todo!("owned by: reference")
}

/// A reference server that is listening.
#[derive(Debug)]
pub struct Serving {
    /// Where it listens.
    pub address: SocketAddr,
}
