/* cmd_gate - ce-coord gate: a run against earlier ones
 *
 * SPDX-License-Identifier: MIT */
#include "common/scoped.h"
#include "coordinator/cmd.h"
#include "coordinator/crier.h"
#include "coordinator/night.h"
#include "coordinator/night_gate.h"
#include "reports/board.h"
#include "reports/regress.h"
#include "reports/report.h"
#include "reports/rules.h"
#include "reports/text.h"

enum { ROWS_MAX = 1000 };

typedef struct options {
    const char *db, *again, *rules, *out, *hook;
    cli_list against;
} options;

static const cli_option table[] = {
    {.name = "against",
     .type = CLI_LIST,
     .offset = offsetof(options, against),
     .value = "RUN",
     .help = "an earlier run; repeat it for several, whose spread is then the noise (the last 7 "
             "nights)"},
    {.name = "again",
     .type = CLI_STR,
     .offset = offsetof(options, again),
     .value = "RUN",
     .help = "a second run of the same night: only what it shows too counts"},
    {.name = "rules",
     .type = CLI_STR,
     .offset = offsetof(options, rules),
     .value = "F",
     .help = "thresholds, from a YAML file (docs/gate.md)"},
    {.name = "out",
     .type = CLI_STR,
     .offset = offsetof(options, out),
     .value = "F",
     .help = "write to a file (default: standard output)"},
    CRIER_OPTION(options),
    CMD_OPTION_DB(options),
    {.name = NULL}};

static const cli_command command = {
    .name = "gate",
    .summary =
        "has a run become slower than earlier ones, or does it solve less? (exit 3: yes, 5: the "
        "machine changed, times are not judged)",
    .arguments = "RUN",
    .arguments_min = 1,
    .arguments_max = 1,
    .examples = "ce-coord gate latest --against 01jd\n"
                "ce-coord gate 01jf --against 01jd --against 01je --again 01jg --rules gate.yaml\n"
                "ce-coord gate latest --against 01jd --hook 'test $CE_CODE = 0 || mail -s "
                "\"$CE_MESSAGE\" gpu@example.org'\n",
    .options = table};

static board *read_board(const cmd_call *call, const char *const *runs, size_t count, err *e)
{
    const board_ask ask = {.runs = runs, .run_count = count};
    return board_read(call->store, &ask, e);
}

/* Waits for the hook: nothing is left to do. */
static int tell(const cmd_call *call, const crier_word *word, err *e)
{
    const options *o = call->options;
    const crier_options told = {
        .command = o->hook, .db = call->db, .environment = call->program->environment};
    SCOPED(crier_destroy) crier *teller = crier_create(&told, e);
    if (teller == NULL)
        return -1;
    crier_tell(teller, word);
    return 0;
}

static int judge(const cmd_call *call, const regress_ask *ask, err *e)
{
    const options *o = call->options;
    SCOPED(regress_destroy) regress *found = regress_create(ask, e);
    SCOPED(buf_fini) buf text = {0};
    buf_init(&text, TEXT_REPORT_MAX);
    if (found == NULL)
        return -1;
    regress_verdict(found, &text);
    buf_puts(&text, "\n");
    regress_text(found, ROWS_MAX, &text);
    if (report_print(&text, o->out, e) < 0)
        return -1;
    const night_verdict verdict = night_gate_verdict(found);
    SCOPED(scoped_free) char *sentence = regress_sentence(found);
    const crier_word word = {.event = CRIER_GATE,
                             .run = ask->now->runs[0].row.id,
                             .state = night_verdict_name(verdict),
                             .code = night_exit_code(verdict),
                             .text = sentence};
    return o->hook != NULL && tell(call, &word, e) < 0 ? -1 : word.code;
}

static int run_gate(const cmd_call *call, err *e)
{
    const options *o = call->options;
    gate_rules rules = gate_defaults;
    if (o->against.count == 0)
        return err_set(e, ERR_USAGE, "--against RUN is needed");
    if (o->rules != NULL && rules_load(o->rules, &rules, e) < 0)
        return -1;
    SCOPED(board_destroy) board *now = read_board(call, call->arguments, 1, e);
    SCOPED(board_destroy)
    board *before = now != NULL ? read_board(call, o->against.items, o->against.count, e) : NULL;
    if (before == NULL)
        return -1;
    SCOPED(board_destroy)
    board *again = o->again != NULL ? read_board(call, &o->again, 1, e) : NULL;
    if (o->again != NULL && again == NULL)
        return -1;
    const regress_ask ask = {.now = now, .before = before, .again = again, .rules = &rules};
    return judge(call, &ask, e);
}

const cmd_entry cmd_gate = {.cli = &command,
                            .options_size = sizeof(options),
                            .db_offset = offsetof(options, db),
                            .flags = CMD_DB | CMD_STORE_READ,
                            .run = run_gate};
