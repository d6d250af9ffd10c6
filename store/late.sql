-- late - migration 10: what nodes said about tasks that were not theirs any more
-- SPDX-License-Identifier: MIT

CREATE TABLE late (                -- for audit: kept and counted, never scored, never given to a task
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL CHECK (at_ms > 0),
    task TEXT NOT NULL REFERENCES task(id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('call', 'stage', 'result')),
    node TEXT NOT NULL,            -- who said it
    token INTEGER NOT NULL,        -- under which lease
    newest INTEGER NOT NULL,       -- the task's newest token then
    state TEXT NOT NULL,           -- the task's state then
    outcome TEXT,                  -- of a stage or a result
    reason TEXT NOT NULL,          -- why it was refused
    record TEXT NOT NULL           -- as it came: JSON (wire/record.h)
) STRICT;
CREATE INDEX late_by_task ON late (task);
