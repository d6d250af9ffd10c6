-- validation - migration 4: a run is an evaluation of entrants or a validation of a suite; only the first competes
-- SPDX-License-Identifier: MIT

ALTER TABLE run ADD COLUMN kind TEXT NOT NULL DEFAULT 'eval' CHECK (kind IN ('eval', 'validate'));

DROP VIEW ranked;
CREATE VIEW ranked AS
SELECT t.id AS task, t.run, r.suite, r.suite_hash, e.name AS entrant, t.problem, t.sample,
       t.outcome, t.speedup, t.candidate_ms, t.baseline_ms, t.baseline_mode, t.marks, t.device,
       t.correct_protocol, t.timing_protocol
FROM task t
JOIN run r ON r.id = t.run
JOIN entrant e ON e.id = t.entrant
WHERE t.kind = 'synthesize' AND t.state = 'done' AND r.state = 'complete' AND r.kind = 'eval'
  AND t.device_kind = 'cuda'
  AND t.outcome NOT IN ('not_run', 'unsupported_on_emu');
