
CREATE TABLE source (
  -- never used twice: links hold it
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  zip INTEGER NOT NULL,
  format TEXT NOT NULL DEFAULT '',
  -- whether the last reading came to its end, and why not
  complete INTEGER NOT NULL DEFAULT 0,
  message TEXT,
  survey_files_read INTEGER NOT NULL DEFAULT 0,
  opened_at TEXT NOT NULL,
  -- NULL = open
  closed_at TEXT
) STRICT;

CREATE TABLE run_slug (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  place TEXT NOT NULL,
  key TEXT NOT NULL,
  UNIQUE (path, place, key)
) STRICT;

CREATE TABLE part (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  place TEXT NOT NULL,
  key TEXT NOT NULL,
  -- the 64 bits of the stamp; NULL = must be read again, whatever its files say
  stamp INTEGER,
  files_read INTEGER NOT NULL,
  UNIQUE (source, place, key)
) STRICT;

CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  place TEXT NOT NULL,
  key TEXT NOT NULL,
  slug INTEGER NOT NULL UNIQUE REFERENCES run_slug (id),
  format TEXT NOT NULL,
  benchmark TEXT NOT NULL,
  benchmark_name TEXT NOT NULL,
  harness TEXT,
  harness_version TEXT,
  runner TEXT,
  runner_version TEXT,
  model TEXT,
  provider TEXT,
  baseline TEXT,
  simulated INTEGER NOT NULL,
  planned_episodes INTEGER,
  attempt_limit INTEGER,
  started_at TEXT,
  finished_at TEXT,
  -- JSON: [[name, value], ...]
  reported TEXT NOT NULL,
  -- JSON: [[name, planned turns, passed turns], ...]
  totals_only TEXT NOT NULL,
  -- JSON objects; NULL = empty
  settings TEXT,
  extra TEXT,
  -- names in lower case, to look words up in
  folded TEXT NOT NULL,
  -- number (change_log.seq) of the last change of the run or its episodes
  version INTEGER NOT NULL DEFAULT 0,
  UNIQUE (source, place, key)
) STRICT;

-- The ids of the tests of a suite, a JSON list. Attempts refer to it and hold one letter a test.
CREATE TABLE suite (
  id INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX suite_by_hash ON suite (hash);

-- A change request. Runs that play the same scenario share it.
CREATE TABLE request (
  id INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,
  body TEXT NOT NULL,
  -- Whether the full-text search knows it.
  indexed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX request_by_hash ON request (hash);
CREATE INDEX request_to_index ON request (id) WHERE indexed = 0;

CREATE TABLE episode (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  part INTEGER NOT NULL REFERENCES part (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  slug TEXT NOT NULL,
  scenario TEXT NOT NULL,
  title TEXT,
  repeat INTEGER NOT NULL,
  planned_turns INTEGER,
  known_turns INTEGER NOT NULL,
  stamina INTEGER NOT NULL,
  failed_turn INTEGER,
  end_reason TEXT NOT NULL,
  -- one letter a turn, and JSON [failing tests or null, ...] of the same length
  cells TEXT NOT NULL,
  failing TEXT NOT NULL,
  passed_turns INTEGER NOT NULL,
  ratio_sum REAL NOT NULL,
  ratio_turns INTEGER NOT NULL,
  passed_without_counts INTEGER NOT NULL,
  failed_without_counts INTEGER NOT NULL,
  reached_turns INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  -- of the episode, else summed over its attempts
  input_tokens INTEGER,
  cached_tokens INTEGER,
  output_tokens INTEGER,
  cost_usd REAL,
  tool_calls INTEGER,
  -- as the source gives them for the whole episode
  given_end_reason TEXT,
  given_tokens TEXT,
  given_cost_usd REAL,
  started_at TEXT,
  finished_at TEXT,
  agent_seconds REAL,
  test_seconds REAL,
  exception_type TEXT,
  exception_message TEXT,
  reported TEXT NOT NULL,
  artifacts TEXT,
  extra TEXT,
  -- names in lower case, to look words up in
  folded TEXT NOT NULL,
  -- whether the full-text search knows its failing tests
  indexed INTEGER NOT NULL DEFAULT 0,
  UNIQUE (part, run, key),
  UNIQUE (run, slug)
) STRICT;
CREATE INDEX episode_totals ON episode
  (run, end_reason, planned_turns, input_tokens, cached_tokens, output_tokens, cost_usd);
CREATE INDEX episode_to_index ON episode (id) WHERE indexed = 0;

CREATE TABLE turn (
  id INTEGER PRIMARY KEY,
  episode INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  title TEXT,
  -- the letter of its cell
  state TEXT NOT NULL,
  -- of the final attempt
  passed INTEGER,
  total INTEGER,
  attempts INTEGER NOT NULL,
  -- what was asked: a text that is kept here, or a JSON artifact
  request INTEGER REFERENCES request (id),
  request_file TEXT,
  artifacts TEXT,
  extra TEXT
) STRICT;
CREATE INDEX turn_by_episode ON turn (episode, number);
CREATE INDEX turn_by_request ON turn (request) WHERE request IS NOT NULL;

CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  turn INTEGER NOT NULL REFERENCES turn (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  end_reason TEXT,
  passed INTEGER,
  total INTEGER,
  reward REAL,
  input_tokens INTEGER,
  cached_tokens INTEGER,
  output_tokens INTEGER,
  cost_usd REAL,
  tool_calls INTEGER,
  started_at TEXT,
  finished_at TEXT,
  agent_seconds REAL,
  test_seconds REAL,
  exception_type TEXT,
  exception_message TEXT,
  artifacts TEXT,
  extra TEXT,
  -- the ids of its tests, one letter a test (p f e s), and JSON of what else is known of some
  suite INTEGER REFERENCES suite (id),
  outcomes BLOB,
  details TEXT,
  -- failing tests that are described
  failing INTEGER NOT NULL
) STRICT;
CREATE INDEX attempt_by_turn ON attempt (turn);
CREATE INDEX attempt_by_suite ON attempt (suite) WHERE suite IS NOT NULL;

CREATE TABLE warning (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  -- NULL = of the survey
  part INTEGER REFERENCES part (id) ON DELETE CASCADE,
  -- the run that it concerns; NULL = several or none
  run INTEGER REFERENCES run (id) ON DELETE SET NULL,
  path TEXT NOT NULL,
  code TEXT NOT NULL,
  message TEXT NOT NULL,
  treatment TEXT NOT NULL
) STRICT;
CREATE INDEX warning_by_source ON warning (source, code, path);
CREATE INDEX warning_by_part ON warning (part);
CREATE INDEX warning_by_run ON warning (run) WHERE run IS NOT NULL;

-- Sums over the episodes of a run; every run has a row.
CREATE TABLE run_totals (
  run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  episodes INTEGER NOT NULL,
  planned_min INTEGER,
  planned_max INTEGER,
  -- JSON: [[reason, episodes], ...], most frequent first
  end_reasons TEXT NOT NULL,
  input_tokens INTEGER,
  cached_tokens INTEGER,
  output_tokens INTEGER,
  cost_usd REAL,
  cost_known INTEGER NOT NULL
) STRICT;

-- Statistics of a run under the policy.
CREATE TABLE run_summary (
  run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
  mean REAL,
  ci_low REAL,
  ci_high REAL,
  tau INTEGER NOT NULL,
  n INTEGER NOT NULL,
  events INTEGER NOT NULL,
  censored INTEGER NOT NULL,
  median INTEGER,
  score REAL,
  dataset_score REAL,
  case_score REAL,
  perfect INTEGER NOT NULL,
  partial TEXT,
  -- what it was made from, and by which version of the program; anything else makes it stale
  run_version INTEGER NOT NULL,
  policy_version INTEGER NOT NULL,
  made_by TEXT NOT NULL
) STRICT;

CREATE TABLE tag (
  run INTEGER NOT NULL REFERENCES run_slug (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  -- in lower case, to look words up in
  folded TEXT NOT NULL,
  PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_by_name ON tag (tag);

CREATE TABLE note (
  run INTEGER PRIMARY KEY REFERENCES run_slug (id) ON DELETE CASCADE,
  note TEXT NOT NULL,
  folded TEXT NOT NULL
) STRICT;

CREATE TABLE policy (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- JSON of model::CensoringPolicy
  policy TEXT NOT NULL,
  -- number (change_log.seq) of its last change
  version INTEGER NOT NULL
) STRICT;
INSERT INTO policy (id, policy, version) VALUES (1, '{"overrides":{}}', 0);

CREATE TABLE change_log (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  -- 0 = the policy
  source INTEGER NOT NULL,
  -- run_slug.id, so that a deleted run can still be named; 0 = the source itself
  run INTEGER NOT NULL,
  UNIQUE (source, run)
) STRICT;

-- rowid = request.id
CREATE VIRTUAL TABLE request_index USING fts5 (body, content = '', contentless_delete = 1);
CREATE TRIGGER request_deleted AFTER DELETE ON request WHEN old.indexed BEGIN
  DELETE FROM request_index WHERE rowid = old.id;
END;

-- rowid = attempt.id: ids and messages of its failing tests
CREATE VIRTUAL TABLE failure_index USING fts5 (body, content = '', contentless_delete = 1);
CREATE TRIGGER failure_deleted AFTER DELETE ON attempt WHEN old.failing > 0 BEGIN
  DELETE FROM failure_index WHERE rowid = old.id;
END;

PRAGMA application_id = 1400130658;
PRAGMA user_version = 1;

-- What tests/files.rs writes with this layout.
PRAGMA foreign_keys = OFF;
INSERT OR REPLACE INTO attempt (id, turn, number, verdict, end_reason, passed, total, reward, input_tokens, cached_tokens, output_tokens, cost_usd, tool_calls, started_at, finished_at, agent_seconds, test_seconds, exception_type, exception_message, artifacts, extra, suite, outcomes, details, failing) VALUES (1, 1, 1, 'passed', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, X'70', NULL, 0);
INSERT OR REPLACE INTO attempt (id, turn, number, verdict, end_reason, passed, total, reward, input_tokens, cached_tokens, output_tokens, cost_usd, tool_calls, started_at, finished_at, agent_seconds, test_seconds, exception_type, exception_message, artifacts, extra, suite, outcomes, details, failing) VALUES (2, 2, 1, 'failed', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, X'7066', '[{"at":1,"message":"expected a teapot"}]', 1);
INSERT OR REPLACE INTO change_log (seq, source, run) VALUES (6, 1, 1);
INSERT OR REPLACE INTO change_log (seq, source, run) VALUES (7, 1, 0);
INSERT OR REPLACE INTO episode (id, run, part, key, slug, scenario, title, repeat, planned_turns, known_turns, stamina, failed_turn, end_reason, cells, failing, passed_turns, ratio_sum, ratio_turns, passed_without_counts, failed_without_counts, reached_turns, attempts, input_tokens, cached_tokens, output_tokens, cost_usd, tool_calls, given_end_reason, given_tokens, given_cost_usd, started_at, finished_at, agent_seconds, test_seconds, exception_type, exception_message, reported, artifacts, extra, folded, indexed) VALUES (1, 1, 1, 'e', 'scenario-e', 'scenario e', NULL, 1, NULL, 2, 1, 2, 'tests_failed', 'pf', '[null,1]', 1, 0.0, 0, 1, 1, 2, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '[]', NULL, NULL, 'scenario e
', 0);
INSERT OR REPLACE INTO note (run, note, folded) VALUES (1, 'a note', 'a note');
INSERT OR REPLACE INTO part (id, source, place, key, stamp, files_read) VALUES (1, 1, '', 'p', 5, 2);
INSERT OR REPLACE INTO policy (id, policy, version) VALUES (1, '{"overrides":{}}', 0);
INSERT OR REPLACE INTO request (id, hash, body, indexed) VALUES (1, 6367514014399879993, 'Request number 1.', 0);
INSERT OR REPLACE INTO request (id, hash, body, indexed) VALUES (2, -1551442634402457031, 'Request number 2.', 0);
INSERT OR REPLACE INTO run (id, source, place, key, slug, format, benchmark, benchmark_name, harness, harness_version, runner, runner_version, model, provider, baseline, simulated, planned_episodes, attempt_limit, started_at, finished_at, reported, totals_only, settings, extra, folded, version) VALUES (1, 1, '', 'a', 1, 'staminabench', 'staminabench', 'StaminaBench', NULL, NULL, NULL, NULL, 'opus', NULL, NULL, 0, NULL, NULL, NULL, NULL, '[]', '[]', NULL, NULL, 'opus
staminabench
staminabench
results
', 4);
INSERT OR REPLACE INTO run_slug (id, slug, path, place, key) VALUES (1, 'results.a', '/data/results', '', 'a');
INSERT OR REPLACE INTO run_totals (run, episodes, planned_min, planned_max, end_reasons, input_tokens, cached_tokens, output_tokens, cost_usd, cost_known) VALUES (1, 1, NULL, NULL, '[["tests_failed",1]]', NULL, NULL, NULL, NULL, 0);
INSERT OR REPLACE INTO source (id, path, name, zip, format, complete, message, survey_files_read, opened_at, closed_at) VALUES (1, '/data/results', 'results', 0, 'StaminaBench output', 1, NULL, 0, '2026-11-21T11:03:51.960Z', NULL);
INSERT OR REPLACE INTO suite (id, hash, body) VALUES (1, 7175468396263766939, '["t::one"]');
INSERT OR REPLACE INTO suite (id, hash, body) VALUES (2, -5157884851152892294, '["t::one","t::two"]');
INSERT OR REPLACE INTO tag (run, tag, folded) VALUES (1, 'kept', 'kept');
INSERT OR REPLACE INTO turn (id, episode, number, title, state, passed, total, attempts, request, request_file, artifacts, extra) VALUES (1, 1, 1, NULL, 'p', NULL, NULL, 1, 1, NULL, NULL, NULL);
INSERT OR REPLACE INTO turn (id, episode, number, title, state, passed, total, attempts, request, request_file, artifacts, extra) VALUES (2, 1, 2, NULL, 'f', NULL, NULL, 1, 2, NULL, NULL, NULL);
INSERT OR REPLACE INTO warning (id, source, part, run, path, code, message, treatment) VALUES (1, 1, 1, 1, 'x.json', 'json.truncated', 'The file ends in the middle.', 'skipped');
