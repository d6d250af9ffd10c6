/* Reading cubins of CUDA 12 and 13, whole and damaged.
 *
 * Modules: code
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <string.h>

#include "agent-node/compiler/code.h"
#include "common/file.h"
#include "common/scoped.h"
#include "common/xalloc.h"

typedef struct cubin_row {
    const char *file;
    uint32_t sm;
    uint32_t registers;
} cubin_row;

/* One kernel k1 of 400 bytes of shared memory and a helper with 256 bytes of local memory. */
static const cubin_row rows[] = {
    {"cuda12", 90, 30},
    {"cuda13", 90, 30},
    {"cuda13_sm120", 120, 38},
};

static void load(const char *name, buf *out)
{
    err e;
    SCOPED(scoped_free) char *path = file_join(CE_SOURCE_DIR "/tests/fuzz/corpus/cubin", name);
    buf_init(out, 1 << 20);
    assert_int_equal(file_read(path, out, &e), 0);
}

static void both_forms_say_machine_kernels_and_resources(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(buf_fini) buf data;
        load(rows[i].file, &data);
        err e = {.text = ""};
        SCOPED(cubin_destroy) cubin *c = cubin_read(data.data, data.size, &e);
        if (c == NULL)
            fail_msg("%s: %s", rows[i].file, e.text);
        assert_int_equal(c->sm, rows[i].sm);
        assert_int_equal(c->kernel_count, 1);
        const cubin_kernel *k = cubin_find_kernel(c, "k1");
        assert_non_null(k);
        assert_null(cubin_find_kernel(c, "k2"));
        assert_int_equal(k->registers, rows[i].registers);
        assert_in_range(k->local_bytes, 256, 512);
        assert_true(k->shared_bytes >= 400);
        assert_non_null(cubin_section_named(c, ".text.k1"));
    }
}

static void a_cut_cubin_is_refused_or_read_never_followed_outside(void **state)
{
    (void)state;
    SCOPED(buf_fini) buf data;
    load("cuda13", &data);
    for (size_t size = 0; size < data.size; size += 7) {
        /* A copy of exactly this size, so that a tool sees any read past it. */
        SCOPED(scoped_free) char *part = xmemdup(data.data, size + 1);
        err e = {.code = ERR_NONE};
        cubin *c = cubin_read(part, size, &e);
        assert_true(c != NULL ? size > data.size / 2 : e.code == ERR_PROTOCOL);
        cubin_destroy(&c);
    }
}

typedef struct damage_row {
    const char *name;
    size_t offset; /* of the byte to set */
    uint8_t value;
} damage_row;

static const damage_row damages[] = {
    {"magic", 0, 0},
    {"32 bit", EI_CLASS, ELFCLASS32},
    {"big endian", EI_DATA, ELFDATA2MSB},
    {"another machine", offsetof(Elf64_Ehdr, e_machine), 62},
    {"section size", offsetof(Elf64_Ehdr, e_shentsize), 40},
    {"section table far away", offsetof(Elf64_Ehdr, e_shoff) + 7, 0x7f},
    {"names section that is none", offsetof(Elf64_Ehdr, e_shstrndx) + 1, 0xff},
};

static void damaged_headers_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        SCOPED(buf_fini) buf data;
        load("cuda13", &data);
        data.data[damages[i].offset] = (char)damages[i].value;
        if (cubin_read(data.data, data.size, NULL) != NULL)
            fail_msg("%s is read", damages[i].name);
    }
}

/* change_in flips a byte of a section and says the code's hash. */
static hash hash_with_changed(const char *section)
{
    SCOPED(buf_fini) buf data;
    load("cuda13", &data);
    if (section != NULL) {
        SCOPED(cubin_destroy) cubin *whole = cubin_read(data.data, data.size, NULL);
        const cubin_section *s = cubin_section_named(whole, section);
        assert_non_null(s);
        data.data[(size_t)((const char *)s->data - data.data) + s->size - 1] ^= 1;
    }
    SCOPED(cubin_destroy) cubin *c = cubin_read(data.data, data.size, NULL);
    assert_non_null(c);
    return code_of_cubin(c);
}

static void the_code_hash_sees_code_and_not_names(void **state)
{
    (void)state;
    hash whole = hash_with_changed(NULL);
    static const char *const seen[] = {".text.k1", ".nv.info.k1"};
    static const char *const unseen[] = {".debug_frame", ".note.nv.tkinfo"};
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        hash h = hash_with_changed(seen[i]);
        assert_false(hash_equal(&whole, &h));
    }
    for (size_t i = 0; i < sizeof unseen / sizeof unseen[0]; i++) {
        hash h = hash_with_changed(unseen[i]);
        assert_true(hash_equal(&whole, &h));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_say_machine_kernels_and_resources),
        cmocka_unit_test(a_cut_cubin_is_refused_or_read_never_followed_outside),
        cmocka_unit_test(damaged_headers_are_refused),
        cmocka_unit_test(the_code_hash_sees_code_and_not_names),
    };
    return cmocka_run_group_tests_name("cubin", tests, NULL, NULL);
}
