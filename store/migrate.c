/* migrate - brings a database to this program's schema
 *
 * SPDX-License-Identifier: MIT */
#include "store/migrate.h"

#include <stddef.h>
#include <stdio.h>

#include "store/db.h"

/* store/schema.sql, money.sql, validation.sql, verdict.sql, claim.sql, calibration.sql, late.sql,
 * night.sql, embedded by the build */
extern const unsigned char schema_sql[], money_sql[], validation_sql[], verdict_sql[], claim_sql[],
    calibration_sql[], late_sql[], night_sql[];

/* What the emulator counted (emulator/tally.h): JSON, NULL on every other device. */
static const unsigned char add_modelled[] = "ALTER TABLE task ADD COLUMN modelled TEXT;";

/* What CUPTI told of candidates (agent-node/profile.h), and what each attempt gained: JSON where there are
 * several numbers. */
static const unsigned char add_profile[] = "ALTER TABLE task ADD COLUMN profile TEXT;"
                                           "ALTER TABLE task ADD COLUMN lineage TEXT;"
                                           "ALTER TABLE comparison ADD COLUMN gain REAL;"
                                           "ALTER TABLE comparison ADD COLUMN kept INTEGER;"
                                           "ALTER TABLE comparison ADD COLUMN profile TEXT;";

/* What compute-sanitizer said: clean, not run (reason), or its finding; NULL where it did not come to that. */
static const unsigned char add_sanitizer[] = "ALTER TABLE task ADD COLUMN sanitizer TEXT;";

/* Who looks for tasks by their state looks for few: those that are leased or given up. And how often a
 * coordinator has opened a run: its fencing tokens begin above all that an earlier one may have sent. */
static const unsigned char add_opened[] =
    "DROP INDEX task_by_run;"
    "CREATE INDEX task_leased ON task (run) WHERE state = 'leased';"
    "CREATE INDEX task_failed ON task (run) WHERE state = 'failed';"
    "ALTER TABLE run ADD COLUMN opened INTEGER NOT NULL DEFAULT 0 CHECK (opened >= 0);";

/* Migration i leads from user_version i to i + 1. Never changed once released, only added to. */
static const unsigned char *const migrations[MIGRATE_VERSION] = {
    schema_sql,  add_modelled,    money_sql,     validation_sql, verdict_sql, claim_sql,
    add_profile, calibration_sql, add_sanitizer, late_sql,       add_opened,  night_sql};

static int ask(sqlite3 *db, const char *sql, const char *path, int64_t *out, err *e)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK || sqlite3_step(s) != SQLITE_ROW) {
        db_err_of(db, e, path);
        sqlite3_finalize(s);
        return -1;
    }
    *out = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return 0;
}

typedef struct file_state {
    int64_t version, application, tables;
} file_state;

static int look(sqlite3 *db, const char *path, file_state *out, err *e)
{
    if (ask(db, "PRAGMA user_version", path, &out->version, e) < 0 ||
        ask(db, "PRAGMA application_id", path, &out->application, e) < 0)
        return -1;
    return ask(db, "SELECT count(*) FROM sqlite_schema", path, &out->tables, e);
}

static int judge(const file_state *file, const char *path, err *e)
{
    bool fresh = file->application == 0 && file->version == 0 && file->tables == 0;
    if (file->application != MIGRATE_APPLICATION && !fresh)
        return err_set(e, ERR_CONFIG, "%s is a database of another program, not of ce", path);
    if (file->version > MIGRATE_VERSION)
        return err_set(
            e, ERR_CONFIG,
            "%s was written by a newer ce (schema %lld, this one knows %d): use that one", path,
            (long long)file->version, MIGRATE_VERSION);
    return 0;
}

static int apply(sqlite3 *db, int64_t from, err *e)
{
    char finish[96];
    snprintf(finish, sizeof finish,
             "PRAGMA application_id = %d; PRAGMA user_version = %lld; COMMIT", MIGRATE_APPLICATION,
             (long long)from + 1);
    if (sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(db, (const char *)migrations[from], NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(db, finish, NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    db_err_of(db, e, "schema");
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

int migrate_run(sqlite3 *db, const char *path, err *e)
{
    file_state file;
    if (look(db, path, &file, e) < 0 || judge(&file, path, e) < 0)
        return -1;
    for (int64_t v = file.version; v < MIGRATE_VERSION; v++)
        if (apply(db, v, e) < 0)
            return err_wrap(e, "%s", path);
    return 0;
}

int migrate_check(sqlite3 *db, const char *path, err *e)
{
    file_state file;
    if (look(db, path, &file, e) < 0 || judge(&file, path, e) < 0)
        return -1;
    if (file.version < MIGRATE_VERSION)
        return err_set(e, ERR_CONFIG,
                       "%s has schema %lld, and this ce reads %d: run `ce-coord migrate --db %s` "
                       "(every row is kept; an older ce cannot open it afterwards)",
                       path, (long long)file.version, MIGRATE_VERSION, path);
    return 0;
}
