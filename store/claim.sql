-- claim - migration 6: the model that answered by its own name, and what other programs say they measured
-- SPDX-License-Identifier: MIT

ALTER TABLE model_call ADD COLUMN served TEXT; -- as the provider names it; NULL: it did not say

CREATE TABLE claim (               -- a result of another program: imported, never run here, never ranked with those that were
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,            -- as it was named
    content TEXT NOT NULL CHECK (length(content) = 64), -- SHA-256 of the file
    format TEXT NOT NULL,
    imported_ms INTEGER NOT NULL CHECK (imported_ms > 0),
    entrant TEXT NOT NULL,
    problem TEXT NOT NULL,
    sample INTEGER NOT NULL CHECK (sample >= 0),
    correct INTEGER NOT NULL CHECK (correct IN (0, 1)),
    detail TEXT,                   -- in that program's words
    speedup REAL CHECK (speedup > 0),
    reason TEXT,                   -- why speedup is NULL
    candidate_ms REAL CHECK (candidate_ms > 0),
    baseline_ms REAL CHECK (baseline_ms > 0),
    baseline TEXT,
    device TEXT,
    CHECK (speedup IS NOT NULL OR reason IS NOT NULL),
    CHECK (speedup IS NULL OR correct = 1),
    UNIQUE (content, entrant, problem, sample)
) STRICT;
