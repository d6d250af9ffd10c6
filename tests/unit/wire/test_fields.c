/* test_fields - structs as tables of fields
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/outcome.h"
#include "common/scoped.h"
#include "common/xalloc.h"
#include "wire/fields.h"

enum { WHEELS_MAX = 3 };

typedef struct wheel {
    char *tyre;
    double radius;
} wheel;

typedef struct car {
    char *name, *owner;
    int64_t doors;
    double weight;
    bool red;
    hash plate;
    outcome result;
    int64_t length, width; /* object "size" */
    wheel *wheels;
    size_t wheel_count;
} car;

static const field wheel_fields[] = {
    {.key = "tyre", .type = FIELD_TEXT_OR_NULL, .offset = offsetof(wheel, tyre)},
    {.key = "radius", .type = FIELD_REAL, .offset = offsetof(wheel, radius)},
    {.key = NULL}};

static const field size_fields[] = {
    {.key = "length", .type = FIELD_INT, .offset = offsetof(car, length)},
    {.key = "width", .type = FIELD_INT, .offset = offsetof(car, width)},
    {.key = NULL}};

static const field car_fields[] = {
    {.key = "name", .type = FIELD_TEXT, .offset = offsetof(car, name)},
    {.key = "owner", .type = FIELD_TEXT_OR_NULL, .offset = offsetof(car, owner)},
    {.key = "doors", .type = FIELD_INT, .offset = offsetof(car, doors)},
    {.key = "weight", .type = FIELD_REAL, .offset = offsetof(car, weight)},
    {.key = "red", .type = FIELD_BOOL, .offset = offsetof(car, red)},
    {.key = "plate", .type = FIELD_HASH, .offset = offsetof(car, plate)},
    {.key = "result", .type = FIELD_OUTCOME, .offset = offsetof(car, result)},
    {.key = "size", .type = FIELD_OBJECT, .inner = size_fields},
    {.key = "wheels",
     .type = FIELD_LIST,
     .offset = offsetof(car, wheels),
     .inner = wheel_fields,
     .count_offset = offsetof(car, wheel_count),
     .size = sizeof(wheel),
     .max = WHEELS_MAX},
    {.key = NULL}};

static void car_fini(car *self)
{
    fields_fini(car_fields, self);
}

static int parse(const char *text, car *out, err *e)
{
    return fields_parse(text, strlen(text), "car", car_fields, out, sizeof(*out), e);
}

static void a_struct_comes_back_as_it_was_written(void **state)
{
    (void)state;
    wheel wheels[] = {{.tyre = (char *)(uintptr_t) "soft", .radius = 0.5}, {.radius = (double)NAN}};
    const car there = {.name = (char *)(uintptr_t) "näme \"q\"",
                       .doors = INT64_MIN,
                       .weight = 0.1,
                       .red = true,
                       .plate = hash_of_text("plate"),
                       .result = OUTCOME_WRONG,
                       .length = INT64_MAX,
                       .width = -1,
                       .wheels = wheels,
                       .wheel_count = 2};
    SCOPED(scoped_free) char *text = fields_dump(car_fields, &there);
    car back SCOPED(car_fini) = {0};
    err e = {0};
    if (parse(text, &back, &e) != 0) {
        fail_msg("%s", e.text);
    }
    assert_string_equal(back.name, there.name);
    assert_null(back.owner);
    assert_true(back.doors == INT64_MIN && back.length == INT64_MAX && back.width == -1);
    assert_true(back.weight >= 0.1 && back.weight <= 0.1);
    assert_true(back.red && hash_equal(&back.plate, &there.plate));
    assert_int_equal(back.result, OUTCOME_WRONG);
    assert_int_equal(back.wheel_count, 2);
    assert_string_equal(back.wheels[0].tyre, "soft");
    assert_true(back.wheels[0].radius >= 0.5 && back.wheels[0].radius <= 0.5);
    assert_null(back.wheels[1].tyre);
    assert_true(isnan(back.wheels[1].radius));
    SCOPED(scoped_free) char *again = fields_dump(car_fields, &back);
    assert_string_equal(again, text);
}

static void what_is_absent_is_null_and_null_is_absent(void **state)
{
    (void)state;
    const car nothing = {.name = (char *)(uintptr_t) "n", .weight = (double)NAN};
    SCOPED(scoped_free) char *text = fields_dump(car_fields, &nothing);
    assert_string_equal(text, "{\"doors\":0,\"name\":\"n\",\"owner\":null,\"plate\":null,"
                              "\"red\":false,\"result\":\"ok\",\"size\":{\"length\":0,\"width\":0},"
                              "\"weight\":null,\"wheels\":[]}");
    car back SCOPED(car_fini) = {0};
    assert_int_equal(parse(text, &back, NULL), 0);
    assert_true(isnan(back.weight));
    assert_true(hash_is_zero(&back.plate));
    assert_null(back.owner);
    assert_int_equal(back.wheel_count, 0);
}

static void infinity_is_never_written_as_a_number(void **state)
{
    (void)state;
    const car fast = {.name = (char *)(uintptr_t) "n", .weight = (double)INFINITY};
    SCOPED(scoped_free) char *text = fields_dump(car_fields, &fast);
    assert_non_null(strstr(text, "\"weight\":null"));
}

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define DOORS "\"doors\": 3"
#define NAMES "\"name\": \"n\", \"owner\": \"o\""
#define PLATE "\"plate\": \"" HEX64 "\""
#define SIZE  "\"size\": {\"length\": 1, \"width\": 2}"
#define WHEEL "{\"tyre\": \"t\", \"radius\": 1.0}"
#define REST  "\"red\": true, \"weight\": 1.5, \"result\": \"ok\""
#define CAR(names, doors, plate, size, wheels, rest) \
    "{" names ", " doors ", " plate ", " size ", \"wheels\": " wheels ", " rest "}"

static void every_fault_is_told_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *place; /* part of the message */
    } cases[] = {
        {CAR("\"name\": \"n\"", DOORS, PLATE, SIZE, "[]", REST), "owner"},
        {CAR(NAMES ", \"colour\": 1", DOORS, PLATE, SIZE, "[]", REST), "colour"},
        {CAR("\"name\": null, \"owner\": null", DOORS, PLATE, SIZE, "[]", REST), "/name"},
        {CAR("\"name\": 3, \"owner\": null", DOORS, PLATE, SIZE, "[]", REST), "/name"},
        {CAR(NAMES, "\"doors\": 3.5", PLATE, SIZE, "[]", REST), "/doors"},
        {CAR(NAMES, "\"doors\": null", PLATE, SIZE, "[]", REST), "/doors"},
        {CAR(NAMES, "\"doors\": \"3\"", PLATE, SIZE, "[]", REST), "/doors"},
        {CAR(NAMES, DOORS, "\"plate\": \"abc\"", SIZE, "[]", REST), "/plate"},
        {CAR(NAMES, DOORS, "\"plate\": 1", SIZE, "[]", REST), "/plate"},
        {CAR(NAMES, DOORS, PLATE, "\"size\": null", "[]", REST), "/size"},
        {CAR(NAMES, DOORS, PLATE, "\"size\": {\"length\": 1}", "[]", REST), "/size"},
        {CAR(NAMES, DOORS, PLATE, "\"size\": {\"length\": 1, \"width\": true}", "[]", REST),
         "/size/width"},
        {CAR(NAMES, DOORS, PLATE, SIZE, "{}", REST), "/wheels"},
        {CAR(NAMES, DOORS, PLATE, SIZE, "[" WHEEL ", 7]", REST), "/wheels/1"},
        {CAR(NAMES, DOORS, PLATE, SIZE, "[" WHEEL ", {\"tyre\": \"t\"}]", REST), "/wheels/1"},
        {CAR(NAMES, DOORS, PLATE, SIZE, "[" WHEEL ", {\"tyre\": \"t\", \"radius\": \"x\"}]", REST),
         "/wheels/1/radius"},
        {CAR(NAMES, DOORS, PLATE, SIZE, "[" WHEEL ", " WHEEL ", " WHEEL ", " WHEEL "]", REST),
         "/wheels"},
        {CAR(NAMES, DOORS, PLATE, SIZE, "[]", "\"red\": 1, \"weight\": 1, \"result\": \"ok\""),
         "/red"},
        {CAR(NAMES, DOORS, PLATE, SIZE, "[]",
             "\"red\": true, \"weight\": \"1\", \"result\": \"ok\""),
         "/weight"},
        {CAR(NAMES, DOORS, PLATE, SIZE, "[]",
             "\"red\": true, \"weight\": 1, \"result\": \"great\""),
         "/result"},
        {CAR(NAMES, DOORS, PLATE, SIZE, "[]", REST ", \"red\": true"), "red"},
        {"[]", "car"},
        {"", "car"},
        {"{\"name\": \"n\"", "car"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        car out = {.doors = 9};
        static const car empty;
        err e = {0};
        assert_int_equal(parse(cases[i].text, &out, &e), -1);
        assert_int_equal(e.code, ERR_CONFIG);
        if (strstr(e.text, cases[i].place) == NULL) {
            fail_msg("case %zu says: %s", i, e.text);
        }
        /* Nothing is left to free: what was read before the fault is gone (the leak checker looks). */
        assert_memory_equal(&out, &empty, sizeof(out));
    }
}

static void the_good_car_of_those_cases_is_good(void **state)
{
    (void)state;
    car out SCOPED(car_fini) = {0};
    err e = {0};
    if (parse(CAR(NAMES, DOORS, PLATE, SIZE, "[" WHEEL "]", REST), &out, &e) != 0) {
        fail_msg("%s", e.text);
    }
    assert_int_equal(out.wheel_count, 1);
}

static void ending_twice_is_fine(void **state)
{
    (void)state;
    car out = {0};
    assert_int_equal(parse(CAR(NAMES, DOORS, PLATE, SIZE, "[" WHEEL "]", REST), &out, NULL), 0);
    car_fini(&out);
    assert_null(out.name);
    assert_null(out.wheels);
    assert_int_equal(out.wheel_count, 0);
    car_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_struct_comes_back_as_it_was_written),
                                       cmocka_unit_test(what_is_absent_is_null_and_null_is_absent),
                                       cmocka_unit_test(infinity_is_never_written_as_a_number),
                                       cmocka_unit_test(every_fault_is_told_with_its_place),
                                       cmocka_unit_test(the_good_car_of_those_cases_is_good),
                                       cmocka_unit_test(ending_twice_is_fine)};
    return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
