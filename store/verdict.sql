-- verdict - migration 5: verdicts with intervals, and the comparisons they come from
-- SPDX-License-Identifier: MIT

ALTER TABLE task ADD COLUMN verdict TEXT
    CHECK (verdict IN ('faster', 'slower', 'same', 'inconclusive', 'impossible'));
ALTER TABLE task ADD COLUMN verdict_reason TEXT;
ALTER TABLE task ADD COLUMN ci_low REAL CHECK (ci_low > 0);   -- of speedup
ALTER TABLE task ADD COLUMN ci_high REAL CHECK (ci_high >= ci_low);
ALTER TABLE task ADD COLUMN floor_ms REAL CHECK (floor_ms > 0);

CREATE TABLE comparison (          -- a candidate against the best baseline, in pairs of blocks
    id INTEGER PRIMARY KEY,
    task TEXT NOT NULL REFERENCES task(id) ON DELETE CASCADE,
    stage TEXT NOT NULL,
    source TEXT REFERENCES artifact(hash),
    plan TEXT REFERENCES artifact(hash),
    purpose TEXT NOT NULL CHECK (purpose IN ('estimate', 'published')),
    verdict TEXT NOT NULL
        CHECK (verdict IN ('faster', 'slower', 'same', 'inconclusive', 'impossible')),
    reason TEXT,
    baseline_mode TEXT NOT NULL,
    timing_mode TEXT NOT NULL CHECK (timing_mode IN ('E', 'G')),
    slots INTEGER NOT NULL,
    pairs INTEGER NOT NULL CHECK (pairs >= 0),
    processes INTEGER NOT NULL CHECK (processes >= 0),
    voids INTEGER NOT NULL CHECK (voids >= 0),
    speedup REAL CHECK (speedup > 0),
    ci_low REAL CHECK (ci_low > 0),
    ci_high REAL CHECK (ci_high >= ci_low),
    serial REAL, between_p REAL,
    margin REAL NOT NULL CHECK (margin > 0),
    calibrated INTEGER NOT NULL CHECK (calibrated IN (0, 1)),
    candidate_ms REAL CHECK (candidate_ms > 0),
    baseline_ms REAL CHECK (baseline_ms > 0),
    floor_ms REAL CHECK (floor_ms > 0),
    raw TEXT REFERENCES artifact(hash),    -- JSON: every sample, order, seeds, states of the card
    CHECK (verdict NOT IN ('inconclusive', 'impossible') OR reason IS NOT NULL)
) STRICT;
CREATE INDEX comparison_by_task ON comparison (task);

DROP VIEW ranked;
-- What may be ranked; every reader uses it. Only whole runs on a real device, only scored tasks. The
-- verdict `impossible` has no speedup and is not ranked until somebody has looked at it.
CREATE VIEW ranked AS
SELECT t.id AS task, t.run, r.suite, r.suite_hash, e.name AS entrant, t.problem, t.sample,
       t.outcome, t.speedup, t.ci_low, t.ci_high, t.verdict, t.candidate_ms, t.baseline_ms,
       t.baseline_mode, t.marks, t.device, t.correct_protocol, t.timing_protocol
FROM task t
JOIN run r ON r.id = t.run
JOIN entrant e ON e.id = t.entrant
WHERE t.kind = 'synthesize' AND t.state = 'done' AND r.state = 'complete' AND r.kind = 'eval'
  AND t.device_kind = 'cuda'
  AND t.outcome NOT IN ('not_run', 'unsupported_on_emu')
  AND t.verdict IS NOT 'impossible';
