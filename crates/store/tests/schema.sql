-- The tables of a library at layout 26, each with the file in src that owns it. tests/schema.rs writes this file.

-- attempt: src/turns.rs
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
, counting TEXT NOT NULL DEFAULT 'share', steps INTEGER, cached_input TEXT NOT NULL DEFAULT 'included', grader_places TEXT) STRICT;
CREATE INDEX attempt_by_suite ON attempt (suite) WHERE suite IS NOT NULL;
CREATE INDEX attempt_by_turn ON attempt (turn);
CREATE INDEX attempt_cache_added ON attempt (turn) WHERE cached_input = 'added';
CREATE INDEX attempt_cache_added_by_run ON attempt (turn) WHERE cached_input = 'added_by_run';
CREATE TRIGGER failure_deleted AFTER DELETE ON attempt WHEN old.failing > 0 BEGIN
  DELETE FROM failure_index WHERE rowid = old.id;
END;
CREATE TRIGGER text_of_attempt_deleted AFTER DELETE ON attempt WHEN old.artifacts IS NOT NULL BEGIN
  DELETE FROM text_index WHERE rowid = 3 * old.id;
END;

-- change_log: src/changes.rs
CREATE TABLE change_log (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  -- 0 = the policy
  source INTEGER NOT NULL,
  -- run_slug.id, so that a deleted run can still be named; 0 = the source itself
  run INTEGER NOT NULL,
  UNIQUE (source, run)
) STRICT;

-- column_names: src/column_names.rs
CREATE TABLE column_names (
  -- what tells the header from another
  header TEXT PRIMARY KEY,
  -- JSON: the name of each column by its meaning
  names TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- endpoint_abilities: src/abilities.rs
CREATE TABLE endpoint_abilities (
  -- without user, password and query
  address TEXT NOT NULL,
  model TEXT NOT NULL,
  -- path of the API
  api TEXT NOT NULL,
  -- when the oldest part of it was found out, in seconds since 1970
  at INTEGER NOT NULL,
  -- JSON
  found TEXT NOT NULL,
  PRIMARY KEY (address, model, api)
) STRICT, WITHOUT ROWID;

-- episode: src/episodes.rs
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
  indexed INTEGER NOT NULL DEFAULT 0, attempts_left INTEGER NOT NULL DEFAULT 0, unrecognised INTEGER NOT NULL DEFAULT 0, identity TEXT, texts INTEGER NOT NULL DEFAULT 0, text_cost INTEGER NOT NULL DEFAULT 0, own_identity TEXT,
  UNIQUE (part, run, key),
  UNIQUE (run, slug)
) STRICT;
CREATE INDEX episode_given ON episode (run) WHERE given_tokens IS NOT NULL;
CREATE INDEX episode_identity ON episode (identity) WHERE identity IS NOT NULL;
CREATE INDEX episode_own_identity ON episode (own_identity) WHERE own_identity IS NOT NULL;
CREATE INDEX episode_settled ON episode (run) WHERE identity IS NOT own_identity;
CREATE INDEX episode_texts ON episode (texts) WHERE texts <> 1;
CREATE INDEX episode_to_index ON episode (id) WHERE indexed = 0;
CREATE INDEX episode_totals ON episode
  (run, end_reason, planned_turns, input_tokens, cached_tokens, output_tokens, cost_usd);
CREATE INDEX episode_unrecognised ON episode (run) WHERE unrecognised = 1;
CREATE TRIGGER text_of_episode_deleted AFTER DELETE ON episode WHEN old.artifacts IS NOT NULL BEGIN
  DELETE FROM text_index WHERE rowid = 3 * old.id + 2;
END;

-- failure_index: src/search.rs
CREATE VIRTUAL TABLE failure_index USING fts5 (body, content = '', contentless_delete = 1);

-- installation: src/origins.rs
CREATE TABLE installation (
  -- one row
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- 32 random bytes
  secret BLOB NOT NULL
) STRICT;

-- left_out_run: src/copied_runs.rs
CREATE TABLE left_out_run (
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  place TEXT NOT NULL,
  key TEXT NOT NULL,
  -- the run of the source that it is a copy of
  original_place TEXT NOT NULL,
  original_key TEXT NOT NULL,
  PRIMARY KEY (source, place, key)
) STRICT, WITHOUT ROWID;

-- not_kept: src/omitted_counts.rs
CREATE TABLE not_kept (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  -- NULL = of the survey
  part INTEGER REFERENCES part (id) ON DELETE CASCADE,
  -- NULL = several or none
  run INTEGER REFERENCES run (id) ON DELETE SET NULL,
  episodes INTEGER NOT NULL,
  -- entries of the import report by severity
  notes INTEGER NOT NULL,
  repairs INTEGER NOT NULL,
  warnings INTEGER NOT NULL
) STRICT;
CREATE INDEX not_kept_by_part ON not_kept (part);
CREATE INDEX not_kept_by_run ON not_kept (run) WHERE run IS NOT NULL;
CREATE INDEX not_kept_by_source ON not_kept (source);

-- note: src/annotations.rs
CREATE TABLE note (
  run INTEGER PRIMARY KEY REFERENCES run_slug (id) ON DELETE CASCADE,
  note TEXT NOT NULL,
  folded TEXT NOT NULL
) STRICT;

-- part: src/parts.rs
CREATE TABLE part (
  id INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES source (id) ON DELETE CASCADE,
  place TEXT NOT NULL,
  key TEXT NOT NULL,
  -- the 64 bits of the stamp; NULL = must be read again, whatever its files say
  stamp INTEGER,
  files_read INTEGER NOT NULL, left_out INTEGER NOT NULL DEFAULT 0,
  UNIQUE (source, place, key)
) STRICT;

-- play: src/episode_turns.rs
CREATE TABLE play (
  episode INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
  -- JSON: [[turn, passed, total, [attempt, ...]], ...]; an attempt is the first letter of its verdict (p f e u), and
  -- after a slash its end reason, if it has one
  turns TEXT NOT NULL,
  -- of the episode, else summed over its attempts
  agent_seconds REAL
, cost REAL NOT NULL DEFAULT 0, cost_turns INTEGER NOT NULL DEFAULT 0, tokens REAL NOT NULL DEFAULT 0, tokens_turns INTEGER NOT NULL DEFAULT 0, tool_calls REAL NOT NULL DEFAULT 0, tool_calls_turns INTEGER NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0, seconds_turns INTEGER NOT NULL DEFAULT 0, steps REAL NOT NULL DEFAULT 0, steps_turns INTEGER NOT NULL DEFAULT 0, steps_survived INTEGER) STRICT;

-- policy: src/policy.rs
CREATE TABLE policy (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- JSON of model::CensoringPolicy
  policy TEXT NOT NULL,
  -- number (change_log.seq) of its last change
  version INTEGER NOT NULL
) STRICT;

-- request: src/interned.rs
CREATE TABLE request (
  id INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,
  body TEXT NOT NULL,
  -- Whether the full-text search knows it.
  indexed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX request_by_hash ON request (hash);
CREATE INDEX request_to_index ON request (id) WHERE indexed = 0;
CREATE TRIGGER request_deleted AFTER DELETE ON request WHEN old.indexed BEGIN
  DELETE FROM request_index WHERE rowid = old.id;
END;

-- request_index: src/search.rs
CREATE VIRTUAL TABLE request_index USING fts5 (body, content = '', contentless_delete = 1);

-- run: src/runs.rs
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
  version INTEGER NOT NULL DEFAULT 0, unsummed INTEGER NOT NULL DEFAULT 0,
  UNIQUE (source, place, key)
) STRICT;

-- run_origin: src/origins.rs
CREATE TABLE run_origin (
  -- id of the run, as its record has it
  run TEXT PRIMARY KEY,
  -- HMAC-SHA-256 of the identity of the run
  mac BLOB NOT NULL,
  -- endpoint that it was begun with, as JSON; NULL = none of a person's
  endpoint TEXT,
  -- order of the last begin or resume
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- run_slug: src/slugs.rs
CREATE TABLE run_slug (
  id INTEGER PRIMARY KEY,
  slug TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL,
  place TEXT NOT NULL,
  key TEXT NOT NULL, preferred INTEGER NOT NULL DEFAULT 0,
  UNIQUE (path, place, key)
) STRICT;

-- run_summary: src/summaries.rs
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
, pass_rate TEXT, scored INTEGER NOT NULL DEFAULT 0, clustered INTEGER NOT NULL DEFAULT 0, rounds TEXT, doubts TEXT NOT NULL DEFAULT '[]') STRICT;

-- run_totals: src/summaries.rs
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
, unrecognised INTEGER NOT NULL DEFAULT 0, tokens_known INTEGER NOT NULL DEFAULT 0) STRICT;

-- saved_view: src/views.rs
CREATE TABLE saved_view (
  name TEXT PRIMARY KEY,
  -- in lower case, to sort by
  folded TEXT NOT NULL,
  -- route and query of the app: compare?members=…
  address TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- session: src/sessions.rs
CREATE TABLE session (
  episode INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
  -- JSON: model::SessionFigures
  figures TEXT NOT NULL
) STRICT;

-- source: src/sources.rs
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
, reader TEXT, set_aside INTEGER NOT NULL DEFAULT 0, imported TEXT) STRICT;

-- source_tag: src/annotations.rs
CREATE TABLE source_tag (
  run INTEGER NOT NULL REFERENCES run_slug (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;

-- suite: src/interned.rs
CREATE TABLE suite (
  id INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX suite_by_hash ON suite (hash);

-- tag: src/annotations.rs
CREATE TABLE tag (
  run INTEGER NOT NULL REFERENCES run_slug (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  -- in lower case, to look words up in
  folded TEXT NOT NULL,
  PRIMARY KEY (run, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_by_name ON tag (tag);

-- text_claim: src/texts/claims.rs
CREATE TABLE text_claim (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  episode INTEGER NOT NULL UNIQUE REFERENCES episode (id) ON DELETE CASCADE,
  process TEXT NOT NULL,
  -- whether the source is set aside if the process ends before it is done
  sets_aside INTEGER NOT NULL
) STRICT;

-- text_file: src/texts/shared_files.rs
CREATE TABLE text_file (
  source INTEGER NOT NULL,
  file INTEGER NOT NULL,
  episode INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
  indexed INTEGER NOT NULL,
  PRIMARY KEY (source, file, episode)
) STRICT, WITHOUT ROWID;
CREATE INDEX text_file_episode ON text_file (episode);
CREATE TRIGGER text_file_deleted AFTER DELETE ON text_file WHEN old.indexed BEGIN
  UPDATE episode SET texts = 0
  WHERE id = (SELECT episode FROM text_file WHERE source = old.source AND file = old.file LIMIT 1);
END;

-- text_index: src/texts/index.rs
CREATE VIRTUAL TABLE text_index USING fts5
  (body, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');

-- turn: src/turns.rs
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
CREATE TRIGGER text_of_turn_deleted AFTER DELETE ON turn WHEN old.artifacts IS NOT NULL BEGIN
  DELETE FROM text_index WHERE rowid = 3 * old.id + 1;
END;

-- warning: src/import_report.rs
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
CREATE INDEX warning_by_part ON warning (part);
CREATE INDEX warning_by_run ON warning (run) WHERE run IS NOT NULL;
CREATE INDEX warning_by_source ON warning (source, code, path);

-- withdrawn: src/withdrawn.rs
CREATE TABLE withdrawn (
  run INTEGER PRIMARY KEY REFERENCES run_slug (id) ON DELETE CASCADE,
  reason TEXT NOT NULL
) STRICT;

-- withdrawn_episode: src/withdrawn.rs
CREATE TABLE withdrawn_episode (
  run INTEGER NOT NULL REFERENCES run_slug (id) ON DELETE CASCADE,
  -- slug of the episode
  episode TEXT NOT NULL,
  reason TEXT NOT NULL, key TEXT, identity TEXT,
  PRIMARY KEY (run, episode)
) STRICT, WITHOUT ROWID;

-- withdrawn_trial: src/withdrawn.rs
CREATE TABLE withdrawn_trial (
  -- a withdrawn run
  run INTEGER NOT NULL REFERENCES run_slug (id) ON DELETE CASCADE,
  -- identity and key of a trial that it has or had
  identity TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (run, identity)
) STRICT, WITHOUT ROWID;
CREATE INDEX withdrawn_trial_by_key ON withdrawn_trial (run, key);
