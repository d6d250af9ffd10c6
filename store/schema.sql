-- schema - the whole database, migration 1 (store/migrate.c runs it; user_version says how far)
-- Times are Unix milliseconds. A number that was not obtained is NULL with a reason beside it.
-- SPDX-License-Identifier: MIT

CREATE TABLE artifact (           -- content-addressed blobs, zstd
    hash TEXT PRIMARY KEY CHECK (length(hash) = 64),
    size INTEGER NOT NULL CHECK (size >= 0),
    data BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    id TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL CHECK (created_ms > 0),
    finished_ms INTEGER CHECK (finished_ms >= created_ms),
    state TEXT NOT NULL CHECK (state IN ('checking', 'running', 'interrupted', 'complete', 'incomplete', 'failed')),
    suite TEXT NOT NULL,
    suite_version TEXT NOT NULL,
    suite_hash TEXT NOT NULL,
    device TEXT NOT NULL,          -- as asked: auto, cuda, emu, fake
    seed INTEGER NOT NULL,
    samples INTEGER NOT NULL CHECK (samples >= 1),
    correct_protocol TEXT NOT NULL,
    timing_protocol TEXT NOT NULL,
    settings TEXT NOT NULL,        -- JSON: the effective options, so that --resume needs only the id
    command TEXT NOT NULL,         -- as typed
    version TEXT NOT NULL          -- of ce
) STRICT;

CREATE TABLE entrant (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    models TEXT NOT NULL,          -- JSON object: stage → provider:model
    UNIQUE (run, name)
) STRICT;

CREATE TABLE problem (
    run TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    position INTEGER NOT NULL,
    title TEXT NOT NULL,
    category TEXT NOT NULL,
    dtype TEXT NOT NULL,           -- of the first output
    contract TEXT NOT NULL,        -- canonical JSON
    contract_hash TEXT NOT NULL,
    prompt TEXT NOT NULL REFERENCES artifact(hash),
    reference TEXT NOT NULL REFERENCES artifact(hash),
    gold_source TEXT REFERENCES artifact(hash),
    gold_plan TEXT REFERENCES artifact(hash),
    PRIMARY KEY (run, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE task (
    id TEXT PRIMARY KEY,
    run TEXT NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('contract', 'synthesize')),
    problem TEXT NOT NULL,
    entrant INTEGER REFERENCES entrant(id), -- NULL exactly for contract tasks
    sample INTEGER NOT NULL CHECK (sample >= 0),
    spec TEXT NOT NULL REFERENCES artifact(hash),
    state TEXT NOT NULL CHECK (state IN ('waiting', 'leased', 'done', 'failed')),
    token INTEGER NOT NULL DEFAULT 0,   -- fencing token of the newest lease
    leases INTEGER NOT NULL DEFAULT 0,  -- how often handed out
    node TEXT,                          -- newest holder
    error TEXT,                         -- newest harness error
    -- result: all NULL until done
    outcome TEXT,
    stage TEXT,
    detail TEXT,
    text TEXT,
    speedup REAL CHECK (speedup > 0),
    reason TEXT,                        -- why speedup is NULL
    candidate_ms REAL CHECK (candidate_ms > 0),
    baseline_ms REAL CHECK (baseline_ms > 0),
    baseline_mode TEXT,
    marks TEXT,
    device TEXT, device_kind TEXT, device_uuid TEXT, driver TEXT, torch TEXT, nvrtc TEXT,
    correct_protocol TEXT, timing_protocol TEXT,
    source TEXT REFERENCES artifact(hash),
    plan TEXT REFERENCES artifact(hash),
    wall_ms REAL CHECK (wall_ms >= 0),
    device_ms REAL CHECK (device_ms >= 0),
    calls INTEGER CHECK (calls >= 0),
    finished_ms INTEGER,
    CHECK (state <> 'done' OR outcome IS NOT NULL),
    CHECK (speedup IS NULL OR outcome = 'ok'),
    CHECK (kind <> 'synthesize' OR state <> 'done' OR speedup IS NOT NULL OR reason IS NOT NULL),
    CHECK ((kind = 'contract') = (entrant IS NULL)),
    FOREIGN KEY (run, problem) REFERENCES problem(run, id)
) STRICT;
CREATE INDEX task_by_run ON task (run, state);
-- NULLs are distinct in UNIQUE: a contract task counts as entrant 0.
CREATE UNIQUE INDEX task_identity ON task (run, kind, problem, coalesce(entrant, 0), sample);

CREATE TABLE lease (               -- history: one row a hand-out
    task TEXT NOT NULL REFERENCES task(id) ON DELETE CASCADE,
    token INTEGER NOT NULL,
    node TEXT NOT NULL,
    granted_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    ending TEXT CHECK (ending IN ('done', 'returned', 'lost', 'cancelled')),
    PRIMARY KEY (task, token)
) STRICT, WITHOUT ROWID;

CREATE TABLE stage_result (
    task TEXT NOT NULL REFERENCES task(id) ON DELETE CASCADE,
    stage TEXT NOT NULL,
    position INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('passed', 'failed', 'skipped', 'fallback')),
    outcome TEXT NOT NULL,
    detail TEXT, text TEXT, notes TEXT,
    record TEXT NOT NULL REFERENCES artifact(hash),  -- the whole stage record
    wall_ms REAL NOT NULL CHECK (wall_ms >= 0),
    device_ms REAL NOT NULL CHECK (device_ms >= 0),
    calls INTEGER NOT NULL CHECK (calls >= 0),
    token INTEGER NOT NULL,        -- lease that finished it
    finished_ms INTEGER NOT NULL,
    PRIMARY KEY (task, stage)
) STRICT, WITHOUT ROWID;

CREATE TABLE model_call (
    task TEXT NOT NULL REFERENCES task(id) ON DELETE CASCADE,
    stage TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT REFERENCES artifact(hash),
    answer TEXT REFERENCES artifact(hash),
    stop TEXT NOT NULL,
    tokens_in INTEGER, tokens_out INTEGER, tokens_cache_read INTEGER, tokens_cache_write INTEGER,
    cost_usd REAL CHECK (cost_usd >= 0),
    latency_ms REAL NOT NULL CHECK (latency_ms >= 0),
    reason TEXT,
    record TEXT NOT NULL REFERENCES artifact(hash),
    token INTEGER NOT NULL,
    recorded_ms INTEGER NOT NULL,
    PRIMARY KEY (task, stage, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempt (
    task TEXT NOT NULL REFERENCES task(id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    stage TEXT NOT NULL,
    source TEXT REFERENCES artifact(hash),
    plan TEXT REFERENCES artifact(hash),
    log TEXT REFERENCES artifact(hash),
    report TEXT REFERENCES artifact(hash),
    outcome TEXT NOT NULL,
    detail TEXT, text TEXT,
    compile_ms REAL CHECK (compile_ms > 0),
    registers INTEGER, local_bytes INTEGER,
    PRIMARY KEY (task, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE measurement (
    id INTEGER PRIMARY KEY,
    task TEXT NOT NULL REFERENCES task(id) ON DELETE CASCADE,
    stage TEXT NOT NULL,
    side TEXT NOT NULL CHECK (side IN ('candidate', 'baseline')),
    mode TEXT NOT NULL,
    shape TEXT NOT NULL,
    median_ms REAL CHECK (median_ms > 0),
    reason TEXT,
    samples TEXT REFERENCES artifact(hash),
    sample_count INTEGER NOT NULL CHECK (sample_count >= 0),
    slots INTEGER NOT NULL,
    l2 TEXT CHECK (l2 IN ('cold', 'warm')),
    event_floor_ms REAL,
    winner INTEGER NOT NULL CHECK (winner IN (0, 1)),
    CHECK (median_ms IS NOT NULL OR reason IS NOT NULL)
) STRICT;
CREATE INDEX measurement_by_task ON measurement (task);

CREATE TABLE baseline (            -- winning mode per (contract, shape, GPU, driver, torch)
    key TEXT PRIMARY KEY CHECK (length(key) = 64),
    record TEXT NOT NULL,          -- JSON (wire/record.h)
    cache TEXT REFERENCES artifact(hash),
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE node (
    name TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    devices TEXT NOT NULL,         -- JSON
    software TEXT NOT NULL,        -- JSON
    joined_ms INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('up', 'lost', 'left'))
) STRICT, WITHOUT ROWID;

CREATE TABLE event (               -- every transition; replaying them rebuilds task states
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    run TEXT,
    task TEXT,
    node TEXT,
    kind TEXT NOT NULL,            -- granted, returned, lost, cancelled, revived, failed, done, late, node_up, …
    detail TEXT
) STRICT;
CREATE INDEX event_by_task ON event (task);
CREATE INDEX event_by_run ON event (run);

-- What may be ranked; every reader uses it. Only whole runs on a real device, only scored tasks.
CREATE VIEW ranked AS
SELECT t.id AS task, t.run, r.suite, r.suite_hash, e.name AS entrant, t.problem, t.sample,
       t.outcome, t.speedup, t.candidate_ms, t.baseline_ms, t.baseline_mode, t.marks, t.device,
       t.correct_protocol, t.timing_protocol
FROM task t
JOIN run r ON r.id = t.run
JOIN entrant e ON e.id = t.entrant
WHERE t.kind = 'synthesize' AND t.state = 'done' AND r.state = 'complete'
  AND t.device_kind = 'cuda'
  AND t.outcome NOT IN ('not_run', 'unsupported_on_emu');
