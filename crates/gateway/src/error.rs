//! Errors of a gateway, and what can be wrong with an endpoint.

/// Why a gateway cannot start.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// The address is in use or belongs to another host, or the socket cannot be created.
    #[error("the gateway cannot listen on {address}: {reason}")]
    Listen {
        /// The address, or the path of the socket.
        address: String,
        /// Why.
        reason: String,
    },
    /// A setting is invalid: the address of the endpoint, the price table, or the log.
    #[error("{setting}: {reason}")]
    Settings {
        /// Which setting.
        setting: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What is wrong with an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointProblem {
    /// Its address is invalid.
    Address,
    /// Its host name does not resolve (DNS).
    Name,
    /// Nothing listens there.
    Refused,
    /// The TLS connection fails.
    Secure,
    /// It cannot be reached, or the connection breaks.
    Unreachable,
    /// It does not answer.
    Silent,
    /// The key is missing or wrong (401, 403).
    Key,
    /// The account is empty (402, quota).
    Account,
    /// It does not know the model.
    Model,
    /// It does not speak this API (404, 405, or an answer of another shape).
    Api,
    /// It is busy (429).
    Busy,
    /// It reports an error of its own (5xx).
    Fault,
    /// It rejects the request (another 4xx).
    Request,
}
