/* night - a night from the configuration to the verdict
 *
 * A night is a row that is open until its verdict is known. Every step can be done again: the run is resumed
 * by its own checkpoints, reports and pack are written anew, the end is one transaction. So a start that
 * finds an open night goes on with it, whatever killed it. The database is open only between runs, as
 * eval_run opens it for itself.
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/night.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/str.h"
#include "common/xalloc.h"
#include "coordinator/cmd.h"
#include "coordinator/hook.h"
#include "coordinator/keys.h"
#include "coordinator/night_gate.h"
#include "coordinator/night_keep.h"
#include "coordinator/night_pages.h"
#include "reports/evidence.h"
#include "reports/report.h"
#include "reports/text.h"
#include "store/run.h"

enum { HOUR_MS = 3600 * 1000, FINDINGS_MAX = 64 * 1024, PID_MAX = 32 };
#define LOCK_NAME "nightly.lock"

typedef struct night {
    const night_request *request;
    night_config *config;
    store *db; /* NULL while a run is at work */
    int lock;
    int64_t id;
    night_list nights; /* of the series, newest first; row 0 is this one */
    night_before before;
    night_finding found;
    bool measured_again;
} night;

static void night_fini(night *self)
{
    night_finding_fini(&self->found);
    night_before_fini(&self->before);
    night_list_fini(&self->nights);
    store_destroy(&self->db);
    scoped_close(&self->lock);
}

/* ---- one at a time ---- */

static int take_lock(night *self, err *e)
{
    if (file_mkdirs(self->config->out, e))
        return err_wrap(e, "%s: out", self->config->path);
    SCOPED(scoped_free) char *path = file_join(self->config->out, LOCK_NAME);
    char pid[PID_MAX] = "";
    self->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (self->lock < 0)
        return err_errno(e, errno, "%s", path);
    if (flock(self->lock, LOCK_EX | LOCK_NB) < 0) {
        ssize_t got = pread(self->lock, pid, sizeof pid - 1, 0);
        pid[got > 0 ? got : 0] = '\0';
        return err_set(e, ERR_CONFLICT, "a night of %s is at work (PID %s): two never overlap",
                       self->config->name, pid);
    }
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    if (ftruncate(self->lock, 0) < 0 || pwrite(self->lock, pid, strlen(pid), 0) < 0)
        return err_errno(e, errno, "%s", path);
    return 0;
}

/* ---- the row ---- */

static int read_nights(store_tx *tx, void *arg, err *e)
{
    night *self = arg;
    night_list_fini(&self->nights);
    return night_list_read(tx, self->config->name, &self->nights, e);
}

static bool goes_on(const night_row *row, int64_t now_ms)
{
    return row->verdict == NIGHT_OPEN &&
           now_ms - row->began_ms < (int64_t)NIGHT_RESUME_HOURS * HOUR_MS;
}

/* The newest night if it is open, else a new one. */
static int begin(store_tx *tx, void *arg, err *e)
{
    night *self = arg;
    const int64_t now = clock_wall_ms();
    if (read_nights(tx, self, e))
        return -1;
    const night_row *newest = self->nights.count ? &self->nights.rows[0] : NULL;
    if (newest && goes_on(newest, now)) {
        self->id = newest->id;
        return 0;
    }
    if (newest && newest->verdict == NIGHT_OPEN &&
        night_end(tx, newest->id, NIGHT_ABANDONED, "it never ended", now, e))
        return -1;
    return night_begin(tx, self->config->name, self->config->out, now, &self->id, e) ||
                   read_nights(tx, self, e)
               ? -1
               : 0;
}

static const night_row *row_of(const night *self)
{
    return &self->nights.rows[0];
}

/* Opens the database between runs, and reads what the run has changed. */
static int reopen(night *self, store_fn *fn, err *e)
{
    if (!self->db)
        self->db = store_open(self->request->db, STORE_OWN, e);
    return self->db ? store_run(self->db, fn, self, e) : -1;
}

static int write_end(store_tx *tx, void *arg, err *e)
{
    night *self = arg;
    return night_end(tx, self->id, self->found.verdict, self->found.reason, clock_wall_ms(), e) ||
                   read_nights(tx, self, e)
               ? -1
               : 0;
}

static int write_told(store_tx *tx, void *arg, err *e)
{
    night *self = arg;
    return night_tell(tx, self->id, e);
}

/* ---- the run ---- */

/* eval_run leaves signals blocked when it ends well; from here on they end the process, and the night stays
 * open. */
static void allow_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int evaluate(night *self, const settings *wanted, const char *resume, bool again, err *e)
{
    const night_request *r = self->request;
    const eval_request request = {.wanted = wanted,
                                  .resume = resume,
                                  .db = r->db,
                                  .db_given = r->db,
                                  .program = r->program,
                                  .command = r->command,
                                  .version = r->version,
                                  .keys = r->keys,
                                  .http = r->http,
                                  .http_token = r->http_token,
                                  .term = r->term,
                                  .yes = true, /* night_config demands a budget */
                                  .quiet = true,
                                  .night = self->id,
                                  .again = again};
    store_destroy(&self->db);
    int code = eval_run(&request, e);
    allow_signals();
    return code;
}

static void set_out(settings *s, const char *folder, const char *part)
{
    free(s->out);
    s->out = part ? file_join(folder, part) : xstrdup(folder);
}

static int run_first(night *self, err *e)
{
    SCOPED(scoped_free) char *resume = row_of(self)->run ? xstrdup(row_of(self)->run) : NULL;
    settings *s = &self->config->run;
    set_out(s, row_of(self)->folder, NULL);
    fprintf(stderr, "night %" PRId64 " of %s%s%s\n", self->id, self->config->name,
            resume ? ": goes on with run " : "", resume ? resume : "");
    return evaluate(self, s, resume, false, e);
}

typedef struct stored_settings {
    const char *run;
    settings *out;
} stored_settings;

static int read_settings(store_tx *tx, void *arg, err *e)
{
    const stored_settings *job = arg;
    SCOPED(run_row_fini) run_row row = {.id = NULL};
    if (run_find(tx, job->run, &row, e))
        return -1;
    return settings_read(row.settings, strlen(row.settings), job->out, e);
}

/* The same answers again: what is measured a second time is never paid twice. */
static void replay_all(settings *s, const char *source)
{
    for (size_t i = 0; i < s->entrant_count; i++) {
        settings_entrant *one = &s->entrants[i];
        if (strcmp(one->name, NIGHT_GOLD) == 0)
            continue;
        free(one->escalation);
        one->escalation = NULL;
        for (size_t k = 0; k < SPEC_STAGES; k++) {
            free(one->models[k]);
            one->models[k] = xasprintf("replay:%s", source);
        }
    }
}

static void take_problems(settings *s, night_finding *found)
{
    for (size_t i = 0; i < s->only_count; i++)
        free(s->only[i].name);
    free(s->only);
    s->only = found->again;
    s->only_count = found->again_count;
    s->limit = 0;
    found->again = NULL;
    found->again_count = 0;
}

static int run_again(night *self, err *e)
{
    SCOPED(settings_fini) settings s = {.suites = NULL};
    SCOPED(scoped_free) char *resume = row_of(self)->again ? xstrdup(row_of(self)->again) : NULL;
    stored_settings job = {.run = row_of(self)->run, .out = &s};
    if (store_run(self->db, read_settings, &job, e))
        return -1;
    replay_all(&s, row_of(self)->run);
    take_problems(&s, &self->found);
    set_out(&s, row_of(self)->folder, "again");
    fprintf(stderr, "measuring %zu problems a second time\n", s.only_count);
    int code = evaluate(self, &s, resume, true, e);
    if (code < 0 || code == CMD_EXIT_INTERRUPTED)
        return code;
    self->measured_again = true;
    return reopen(self, read_nights, e);
}

/* ---- judging ---- */

static int write_page(const night *self, const buf *page, err *e)
{
    SCOPED(scoped_free) char *path = file_join(row_of(self)->folder, "gate.md");
    return report_print(page, path, e);
}

static int judge_once(night *self, err *e)
{
    SCOPED(buf_fini) buf page = {0};
    buf_init(&page, TEXT_REPORT_MAX);
    const night_row *row = row_of(self);
    const night_gate_ask ask = {.run = row->run,
                                .again = self->measured_again ? row->again : NULL,
                                .began_ms = row->began_ms,
                                .before = &self->before,
                                .rules = &self->config->rules};
    night_finding_fini(&self->found);
    if (night_gate_judge(self->db, &ask, &page, &self->found, e))
        return -1;
    return write_page(self, &page, e);
}

static void look_back(night *self)
{
    night_before_fini(&self->before);
    self->before = night_gate_before(&self->nights, self->id, self->config->window);
}

/* A complete night. 0, an exit code that ends the process with the night open, or -1. */
static int judge(night *self, err *e)
{
    look_back(self);
    if (judge_once(self, e))
        return -1;
    if (!self->config->confirm || self->found.again_count == 0)
        return 0;
    int code = run_again(self, e);
    if (code)
        return code;
    look_back(self);
    return judge_once(self, e);
}

static void find(night *self, night_verdict verdict, const char *reason)
{
    night_finding_fini(&self->found);
    self->found = (night_finding){.verdict = verdict, .reason = xstrdup(reason)};
}

/* ---- report and evidence ---- */

static int verify(const night *self, const char *folder, err *e)
{
    evidence_verdict verdict = {.is_signed = false};
    SCOPED(buf_fini) buf notes = {0};
    SCOPED(buf_fini) buf findings = {0};
    buf_init(&notes, FINDINGS_MAX);
    buf_init(&findings, FINDINGS_MAX);
    verdict.notes = &notes;
    const evidence_ask ask = {.folder = folder, .version = self->request->version};
    if (evidence_verify(&ask, &verdict, &findings, e))
        return -1;
    if (!verdict.findings)
        return 0;
    char *line = findings.data;
    line[strcspn(line, "\n")] = '\0';
    return err_set(e, ERR_INTERNAL, "the pack in %s does not verify: %s", folder, line);
}

static int pack(const night *self, err *e)
{
    evidence_pack made = {0};
    SCOPED(scoped_free) char *folder = file_join(row_of(self)->folder, NIGHT_PACK);
    SCOPED(keys_destroy) keys *known = keys_create(self->request->environment);
    const evidence_order order = {.run = row_of(self)->run,
                                  .folder = folder,
                                  .version = self->request->version,
                                  .source = self->config->source,
                                  .key = self->config->sign,
                                  .secrets = keys_values(known),
                                  .environment = self->request->environment};
    if (file_remove_tree(folder, e) || evidence_write(self->db, &order, &made, e))
        return -1;
    return verify(self, folder, e);
}

static int publish(const night *self, err *e)
{
    const char *last = self->before.count ? self->before.runs[0] : NULL;
    const report_ask ask = {.run = row_of(self)->run, .against = last};
    if (report_write_all(self->db, &ask, row_of(self)->folder, e))
        return err_wrap(e, "report");
    if (self->config->pack && pack(self, e))
        return err_wrap(e, "evidence");
    return 0;
}

/* ---- the end ---- */

int night_exit_code(night_verdict verdict)
{
    static const int codes[] = {[NIGHT_OPEN] = CMD_EXIT_INTERRUPTED,
                                [NIGHT_GOOD] = CMD_EXIT_COMPLETE,
                                [NIGHT_WORSE] = CMD_EXIT_NO,
                                [NIGHT_CANARY] = CMD_EXIT_NO,
                                [NIGHT_UNJUDGED] = CMD_EXIT_INCOMPLETE,
                                [NIGHT_INCOMPLETE] = CMD_EXIT_INCOMPLETE,
                                [NIGHT_BUDGET] = CMD_EXIT_BUDGET,
                                [NIGHT_FAILED] = CMD_EXIT_HARNESS,
                                [NIGHT_ABANDONED] = CMD_EXIT_HARNESS};
    return codes[verdict];
}

static int64_t last_good(const night_list *nights)
{
    for (size_t i = 0; i < nights->count; i++)
        if (nights->rows[i].verdict == NIGHT_GOOD)
            return nights->rows[i].ended_ms;
    return 0;
}

static night_story story_of(const night *self)
{
    const night_row *row = row_of(self);
    return (night_story){.out = self->config->out,
                         .row = row,
                         .exit_code = night_exit_code(row->verdict),
                         .last_good_ms = last_good(&self->nights),
                         .against = self->before.count ? self->before.runs[0] : NULL,
                         .looked_back = self->before.count};
}

/* Nothing depends on whether somebody hears it; that nobody does is said. */
static void tell(const night_request *r, const char *event, const char *sentence,
                 const json *document)
{
    err e = {0};
    const hook_event happened = {.name = event, .message = sentence, .document = document};
    if (r->config->hook &&
        hook_call((const char *const *)r->config->hook, r->environment, &happened, &e))
        fprintf(stderr, "nobody was told: %s\n", e.text);
}

static int tell_end(night *self, err *e)
{
    const night_story story = story_of(self);
    const night_row *row = row_of(self);
    SCOPED(json_destroy) json *document = night_pages_json(&story);
    SCOPED(scoped_free)
    char *sentence = xasprintf("night %" PRId64 " of %s: %s: %s", row->id, row->series,
                               night_verdict_name(row->verdict), row->reason ? row->reason : "-");
    tell(self->request, night_verdict_name(row->verdict), sentence, document);
    if (self->request->json) {
        SCOPED(scoped_free) char *text = json_dump_pretty(document);
        fputs(text, stdout);
    } else {
        printf("%s\n%s\n", sentence, row->folder);
    }
    return reopen(self, write_told, e);
}

static int keep(night *self, err *e)
{
    night_kept kept;
    store_destroy(&self->db);
    if (night_keep_apply(self->config, self->request->db, &kept, e))
        return err_wrap(e, "the night has ended, but old ones are not removed");
    if (kept.nights || kept.packs)
        fprintf(stderr, "removed: %lld nights, %lld packs, %lld texts\n", (long long)kept.nights,
                (long long)kept.packs, (long long)kept.texts);
    if (kept.too_large)
        fprintf(stderr, "the database is larger than keep.db_mib, and nothing more may be removed: "
                        "published nights, the last good ones and runs of your own stay\n");
    return 0;
}

static int end(night *self, err *e)
{
    if (file_mkdirs(row_of(self)->folder, e) || reopen(self, write_end, e))
        return -1;
    look_back(self);
    const night_story story = story_of(self);
    const int code = story.exit_code;
    int failed = night_pages_write(&story, e);
    err later = {0};
    if (keep(self, failed ? &later : e))
        failed = -1;
    if (tell_end(self, failed ? &later : e))
        failed = -1;
    return failed ? -1 : code;
}

/* ---- all of it ---- */

/* The run is over, one way or the other. 0: its night can end; else as judge. */
static int conclude(night *self, int code, err *e)
{
    if (reopen(self, read_nights, e))
        return -1;
    if (code == CMD_EXIT_BUDGET)
        find(self, NIGHT_BUDGET, "the budget was reached: what waits goes on with `eval --resume`");
    else if (code == CMD_EXIT_INCOMPLETE)
        find(self, NIGHT_INCOMPLETE, "planned is not scored: `ce-coord status` says what");
    else if (code != CMD_EXIT_COMPLETE)
        find(self, NIGHT_FAILED, "nothing was scored: `ce-coord status` says why");
    else if ((code = judge(self, e)) != 0)
        return code;
    look_back(self);
    return publish(self, e);
}

/* A run that could not even begin is gone: its night ends too. With a run the night stays open. */
static int give_up(night *self, const err *why)
{
    err later = {0};
    if (reopen(self, read_nights, &later))
        return -1;
    find(self, NIGHT_FAILED, why->text);
    if (!row_of(self)->run) {
        if (end(self, &later) < 0)
            fprintf(stderr, "%s\n", later.text);
        return -1;
    }
    const night_story story = story_of(self);
    SCOPED(json_destroy) json *document = night_pages_json(&story);
    SCOPED(scoped_free)
    char *sentence =
        xasprintf("night %" PRId64 " of %s stopped, the next start goes on with it: %s", self->id,
                  self->config->name, why->text);
    tell(self->request, "stopped", sentence, document);
    return -1;
}

int night_run(const night_request *request, err *e)
{
    SCOPED(night_fini) night self = {.request = request, .config = request->config, .lock = -1};
    if (take_lock(&self, e) || reopen(&self, begin, e))
        return -1;
    int code = run_first(&self, e);
    if (code < 0)
        return give_up(&self, e);
    if (code == CMD_EXIT_INTERRUPTED)
        return code;
    code = conclude(&self, code, e);
    if (code > 0)
        return code;
    return code < 0 ? give_up(&self, e) : end(&self, e);
}

/* ---- looking ---- */

/* Reads the nights; a database that is not there has none. */
static int look(night *self, err *e)
{
    if (!file_exists(self->request->db))
        return 0;
    self->db = store_open(self->request->db, STORE_READ, e);
    return self->db ? store_run(self->db, read_nights, self, e) : -1;
}

int night_dry_run(const night_request *r, err *e)
{
    SCOPED(night_fini) night self = {.request = r, .config = r->config, .lock = -1};
    if (look(&self, e))
        return -1;
    if (self.nights.count && goes_on(row_of(&self), clock_wall_ms())) {
        printf("would go on with night %" PRId64 ", run %s\n", row_of(&self)->id,
               row_of(&self)->run ? row_of(&self)->run : "not begun");
        return CMD_EXIT_COMPLETE;
    }
    self.before = night_gate_before(&self.nights, INT64_MAX, r->config->window);
    printf("%s: a new night in %s, database %s\ngate: against %zu good nights\n", r->config->name,
           r->config->out, r->db, self.before.count);
    store_destroy(&self.db);
    const eval_request request = {
        .wanted = &r->config->run, .db = r->db, .dry_run = true, .json = r->json};
    return eval_run(&request, e);
}

int night_list_print(const night_request *r, err *e)
{
    SCOPED(night_fini) night self = {.request = r, .config = r->config, .lock = -1};
    SCOPED(buf_fini) buf out = {0};
    buf_init(&out, TEXT_REPORT_MAX);
    if (look(&self, e))
        return -1;
    night_pages_table(&self.nights, &out);
    return report_print(&out, NULL, e) ? -1 : CMD_EXIT_COMPLETE;
}

int night_overdue(const night_request *r, err *e)
{
    SCOPED(night_fini) night self = {.request = r, .config = r->config, .lock = -1};
    char last[CLOCK_TEXT] = "never";
    if (look(&self, e))
        return -1;
    const int64_t good = last_good(&self.nights);
    if (good)
        clock_text(good, last);
    if (clock_wall_ms() - good < r->config->overdue_hours * HOUR_MS) {
        printf("the last good night of %s: %s\n", r->config->name, last);
        return CMD_EXIT_COMPLETE;
    }
    SCOPED(scoped_free)
    char *sentence = xasprintf("no good night of %s for %" PRId64 " hours (the last: %s)",
                               r->config->name, r->config->overdue_hours, last);
    SCOPED(json_destroy) json *document = json_new_object();
    json_set_str(document, "series", r->config->name);
    json_set_str(document, "last_good", good ? last : NULL);
    json_set_int(document, "overdue_hours", r->config->overdue_hours);
    printf("%s\n", sentence);
    tell(r, "overdue", sentence, document);
    return CMD_EXIT_NO;
}

/* ---- accepting ---- */

static int accept_newest(store_tx *tx, void *arg, err *e)
{
    night *self = arg;
    if (read_nights(tx, self, e))
        return -1;
    for (size_t i = 0; i < self->nights.count; i++) {
        const night_row *row = &self->nights.rows[i];
        if ((self->id && row->id != self->id) || row->verdict == NIGHT_OPEN)
            continue;
        if (!row->run)
            return err_set(e, ERR_CONFLICT, "night %" PRId64 " has no run (any more)", row->id);
        self->id = row->id;
        return night_accept(tx, row->id, e);
    }
    return err_set(e, ERR_NOT_FOUND, "%s has no such night that is over", self->config->name);
}

int night_take(const night_request *r, const char *which, err *e)
{
    SCOPED(night_fini) night self = {.request = r, .config = r->config, .lock = -1};
    char *rest = NULL;
    if (strcmp(which, "latest") != 0) {
        self.id = strtoll(which, &rest, 10);
        if (*rest || self.id <= 0)
            return err_set(e, ERR_USAGE, "--accept %s: want `latest` or the number of a night",
                           which);
    }
    if (take_lock(&self, e) || reopen(&self, accept_newest, e))
        return -1;
    printf("night %" PRId64 " of %s is accepted: later ones are held against it\n", self.id,
           r->config->name);
    return CMD_EXIT_COMPLETE;
}
