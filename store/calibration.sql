-- calibration - migration 8: what self-tests of cards found out
-- SPDX-License-Identifier: MIT

CREATE TABLE selftest (            -- one self-test of one card
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL CHECK (at_ms > 0),
    node TEXT NOT NULL,
    device_uuid TEXT NOT NULL,
    device TEXT NOT NULL,
    device_kind TEXT NOT NULL,
    driver TEXT NOT NULL,
    torch TEXT NOT NULL,
    version TEXT NOT NULL,         -- of ce
    protocol TEXT NOT NULL,
    quick INTEGER NOT NULL CHECK (quick IN (0, 1)),
    passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
    failure TEXT,                  -- what said no
    wall_s REAL NOT NULL CHECK (wall_s >= 0),
    CHECK (passed = (failure IS NULL))
) STRICT;
CREATE INDEX selftest_by_card ON selftest (device_uuid, id);

CREATE TABLE calibration (         -- a check of it
    id INTEGER PRIMARY KEY,
    selftest INTEGER NOT NULL REFERENCES selftest(id) ON DELETE CASCADE,
    name TEXT NOT NULL,            -- aa, slower_3, warm, copy, …
    label TEXT NOT NULL,
    duration TEXT CHECK (duration IN ('short', 'middle', 'long')),
    decides INTEGER NOT NULL CHECK (decides IN (0, 1)),
    passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
    verdict TEXT CHECK (verdict IN ('faster', 'slower', 'same', 'inconclusive', 'impossible')),
    reason TEXT,
    theta REAL, ci_low REAL, ci_high REAL,  -- ln of the ratio
    candidate_ms REAL CHECK (candidate_ms > 0),
    pairs INTEGER NOT NULL CHECK (pairs >= 0),
    value REAL, bound REAL,        -- what was found, what is asked
    text TEXT,
    raw TEXT REFERENCES artifact(hash)
) STRICT;
CREATE INDEX calibration_by_selftest ON calibration (selftest);
