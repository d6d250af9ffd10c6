// SPDX-License-Identifier: MIT
// The live page. Everything shown comes from this server and is put into the page as text, never as
// markup: what models wrote is hostile input, and is fetched only when somebody opens it.
"use strict";

const REFRESH_MS = 2000; // a board is fetched at most this often
const LINES_MAX = 5000; // of a text that is shown line by line
const TEXT_MAX = 400000; // characters of a text that is shown

const $ = (id) => document.getElementById(id);
const RUNS_MS = 30000; // the list of runs is fetched at most this often, unless a run begins or ends
const state = { run: null, board: null, status: null, runs: [], older: [], more: false, now: null, trend: [] };

// ---- building ----
function make(tag, options, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(options || {})) {
    if (value === null || value === undefined) continue;
    if (key === "class") node.className = value;
    else if (key === "click") node.addEventListener("click", value);
    else node.setAttribute(key, value);
  }
  for (const child of children) node.append(child);
  return node;
}

function fill(node, ...children) {
  node.replaceChildren(...children);
  return node;
}

function pairs(list, facts) {
  fill(list, ...facts.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  return list;
}

// ---- numbers for people ----
const missing = (x) => x === null || x === undefined;
const times = (x) => (missing(x) ? "–" : x.toFixed(x < 10 ? 2 : 1) + "×");
const percent = (x) => (missing(x) ? "–" : (100 * x).toFixed(0) + " %");
const money = (x) => (missing(x) ? "unknown" : "$" + x.toFixed(x < 10 ? 3 : 2));
const clock = (ms) => new Date(ms).toLocaleString();
const time = (x) => (missing(x) ? "–" : x < 1 ? (x * 1000).toFixed(1) + " µs" : x.toFixed(3) + " ms");

function span(ms) {
  if (missing(ms)) return "–";
  const s = Math.round(ms / 1000);
  if (s < 90) return s + " s";
  if (s < 5400) return Math.round(s / 60) + " min";
  return (s / 3600).toFixed(1) + " h";
}

// ---- asking the server ----
async function ask(path) {
  const answer = await fetch(path, { credentials: "same-origin" });
  const text = await answer.text();
  if (!answer.ok) {
    let why = answer.status + " " + answer.statusText;
    try { why = JSON.parse(text).error; } catch { /* not ours */ }
    throw new Error(why);
  }
  return text;
}
const askJson = async (path) => JSON.parse(await ask(path));
const named = (path, run) => path + "?run=" + encodeURIComponent(run);

// ---- what a task looks like ----
const OFF_SCORE = ["not_run", "unsupported_on_emu"];

function tone(task) {
  if (!task) return "none";
  if (task.state === "leased") return "run";
  if (task.state !== "done") return task.state === "failed" ? "bad" : "none";
  if (OFF_SCORE.includes(task.outcome)) return "none";
  if (task.outcome !== "ok") return "bad";
  if (missing(task.speedup)) return "ok";
  if (task.verdict === "same" || task.verdict === "inconclusive") return "s0";
  const octaves = Math.log2(task.speedup);
  const level = Math.min(3, 1 + Math.floor(Math.abs(octaves) / 0.5));
  return (octaves >= 0 ? "f" : "d") + level;
}

function saying(task) {
  if (!task) return "not yet";
  if (task.state === "leased") return "running";
  if (task.state === "waiting") return "waiting";
  if (task.state === "failed") return "given up";
  const outcome = task.outcome + (task.detail ? "(" + task.detail + ")" : "");
  if (task.outcome !== "ok") return outcome;
  if (missing(task.speedup)) return "ok, no speed" + (task.reason ? ": " + task.reason : "");
  const interval = missing(task.ci_low) ? "" : " [" + times(task.ci_low) + ", " + times(task.ci_high) + "]";
  return "ok, " + times(task.speedup) + interval + (task.verdict ? " " + task.verdict : "");
}

// ---- now ----
function drawNow() {
  const now = state.now && state.run && state.now.run === state.run ? state.now : null;
  const run = state.status && state.status.run;
  if (!run) return;
  const counts = now || run.tasks;
  const ended = counts.done + counts.failed;
  $("bar").max = Math.max(1, counts.planned);
  $("bar").value = ended;
  $("done").textContent = ended + " of " + counts.planned + " tasks done" +
    (now ? ", " + now.correct + " correct" : "") + (counts.failed ? ", " + counts.failed + " given up" : "");
  const budget = run.budget_usd;
  const spent = now ? now.spent_usd : run.cost_usd;
  pairs($("numbers"), [
    ["State", run.state],
    ["In flight", String(counts.leased)],
    ["Waiting", String(counts.waiting)],
    ["Running for", now ? span(now.elapsed_ms) : null],
    ["About left", now && !missing(now.left_ms) ? span(now.left_ms) : null],
    ["Model calls", String(now ? now.calls : run.calls)],
    ["Spent", money(spent) + (budget ? " of " + money(budget) : "")],
    ["Price unknown", run.cost_unknown_calls ? run.cost_unknown_calls + " calls" : null],
    ["Cut in flight", run.unknown_calls ? run.unknown_calls + " calls, " + money(run.unknown_usd) + " at worst" : null],
  ]);
  const queue = (now && now.queue) || [];
  const notes = (now ? now.notes : []).concat(
    queue.length ? ["waiting behind this run: " + queue.length + (queue.length > 1 ? " runs" : " run")] : []);
  fill($("notes"), ...notes.map((text) => make("p", {}, text)));
  const flying = now ? now.flying : state.status.open.filter((t) => t.state === "leased");
  $("flying").querySelector("summary").textContent = "Being worked on: " + counts.leased;
  fill($("flying").querySelector("ul"), ...flying.map((t) => make("li", {},
    make("button", { class: "plain", type: "button", click: () => openTask(t.task) },
      t.problem + " · " + (t.entrant || "contract check")),
    " " + (t.stage || "") + (t.node ? " on " + t.node : ""))));
}

// ---- the board ----
function drawBoard() {
  const board = state.board;
  const faster = new Map();
  for (const t of board.tasks) if (t.verdict === "faster") faster.set(t.entrant, (faster.get(t.entrant) || 0) + 1);
  fill($("board").querySelector("tbody"), ...board.entrants.map((e) => {
    const range = make("div", { class: "range", role: "img",
      "aria-label": percent(e.correct_low) + " to " + percent(e.correct_high) });
    const low = make("i"), mark = make("b");
    if (!missing(e.correct_low)) {
      low.style.left = 100 * e.correct_low + "%";
      low.style.width = 100 * (e.correct_high - e.correct_low) + "%";
      mark.style.left = "calc(" + (100 * e.correct) / e.declared + "% - 1.5px)";
      range.append(low, mark);
    }
    return make("tr", {}, make("th", { scope: "row" }, e.name),
      make("td", { class: "num" }, e.correct + " / " + e.declared),
      make("td", {}, range), make("td", { class: "num" }, String(faster.get(e.name) || 0)),
      make("td", { class: "num" }, e.measured ? times(e.geomean) + " of " + e.measured : "–"),
      make("td", { class: "num" }, e.measured ? String(e.losses) : "–"),
      make("td", { class: "num" }, money(e.cost_usd) + (e.cost_unknown_calls ? " +?" : "")));
  }));
  const run = board.run;
  $("worth").textContent = [
    run.device.name || run.device.asked, run.protocol.correctness, run.protocol.timing,
    run.ranked ? null : "not ranked" + (run.state === "complete" ? "" : ": the run is " + run.state),
    run.provisional ? "provisional: fewer than 3 samples" : null].filter(Boolean).join(" · ");
}

// ---- the grid ----
const key = (problem, entrant, sample) => problem + "\n" + entrant + "\n" + sample;
let cells = new Map(), drawnShape = null;

function drawCell(cell, task) {
  const text = cell.label + ": " + saying(task);
  cell.task = task;
  cell.node.dataset.tone = tone(task);
  cell.node.title = text;
  cell.node.setAttribute("aria-label", text);
}

// Squares stay where they are while the run has the same problems and entrants: who tabbed to one keeps it.
function drawGrid() {
  const board = state.board;
  const entrants = board.entrants.map((e) => e.name);
  const problems = [...new Set(board.tasks.map((t) => t.problem))];
  const shape = JSON.stringify([state.run, entrants, problems, board.run.samples]);
  if (shape !== drawnShape) buildGrid(entrants, problems, board.run.samples);
  drawnShape = shape;
  for (const t of board.tasks) drawCell(cells.get(key(t.problem, t.entrant, t.sample)), t);
}

function buildGrid(entrants, problems, samples) {
  const table = $("grid").querySelector("table");
  cells = new Map();
  fill(table.tHead, make("tr", {}, make("th", { scope: "col" }, "Problem"),
    ...entrants.map((name) => make("th", { scope: "col" }, name))));
  fill(table.tBodies[0], ...problems.map((problem) => make("tr", {},
    make("th", { scope: "row" }, make("button", { class: "plain", type: "button", click: () => openProblem(problem) }, problem)),
    ...entrants.map((entrant) => make("td", {}, ...Array.from({ length: samples }, (_, s) => {
      const label = problem + ", " + entrant + (samples > 1 ? ", sample " + s : "");
      const cell = { label, node: make("button", { class: "cell", type: "button" }) };
      cell.node.addEventListener("click", () => cell.task && openTask(cell.task.task));
      drawCell(cell, null);
      cells.set(key(problem, entrant, s), cell);
      return cell.node;
    }))))));
}

// An event says how its task stands now: the square changes at once, the board follows.
function applyChange(change) {
  if (change.run !== state.run || !change.entrant) return;
  const cell = cells.get(key(change.problem, change.entrant, change.sample));
  if (!cell) return;
  drawCell(cell, { ...(cell.task || {}), task: change.task, problem: change.problem, entrant: change.entrant,
    state: change.state, outcome: change.outcome, detail: change.outcome_detail,
    speedup: missing(change.speedup) ? null : change.speedup, verdict: change.verdict, ci_low: null });
}

// ---- nodes, providers, runs ----
const pill = (text, kind) => make("span", { class: "pill", "data-tone": kind }, text);

function drawNodes(nodes) {
  const stored = state.status ? state.status.nodes : [];
  const shown = nodes && nodes.length ? nodes : stored;
  fill($("nodes").querySelector(".cards"), ...(shown.length ? shown.map((n) => make("div", { class: "card" },
    make("h3", {}, n.name, " ", pill(n.state || "up", (n.state || "up") === "up" ? "good" : "fail")),
    make("p", {}, missing(n.slots) ? "last seen " + clock(n.seen_ms)
      : n.held + " of " + n.slots + " slots in use · " + (n.devices || n.kinds.join(", ") || "no lane")),
    n.untested ? make("p", { class: "dim" }, "testing its cards: " + n.untested + " to go") : "",
    ...(n.cards || []).map((c) => make("p", { class: c.failure ? "" : "dim" }, c.uuid.slice(0, 12) + ": " +
      (c.failure ? "self-test failed: " + c.failure
        : c.runs ? "self-test passed, noise ±" + (100 * c.margin).toFixed(1) + " % from " + c.runs + " runs" : "not calibrated"))),
    n.reason ? make("p", { class: "dim" }, n.reason) : ""))
    : [make("p", { class: "dim" }, "No node has joined yet.")]));
}

function drawProviders(providers) {
  const spend = new Map();
  for (const s of state.board ? state.board.run.spend : []) {
    const sum = spend.get(s.provider) || { calls: 0, cost: 0, unknown: 0, latency: 0 };
    sum.calls += s.calls; sum.cost += s.cost_usd; sum.unknown += s.cost_unknown_calls; sum.latency += s.latency_ms;
    spend.set(s.provider, sum);
  }
  const waits = new Map((providers || []).map((p) => [p.name, p]));
  const names = [...new Set([...spend.keys(), ...waits.keys()])];
  fill($("providers").querySelector(".cards"), ...(names.length ? names.map((name) => {
    const s = spend.get(name), w = waits.get(name);
    return make("div", { class: "card" },
      make("h3", {}, name, " ", w && w.reason ? pill(w.closed ? "closed" : "waiting", w.closed ? "fail" : "warn") : pill("open", "good")),
      make("p", {}, s ? s.calls + " calls · " + (s.calls && s.unknown === s.calls ? "price unknown" : money(s.cost) + (s.unknown ? " and " + s.unknown + " of unknown price" : "")) +
        (s.calls ? " · " + (s.latency / s.calls / 1000).toFixed(1) + " s an answer" : "") : "not asked yet"),
      w && w.reason ? make("p", { class: "dim" }, w.reason + (w.wait_ms ? " (" + span(w.wait_ms) + ")" : "")) : "");
  }) : [make("p", { class: "dim" }, "No model is asked in this run.")]));
}

function runItem(r) {
  return make("li", {},
    make("a", { href: "#run=" + encodeURIComponent(r.id), "aria-current": r.id === state.run ? "true" : null }, r.id),
    " ", pill(r.state, r.state === "complete" ? "good" : r.state === "failed" ? "fail" : "warn"),
    " " + r.suite + " on " + r.device + ", " + r.tasks.scored + " of " + r.tasks.planned + " scored, " + clock(r.created_ms),
    make("br"), make("span", { class: "dim" }, r.entrants.join(", ")));
}

function drawRuns() {
  fill($("runs").querySelector("ol"), ...state.runs.concat(state.older).map(runItem));
  $("older").hidden = !state.more;
  $("follow").hidden = !asked();
}

async function loadOlder() {
  const all = state.runs.concat(state.older);
  try {
    const page = (await askJson("/api/runs?before=" + encodeURIComponent(all[all.length - 1].id))).runs;
    state.older = state.older.concat(page);
    state.more = page.length > 0;
    drawRuns();
  } catch (e) { $("facts").textContent = e.message; }
}
$("older").addEventListener("click", loadOlder);
$("follow").addEventListener("click", () => { location.hash = ""; });

// ---- trends ----
const SVG = "http://www.w3.org/2000/svg";
function draw(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// Shares are drawn between 0 and 1, the newest at the right end.
function sparkline(shares, label) {
  const x = (i) => (shares.length > 1 ? 4 + (i * 152) / (shares.length - 1) : 80);
  const y = (share) => 36 - 32 * share;
  return draw("svg", { viewBox: "0 0 160 40", class: "spark", role: "img", "aria-label": label },
    draw("line", { x1: 0, x2: 160, y1: 36, y2: 36 }),
    draw("polyline", { points: shares.map((s, i) => x(i) + "," + y(s)).join(" ") }),
    draw("circle", { cx: x(shares.length - 1), cy: y(shares[shares.length - 1]), r: 3 }));
}

function drawTrends() {
  const rows = state.board.entrants.map((e) => {
    const points = state.trend.filter((p) => p.entrant === e.name && p.declared > 0);
    const shares = points.map((p) => p.correct / p.declared);
    if (e.declared) shares.push(e.correct / e.declared);
    const before = points.length ? points[points.length - 1] : null;
    return { name: e.name, now: e, before, shares };
  }).filter((row) => row.before);
  fill($("trends").querySelector(".cards"), ...(rows.length ? rows.map((row) => make("div", { class: "card" },
    make("h3", {}, row.name),
    sparkline(row.shares, "share correct in " + row.shares.length + " runs, from " + percent(row.shares[0]) + " to " +
      percent(row.shares[row.shares.length - 1])),
    make("p", {}, "correct " + row.now.correct + " of " + row.now.declared + ", before " + row.before.correct + " of " + row.before.declared +
      (missing(row.before.geomean) || !row.now.measured ? "" : " · geomean " + times(row.now.geomean) + ", before " + times(row.before.geomean)))))
    : [make("p", { class: "dim" }, "There is no earlier complete run of this suite on this device.")]));
}

function drawHead() {
  const run = state.status.run;
  $("title").textContent = run.suite + " " + run.suite_version;
  document.title = "ce · " + run.suite + " · " + run.state;
  $("facts").textContent = "run " + run.id + " · " + run.state + " · " + run.device + " · since " + clock(run.created_ms);
}

// ---- one task ----
const drawer = $("drawer");
let opener = null;

function openDrawer(title) {
  opener = drawer.open ? opener : document.activeElement;
  $("drawer-head").textContent = title;
  fill($("drawer-body"), make("p", { class: "dim" }, "loading…"));
  if (!drawer.open) drawer.showModal();
  drawer.scrollTop = 0;
}
$("close").addEventListener("click", () => drawer.close());
drawer.addEventListener("close", () => { if (opener && opener.isConnected) opener.focus(); });

function openProblem(problem) {
  openDrawer(problem);
  fill($("drawer-body"), make("ul", {}, ...state.board.tasks.filter((t) => t.problem === problem).map((t) =>
    make("li", {}, make("button", { class: "plain", type: "button", click: () => openTask(t.task) },
      t.entrant + ", sample " + t.sample), " " + saying(t)))));
}

// Lines that a compiler's log or a report speaks of.
function linesOf(text) {
  const lines = new Set();
  for (const m of text.matchAll(/\.cu[(:](\d+)|\bline"?:? (\d+)/g)) lines.add(Number(m[1] || m[2]));
  return lines;
}

function showText(text, hits, anchor) {
  const cut = text.length > TEXT_MAX ? text.slice(0, TEXT_MAX) : text;
  const pre = make("pre", { tabindex: "0", dir: "ltr" });
  const lines = cut.split("\n");
  if (!anchor || lines.length > LINES_MAX) pre.textContent = cut;
  else lines.forEach((line, i) => pre.append(make("span", { class: hits.has(i + 1) ? "line hit" : "line",
    "data-n": String(i + 1), id: anchor + "-" + (i + 1) }, line)));
  return cut === text ? pre : make("div", {}, pre, make("p", { class: "dim" }, "The first " + TEXT_MAX + " of " + text.length + " characters."));
}

// A log, its "(12): error" leading to line 12 of the source below it.
function showLog(text, anchor) {
  const pre = make("pre", { tabindex: "0" });
  let at = 0;
  for (const m of text.slice(0, TEXT_MAX).matchAll(/\.cu[(:](\d+)\)?|\bline"?:? (\d+)/g)) {
    pre.append(text.slice(at, m.index));
    pre.append(make("button", { class: "plain", type: "button", click: () => {
      const line = document.getElementById(anchor + "-" + (m[1] || m[2]));
      if (line) { line.scrollIntoView({ block: "center" }); line.classList.add("hit"); }
    } }, m[0]));
    at = m.index + m[0].length;
  }
  pre.append(text.slice(at, TEXT_MAX));
  return pre;
}

const blob = (hash) => ask("/api/blob?hash=" + hash);

// Model text waits behind a summary until somebody opens it.
function later(title, load) {
  const details = make("details", {}, make("summary", {}, title));
  details.addEventListener("toggle", async () => {
    if (!details.open || details.dataset.loaded) return;
    details.dataset.loaded = "yes";
    const place = details.appendChild(make("div", {}, make("p", { class: "dim" }, "loading…")));
    try { fill(place, ...await load()); } catch (e) { fill(place, make("p", {}, e.message)); delete details.dataset.loaded; }
  });
  return details;
}

function attemptOf(attempt) {
  const anchor = "a" + attempt.number;
  const title = "Attempt " + attempt.number + " (" + attempt.stage + "): " + attempt.outcome +
    (attempt.detail ? "(" + attempt.detail + ")" : "");
  return later(title, async () => {
    const log = attempt.log ? await blob(attempt.log) : "";
    const report = attempt.report ? await blob(attempt.report) : "";
    const hits = linesOf(log + "\n" + report);
    const parts = [];
    if (attempt.text) parts.push(make("p", {}, attempt.text));
    if (log.trim()) parts.push(make("h3", {}, "Compiler"), showLog(log, anchor));
    if (report) parts.push(make("h3", {}, "Check"), showLog(report, anchor));
    if (attempt.source) parts.push(make("h3", {}, "Source"), showText(await blob(attempt.source), hits, anchor));
    if (attempt.plan) parts.push(make("h3", {}, "Launch plan"), showText(await blob(attempt.plan), new Set(), null));
    return parts;
  });
}

function callOf(call) {
  const tokens = [["in", call.tokens_in], ["cached", call.tokens_cache_read], ["out", call.tokens_out]]
    .filter(([, n]) => !missing(n)).map(([name, n]) => n + " " + name).join(", ");
  return later(call.stage + " " + call.number + " · " + call.provider + ":" + call.model + " · " + call.stop + " · " +
    money(call.cost_usd) + " · " + tokens, async () => {
    const parts = [];
    if (call.reason) parts.push(make("p", {}, call.reason));
    if (call.prompt) parts.push(make("h3", {}, "Asked"), showText(await blob(call.prompt), new Set(), null));
    if (call.answer) parts.push(make("h3", {}, "Answered"), showText(await blob(call.answer), new Set(), null));
    return parts.length ? parts : [make("p", { class: "dim" }, "The texts are not stored.")];
  });
}

function factsOf(task) {
  const r = task.result || {};
  return pairs(make("dl", { class: "kv" }), [
    ["State", task.state + (task.node ? " on " + task.node : "")],
    ["Harness error", task.error],
    ["Outcome", task.state === "done" ? r.outcome + (r.detail ? "(" + r.detail + ")" : "") : null],
    ["Decided in", r.stage], ["Why", r.text],
    ["Speedup", missing(r.speedup) ? (r.reason ? "none: " + r.reason : null)
      : times(r.speedup) + (missing(r.ci_low) ? "" : " [" + times(r.ci_low) + ", " + times(r.ci_high) + "]")],
    ["Verdict", r.verdict ? r.verdict + (r.verdict_reason ? ": " + r.verdict_reason : "") : null],
    ["Kernel", missing(r.candidate_ms) ? null : time(r.candidate_ms)],
    ["Baseline", missing(r.baseline_ms) ? null : time(r.baseline_ms) + " (" + r.baseline_mode + ")"],
    ["Floor", missing(r.floor_ms) ? null : time(r.floor_ms)],
    ["Marks", r.marks], ["Note", r.note], ["Device", r.device],
    ["Protocols", [r.correct_protocol, r.timing_protocol].filter(Boolean).join(", ")],
    ["Took", missing(r.wall_ms) ? null : span(r.wall_ms) + (missing(r.device_ms) ? "" : ", " + span(r.device_ms) + " of the device")],
  ]);
}

async function openTask(id) {
  openDrawer("…");
  try {
    const task = await askJson("/api/task?task=" + encodeURIComponent(id));
    $("drawer-head").textContent = task.problem + " · " + (task.entrant || "contract check") +
      (task.sample ? " · sample " + task.sample : "");
    const list = (title, items) => (items.length ? [make("h3", {}, title), ...items] : []);
    fill($("drawer-body"), factsOf(task),
      ...list("Stages", task.stages.map((s) => make("p", {}, s.stage + ": " + s.status + (s.outcome === "ok" ? "" : ", " + s.outcome) +
        " · " + span(s.wall_ms) + (s.calls ? " · " + s.calls + " calls" : "")))),
      ...list("Attempts", task.attempts.map(attemptOf)),
      ...list("Model calls", task.calls.map(callOf)),
      ...list("Measured", task.measurements.map((m) => make("p", {}, m.side + " " + m.mode + " " + m.shape + ": " +
        (missing(m.median_ms) ? m.reason : time(m.median_ms) + ", " + m.sample_count + " samples")))),
      ...list("What happened", task.events.map((e) => make("p", { class: "dim" }, clock(e.at_ms) + " " + e.kind +
        (e.node ? " on " + e.node : "") + (e.detail ? ": " + e.detail : "")))),
      make("p", { class: "dim" }, "In a terminal: ce-coord inspect " + task.task));
  } catch (e) {
    fill($("drawer-body"), make("p", {}, e.message));
  }
}

// ---- fetching ----
let wanted = false, busy = false, last = 0;

async function refresh() {
  wanted = true;
  if (busy) return;
  busy = true;
  while (wanted) {
    const wait = last + REFRESH_MS - Date.now();
    if (wait > 0) await new Promise((done) => setTimeout(done, wait));
    wanted = false;
    last = Date.now();
    try { await load(); } catch (e) { $("facts").textContent = e.message; }
  }
  busy = false;
}

const asked = () => new URLSearchParams(location.hash.slice(1)).get("run");
let runsAt = 0, runsKey = null, trendOf = null;

async function loadRuns() {
  const key = [state.now && state.now.run, state.status && state.status.run.state].join();
  if (key === runsKey && Date.now() - runsAt < RUNS_MS) return;
  const page = (await askJson("/api/runs")).runs;
  state.older = []; // an older page would overlap with a list that has moved on
  state.runs = page;
  state.more = page.length >= 30;
  runsKey = key;
  runsAt = Date.now();
}

async function load() {
  await loadRuns();
  state.run = asked() || (state.now && state.now.run) || (state.runs.length ? state.runs[0].id : null);
  drawRuns();
  if (!state.run) {
    $("facts").textContent = "no runs yet";
    return;
  }
  [state.status, state.board] = await Promise.all([
    askJson(named("/api/run", state.run)), askJson(named("/api/board", state.run))]);
  drawHead();
  drawNow();
  drawBoard();
  drawGrid();
  drawNodes(state.nodes);
  drawProviders(state.providers);
  if (trendOf !== state.run) state.trend = (await askJson(named("/api/trend", state.run))).trend;
  trendOf = state.run;
  drawTrends();
}

// ---- the stream ----
function link(kind, text) {
  $("link").dataset.state = kind;
  $("link").textContent = text;
}

function follow() {
  const events = new EventSource("/events");
  events.addEventListener("open", () => { link("live", "live"); refresh(); });
  events.addEventListener("error", () => link("lost", "reconnecting"));
  events.addEventListener("change", (e) => { applyChange(JSON.parse(e.data)); refresh(); });
  events.addEventListener("many", () => refresh());
  events.addEventListener("now", (e) => { state.now = JSON.parse(e.data); drawNow(); });
  events.addEventListener("nodes", (e) => { state.nodes = JSON.parse(e.data); drawNodes(state.nodes); });
  events.addEventListener("providers", (e) => { state.providers = JSON.parse(e.data); drawProviders(state.providers); });
}

window.addEventListener("hashchange", refresh);
follow();
refresh();
