//! Scenarios: a service that grows by change requests, with its requests, suites, reference servers and schemas.
//!
//! All of it is made up. What matters is the shape: requests of a few sentences, suites that grow and change, code that
//! grows by a few lines a turn.

use std::fmt::Write as _;

use crate::chance::Chance;

/// A title and the entities of the service, in the order in which they come in.
const DOMAINS: [(&str, [&str; 6]); 20] = [
    ("Library", ["books", "members", "loans", "holds", "fines", "branches"]),
    ("Clinic", ["patients", "doctors", "appointments", "prescriptions", "rooms", "invoices"]),
    ("Car park", ["lots", "spaces", "vehicles", "permits", "stays", "citations"]),
    ("Bakery", ["recipes", "ingredients", "batches", "orders", "ovens", "deliveries"]),
    ("Orchestra", ["musicians", "instruments", "pieces", "rehearsals", "concerts", "seats"]),
    ("Greenhouse", ["plants", "beds", "sensors", "readings", "waterings", "harvests"]),
    ("Ferry line", ["ferries", "harbours", "sailings", "tickets", "crews", "delays"]),
    // words: ok: the boxes of an archive.
    ("Archive", ["documents", "boxes", "shelves", "readers", "requests", "copies"]),
    ("Bicycle workshop", ["bicycles", "customers", "repairs", "parts", "mechanics", "receipts"]),
    ("Observatory", ["telescopes", "targets", "nights", "exposures", "astronomers", "proposals"]),
    ("Hostel", ["beds", "guests", "bookings", "payments", "lockers", "reviews"]),
    ("Courier", ["parcels", "drivers", "routes", "depots", "scans", "claims"]),
    ("Cinema", ["films", "screens", "showings", "tickets", "snacks", "vouchers"]),
    ("Museum", ["exhibits", "galleries", "tours", "visitors", "guides", "donations"]),
    ("Music school", ["pupils", "teachers", "lessons", "terms", "rooms", "recitals"]),
    ("Climbing gym", ["walls", "routes", "climbers", "passes", "courses", "rentals"]),
    ("Dairy farm", ["cows", "barns", "milkings", "feeds", "treatments", "sales"]),
    ("Brewery", ["beers", "tanks", "brews", "hops", "kegs", "shipments"]),
    ("Laundry", ["machines", "loads", "customers", "tariffs", "detergents", "complaints"]),
    ("Auction house", ["items", "sellers", "bidders", "bids", "auctions", "settlements"]),
];
const FIELDS: [&str; 24] = [
    "priority",
    "status",
    "owner",
    "notes",
    "quantity",
    "unit_price",
    "due_date",
    "label",
    "region",
    "capacity",
    "grade",
    "source",
    "currency",
    "weight",
    "language",
    "season",
    "level",
    "contact",
    "deposit",
    "discount",
    "reason",
    "version",
    "category",
    "rating",
];
const STATES: [&str; 8] =
    ["archived", "closed", "locked", "expired", "draft", "cancelled", "pending", "overdue"];

/// A feature of the service: what one change brings.
#[derive(Debug, Clone)]
struct Feature {
    entity: &'static str,
    /// Name of the test, without its file.
    test: String,
    /// `POST /loans`.
    route: String,
    /// The status that the test expects.
    expected: u16,
    /// How a request puts it.
    wording: String,
    /// The lines of the reference server.
    code: String,
}

impl Feature {
    /// Whether this feature of a turn can take the place of an older one.
    fn changes(&self, older: &Self, turn: usize) -> bool {
        let have_code = [self, older].iter().all(|f| !f.code.starts_with('@'));
        have_code && self.entity == older.entity && !older.test.ends_with(&format!("_{turn}"))
    }
}

/// A turn of a scenario.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Its change request.
    pub(crate) request: String,
    /// Its tests, as the log names them.
    pub(crate) tests: Vec<Test>,
    /// The test ids as a JSON list.
    pub(crate) tests_json: String,
    /// The suite's file.
    pub(crate) suite: String,
    /// The reference server; the agents' servers are made from it.
    pub(crate) reference: String,
    /// The schema's file.
    pub(crate) schema: String,
}

/// A test of a suite.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    /// `test_loans_rejects_overdue`.
    pub(crate) name: String,
    /// `POST /loans`.
    pub(crate) route: String,
    /// The status that it expects.
    pub(crate) expected: u16,
}

/// A scenario.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// Its title.
    pub(crate) title: String,
    /// Its turns.
    pub(crate) turns: Vec<Turn>,
}

impl Scenario {
    /// The scenario of this number.
    pub(crate) fn new(seed: u64, number: usize, turns: usize) -> Self {
        let mut chance = Chance::new(seed, &[1, number as u64]);
        let (domain, entities) = DOMAINS[number % DOMAINS.len()];
        let title = match number / DOMAINS.len() {
            0 => domain.to_owned(),
            more => format!("{domain} {}", more + 1),
        };
        let mut features: Vec<Feature> = Vec::new();
        let mut known = 0;
        let mut done = Vec::with_capacity(turns);
        for number in 1..=turns {
            let mut news = Vec::new();
            // Three entities to begin with, a further one every fifteen turns.
            let wanted = (3 + number / 15).min(entities.len());
            while known < wanted {
                news.extend(basics(entities[known]));
                known += 1;
            }
            for _ in 0..chance.between(1, 2) {
                let entity = entities[chance.between(0, known - 1)];
                let new = change(&mut chance, entity, number);
                if news.iter().all(|other: &Feature| other.test != new.test) {
                    news.push(new);
                }
            }
            let (mut request, mut old) = (String::new(), Vec::new());
            if number == 1 {
                let _ = writeln!(
                    request,
                    "Build a REST server for the service “{title}”. It listens on the port in $PORT and keeps its data in memory.\n"
                );
            }
            for feature in news {
                let _ = writeln!(request, "- {}", feature.wording);
                // Most changes change what is there: its test takes the place of an older one.
                let older: Vec<usize> =
                    (0..features.len()).filter(|i| feature.changes(&features[*i], number)).collect();
                if older.is_empty() || chance.happens(0.35) {
                    features.push(feature);
                } else {
                    let index = *chance.pick(&older);
                    old.push(std::mem::replace(&mut features[index], feature).wording);
                }
            }
            for wording in old {
                let _ = writeln!(request, "- This no longer holds: {wording}");
            }
            if number > 1 {
                request.push_str("\nEverything else stays as it is. Answers stay JSON; errors carry an `error` field with a sentence.\n");
            }
            done.push(turn(number, &title, request, &features));
        }
        Self { title, turns: done }
    }
}

fn basics(entity: &'static str) -> [Feature; 3] {
    let feature = |test: String, route: String, expected, wording: String, code: String| Feature {
        entity,
        test,
        route,
        expected,
        wording,
        code,
    };
    [
        feature(
            format!("test_{entity}_create_and_get"),
            format!("POST /{entity}"),
            201,
            format!(
                "`POST /{entity}` creates one of the {entity} and answers 201 with it; `GET /{entity}/<id>` gives it."
            ),
            format!(
                "@app.post(\"/{entity}\")\ndef create_{entity}():\n    row = add(\"{entity}\", request.get_json())\n    return jsonify(row), 201\n"
            ),
        ),
        feature(
            format!("test_{entity}_list_is_ordered"),
            format!("GET /{entity}"),
            200,
            format!("`GET /{entity}` lists them in the order of creation."),
            format!(
                "@app.get(\"/{entity}\")\ndef list_{entity}():\n    return jsonify(all_of(\"{entity}\"))\n"
            ),
        ),
        feature(
            format!("test_{entity}_unknown_id_is_404"),
            format!("GET /{entity}/999"),
            404,
            format!("An unknown id of {entity} answers 404."),
            format!(
                "@app.get(\"/{entity}/<int:id>\")\ndef get_{entity}(id):\n    return found(\"{entity}\", id)\n"
            ),
        ),
    ]
}

fn change(chance: &mut Chance, entity: &'static str, turn: usize) -> Feature {
    let field = *chance.pick(&FIELDS);
    let state = *chance.pick(&STATES);
    let limit = chance.between(2, 40);
    let (test, route, expected, wording, code) = match chance.between(0, 3) {
        0 => (
            format!("test_{entity}_{field}_is_kept"),
            format!("POST /{entity}"),
            201,
            format!("The {entity} get an optional field `{field}`; it comes back as it was sent."),
            format!("rule(\"{entity}\", keeps=\"{field}\")\n"),
        ),
        1 => (
            format!("test_{entity}_rejects_{state}"),
            format!("PATCH /{entity}/1"),
            409,
            format!("Changing one of the {entity} that is {state} answers 409."),
            format!("rule(\"{entity}\", refuses=(\"status\", \"{state}\"), status=409)\n"),
        ),
        2 => (
            format!("test_{entity}_{field}_limit_{limit}"),
            format!("POST /{entity}"),
            422,
            format!("A `{field}` longer or larger than {limit} answers 422."),
            format!("rule(\"{entity}\", limit=(\"{field}\", {limit}), status=422)\n"),
        ),
        _ => (
            format!("test_{entity}_summary_by_{field}"),
            format!("GET /{entity}/summary?by={field}"),
            200,
            format!("`GET /{entity}/summary?by={field}` counts the {entity} by `{field}`."),
            format!("summary(\"{entity}\", by=\"{field}\")\n"),
        ),
    };
    Feature { entity, test: format!("{test}_{turn}"), route, expected, wording, code }
}

fn turn(number: usize, title: &str, request: String, features: &[Feature]) -> Turn {
    let mut turn = Turn { request, ..Turn::default() };
    // words: ok: a black-box test.
    let _ = write!(turn.suite, "\"\"\"Black-box suite of turn {number}: {title}.\"\"\"\n\n\n");
    let _ = write!(
        turn.reference,
        "# Reference server of turn {number}\nfrom service import add, all_of, app, found, jsonify, request, rule, summary\n\n"
    );
    let _ = write!(turn.schema, "turn: {number}\ntitle: {title}\nfeatures:\n");
    turn.tests_json.push('[');
    for (index, feature) in features.iter().enumerate() {
        let Feature { test, route, expected, .. } = feature;
        let _ = write!(
            turn.suite,
            "def {test}(client):\n    assert client.call(\"{route}\").status_code == {expected}\n\n\n"
        );
        turn.reference.push_str(&feature.code);
        if feature.code.starts_with('@') {
            turn.reference.push('\n');
        }
        let _ = writeln!(turn.schema, "- {{route: \"{route}\", status: {expected}}}");
        let _ = write!(turn.tests_json, "{}\"test_turn.py::{test}\"", if index == 0 { "" } else { ", " });
        turn.tests.push(Test { name: test.clone(), route: route.clone(), expected: *expected });
    }
    turn.tests_json.push(']');
    turn
}
