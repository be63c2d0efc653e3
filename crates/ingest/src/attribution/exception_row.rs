//! A row of the [table](super::exception_table): which exceptions are meant, and how an end follows from each.

use model::EndReason;

/// How an end follows from an exception.
#[derive(Debug)]
pub(super) enum Rule {
    /// It is this one.
    Is(EndReason),
    /// Nothing proves anybody else: an error of the agent, its cause not recognized.
    Unclear,
    /// This one, but before a later step unclear: the agent may have broken what it needs.
    FirstStep(EndReason),
    /// By the HTTP status at its place; where there is none, by the rule.
    Status(&'static Self),
    /// By why the endpoint refused the request.
    Refused,
    /// The environment, if a container engine was called; else by the rule.
    Caller(&'static Self),
    /// The endpoint, if one of models was called; else by the rule.
    Client(&'static Self),
    /// A phase's time limit, unless another time-out within the phase was taken for it.
    TimeLimit(EndReason),
    /// By the message of the container's terminal.
    Keys,
    /// By what it wraps; where nothing says that, by the rule.
    Wrapper(&'static Self),
}

/// Which exceptions are meant, and whose they are.
#[derive(Debug)]
pub(super) struct Row {
    /// Packages of its module; none = any. An exception whose module is unknown fits by its type's name.
    pub(super) packages: &'static [&'static str],
    /// Names of types, with at most one `*`; none = all of the packages.
    pub(super) types: &'static [&'static str],
    /// Beginnings of the message; none = any.
    pub(super) begins: &'static [&'static str],
    /// Before the agent began, and between its work and the tests.
    pub(super) setup: Rule,
    /// While it worked.
    pub(super) agent: Rule,
    /// While the tests ran.
    pub(super) verifier: Rule,
}

impl Rule {
    /// What it gives, in words.
    pub(super) fn describe(&self) -> String {
        const UNCLEAR: &str = "agent error, cause not recognized";
        match self {
            Self::Is(reason) => reason.label().to_owned(),
            Self::Unclear => UNCLEAR.to_owned(),
            Self::FirstStep(reason) => format!("{}; before a later step {UNCLEAR}", reason.label()),
            Self::Status(otherwise) => format!("by status, else {}", otherwise.describe()),
            Self::Refused => format!("by why the request was refused, else {UNCLEAR}"),
            Self::Caller(otherwise) => {
                format!("environment if an engine was called, else {}", otherwise.describe())
            }
            Self::Client(otherwise) => format!("endpoint if one was called, else {}", otherwise.describe()),
            Self::TimeLimit(reason) => {
                format!("{}, unless another time-out was taken for it", reason.label())
            }
            Self::Keys => format!("environment if the container was gone, else {UNCLEAR}"),
            Self::Wrapper(otherwise) => format!("what it wraps, else {}", otherwise.describe()),
        }
    }
}

impl Row {
    /// A name that no other row has: its first type with the first package, and the first beginning.
    pub(super) fn name(&self) -> String {
        let type_name = match (self.packages.first(), self.types.first()) {
            (Some(package), Some(kind)) => format!("{package}.{kind}"),
            (None, Some(kind)) => (*kind).to_owned(),
            (Some(package), None) => format!("all of {package}"),
            (None, None) => "all".to_owned(),
        };
        match self.begins.first() {
            Some(start) => format!("{type_name} “{}”", start.trim_end()),
            None => type_name,
        }
    }

    /// Which exceptions it means.
    pub(super) fn describe(&self) -> String {
        let kinds = if self.types.is_empty() { "all".to_owned() } else { self.types.join(", ") };
        let packages_text = if self.packages.is_empty() {
            String::new()
        } else {
            format!(" of {}", self.packages.join(", "))
        };
        let begins: Vec<String> = self.begins.iter().map(|start| format!("“{}”", start.trim_end())).collect();
        let begins =
            if begins.is_empty() { String::new() } else { format!(" that begin with {}", begins.join(", ")) };
        format!("{kinds}{packages_text}{begins}")
    }
}

/// Names or beginnings.
pub(super) type Words = &'static [&'static str];

/// The same at every stage.
pub(super) const fn always(packages: Words, types: Words, begins: Words, reason: EndReason) -> Row {
    Row {
        packages,
        types,
        begins,
        setup: Rule::Is(reason),
        agent: Rule::Is(reason),
        verifier: Rule::Is(reason),
    }
}

/// Of a client: outside the agent's work it served the environment.
pub(super) const fn client(packages: Words, types: Words, begins: Words, agent: Rule) -> Row {
    Row {
        packages,
        types,
        begins,
        setup: Rule::Is(EndReason::Environment),
        agent,
        verifier: Rule::Is(EndReason::Environment),
    }
}

/// Of whatever ran: the environment's, the agent's, the verifier's.
pub(super) const fn by_stage(packages: Words, types: Words, begins: Words, agent: Rule) -> Row {
    Row {
        packages,
        types,
        begins,
        setup: Rule::Is(EndReason::Environment),
        agent,
        verifier: Rule::Is(EndReason::VerifierError),
    }
}
