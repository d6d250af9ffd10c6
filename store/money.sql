-- money - migration 3: what a run may cost, what each call may have cost, what was taken out again
-- SPDX-License-Identifier: MIT

ALTER TABLE run ADD COLUMN budget_usd REAL CHECK (budget_usd > 0);       -- NULL: none
ALTER TABLE run ADD COLUMN redacted_ms INTEGER CHECK (redacted_ms > 0);  -- texts are gone; NULL: all is there

-- An artifact whose text was removed keeps its row, with empty data: packed data never is empty.

-- A paid call: registered before it is sent, settled after. known + unknown is what it counts for.
CREATE TABLE charge (
    task TEXT NOT NULL REFERENCES task(id) ON DELETE CASCADE,
    stage TEXT NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    token INTEGER NOT NULL,          -- lease that sent it
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    worst_usd REAL CHECK (worst_usd >= 0),     -- of one attempt; at most two are billed. NULL: no price is known
    state TEXT NOT NULL CHECK (state IN ('open', 'answered', 'failed', 'unknown')),
    known_usd REAL CHECK (known_usd >= 0),     -- cost of the answer (model_call has it too)
    unknown_usd REAL CHECK (unknown_usd >= 0), -- what may have been billed beside it, at its worst; NULL: open, or no price
    unknown_bills INTEGER NOT NULL DEFAULT 0 CHECK (unknown_bills >= 0), -- attempts that may have been billed
    sent_ms INTEGER NOT NULL,
    settled_ms INTEGER,
    PRIMARY KEY (task, stage, number, token)
) STRICT, WITHOUT ROWID;
