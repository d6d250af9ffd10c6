/* night_pages - what a night leaves for people and programs
 *
 * SPDX-License-Identifier: MIT */
#include "coordinator/night_pages.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/file.h"
#include "common/scoped.h"

enum { PROM_MAX = 64 * 1024, FILE_MODE = 0644 };

static void set_time(json *to, const char *key, int64_t ms)
{
    char text[CLOCK_TEXT];
    if (ms > 0) {
        clock_text(ms, text);
        json_set_str(to, key, text);
    } else {
        json_set_null(to, key);
    }
}

json *night_pages_json(const night_story *story)
{
    const night_row *row = story->row;
    json *out = json_new_object();
    json_set_str(out, "series", row->series);
    json_set_int(out, "night", row->id);
    json_set_str(out, "verdict", night_verdict_name(row->verdict));
    json_set_str(out, "reason", row->reason);
    json_set_int(out, "exit", story->exit_code);
    json_set_str(out, "run", row->run);
    json_set_str(out, "again", row->again);
    json_set_str(out, "against", story->against);
    json_set_int(out, "looked_back", (int64_t)story->looked_back);
    set_time(out, "began", row->began_ms);
    set_time(out, "ended", row->ended_ms);
    set_time(out, "last_good", story->last_good_ms);
    json_set_str(out, "folder", row->folder);
    return out;
}

void night_pages_prom(const night_story *story, buf *out)
{
    const night_row *row = story->row;
    buf_puts(out, "# HELP ce_nightly_last_success_timestamp_seconds When the newest good night "
                  "ended; 0: none was.\n"
                  "# TYPE ce_nightly_last_success_timestamp_seconds gauge\n");
    buf_printf(out, "ce_nightly_last_success_timestamp_seconds{series=\"%s\"} %.3f\n", row->series,
               (double)story->last_good_ms / 1e3);
    buf_puts(out, "# HELP ce_nightly_last_end_timestamp_seconds When the newest night ended.\n"
                  "# TYPE ce_nightly_last_end_timestamp_seconds gauge\n");
    buf_printf(out, "ce_nightly_last_end_timestamp_seconds{series=\"%s\",verdict=\"%s\"} %.3f\n",
               row->series, night_verdict_name(row->verdict), (double)row->ended_ms / 1e3);
}

/* Of what leaves the house nothing is secret, and collectors run as somebody else. */
static int write_file(const char *folder, const char *name, const char *text, err *e)
{
    SCOPED(scoped_free) char *path = file_join(folder, name);
    if (file_write(path, text, strlen(text), e))
        return -1;
    chmod(path, FILE_MODE);
    return 0;
}

int night_pages_write(const night_story *story, err *e)
{
    SCOPED(json_destroy) json *document = night_pages_json(story);
    SCOPED(scoped_free) char *text = json_dump_pretty(document);
    SCOPED(buf_fini) buf prom = {0};
    buf_init(&prom, PROM_MAX);
    night_pages_prom(story, &prom);
    if (write_file(story->row->folder, "night.json", text, e) ||
        write_file(story->out, "last-night.json", text, e) ||
        write_file(story->out, "ce-nightly.prom", buf_text(&prom), e))
        return -1;
    return story->row->verdict == NIGHT_GOOD ? write_file(story->out, "last-success.json", text, e)
                                             : 0;
}

void night_pages_table(const night_list *nights, buf *out)
{
    char began[CLOCK_TEXT];
    buf_printf(out, "%-6s %-20s  %-10s %-26s  %s\n", "night", "began", "verdict", "run", "reason");
    for (size_t i = 0; i < nights->count; i++) {
        const night_row *row = &nights->rows[i];
        clock_text(row->began_ms, began);
        buf_printf(out, "%-6" PRId64 " %-20s  %-10s %-26s  %s%s\n", row->id, began,
                   night_verdict_name(row->verdict), row->run ? row->run : "-",
                   row->accepted ? "accepted; " : "", row->reason ? row->reason : "-");
    }
}
