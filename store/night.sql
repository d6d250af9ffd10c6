-- night - migration 12: the nights of each series, and what became of them
-- SPDX-License-Identifier: MIT

CREATE TABLE night (
    id INTEGER PRIMARY KEY,
    series TEXT NOT NULL CHECK (series <> ''),       -- `name` of nightly.yaml
    folder TEXT NOT NULL,                            -- its reports
    began_ms INTEGER NOT NULL CHECK (began_ms > 0),
    ended_ms INTEGER CHECK (ended_ms >= began_ms),   -- NULL: it is not over
    run TEXT REFERENCES run(id) ON DELETE SET NULL,  -- NULL: not begun, or pruned
    again TEXT REFERENCES run(id) ON DELETE SET NULL,-- what was measured a second time
    verdict TEXT NOT NULL CHECK (verdict IN ('open', 'good', 'worse', 'canary', 'unjudged', 'incomplete',
                                             'budget', 'failed', 'abandoned')),
    reason TEXT,
    accepted INTEGER NOT NULL DEFAULT 0 CHECK (accepted IN (0, 1)),  -- by a person: the gate begins anew here
    told INTEGER NOT NULL DEFAULT 0 CHECK (told IN (0, 1)),          -- the hook was called
    CHECK ((verdict = 'open') = (ended_ms IS NULL))
) STRICT;
CREATE INDEX night_by_series ON night (series, id);
CREATE INDEX night_by_run ON night (run);
CREATE INDEX night_by_again ON night (again);
