/* trend - rows of the history as JSON
 *
 * SPDX-License-Identifier: MIT */
#include "reports/trend.h"

#include <math.h>

#include "common/json.h"
#include "common/scoped.h"
#include "reports/board.h"
#include "store/history.h"

typedef struct asking {
    history_ask of;
    history_list earlier;
} asking;

static int read_earlier(store_tx *tx, void *arg, err *e)
{
    asking *a = arg;
    return history_list_read(tx, &a->of, &a->earlier, e);
}

static json *point_of(const history_row *row)
{
    json *out = json_new_object();
    double mean = row->measured > 0 ? exp(row->ln_sum / (double)row->measured) : (double)NAN;
    json_set_str(out, "entrant", row->entrant);
    json_set_int(out, "created_ms", row->created_ms);
    json_set_int(out, "declared", (int64_t)row->declared);
    json_set_int(out, "correct", (int64_t)row->correct);
    json_set_int(out, "measured", (int64_t)row->measured);
    json_set_real(out, "geomean", mean); /* NaN becomes null */
    return out;
}

static void write_points(const history_list *earlier, buf *out)
{
    SCOPED(json_destroy) json *root = json_new_object();
    json *list = json_new_array();
    for (size_t i = 0; i < earlier->count; i++) {
        json *point = point_of(&earlier->rows[i]);
        json_append(list, &point);
    }
    json_set(root, "trend", &list);
    SCOPED(scoped_free) char *text = json_dump_pretty(root);
    buf_puts(out, text);
}

int trend_json(store *db, const char *run, buf *out, err *e)
{
    const char *name = run != NULL ? run : "latest";
    const board_ask wanted = {.runs = &name, .run_count = 1};
    SCOPED(board_destroy) board *b = board_read(db, &wanted, e);
    if (b == NULL)
        return -1;
    const board_run *mine = &b->runs[0];
    asking a = {.of = {.run = mine->row.id,
                       .device = b->facts_count > 0 ? b->facts[0]->device : NULL,
                       .correctness = mine->protocols.correctness,
                       .timing = mine->protocols.timing}};
    int rc = store_run(db, read_earlier, &a, e);
    if (rc == 0)
        write_points(&a.earlier, out);
    history_list_fini(&a.earlier);
    return rc;
}
