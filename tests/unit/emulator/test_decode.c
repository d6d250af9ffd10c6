/* A kernel becomes a program whose ops lead back to instructions and source lines; what cannot be
 * executed is refused by name and line.
 *
 * Modules: program
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "agent-node/emulator/decode.h"
#include "agent-node/ptx/parse.h"
#include "common/scoped.h"
#include "common/xalloc.h"

#define HEAD  ".version 7.8\n.target sm_80\n.address_size 64\n"
#define FILES ".file 1 \"/x/kernel.cu\"\n.file 2 \"/x/header.h\"\n"
#define REGISTERS \
    ".reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %d<4>;\n"

static ptx_module *parse(const char *text)
{
    err e = {0};
    ptx_module *m = ptx_parse(text, strlen(text), &e);
    if (m == NULL)
        fail_msg("%s", e.text);
    return m;
}

static program *decode(const ptx_module *m, emu_report *out)
{
    *out = (emu_report){0};
    return program_decode(m, NULL, 0, ptx_module_function(m, "k"), out);
}

static void an_op_leads_to_its_instruction_in_its_own_function(void **state)
{
    (void)state;
    static emu_report report;
    SCOPED(ptx_module_destroy)
    ptx_module *m = parse(HEAD ".func helper()\n{\n" REGISTERS "not.b32 %r1, %r2;\nret;\n}\n"
                               ".visible .entry k()\n{\n" REGISTERS
                               "add.u32 %r1, %r2, 7;\ncall helper;\nret;\n}\n");
    SCOPED(program_destroy) program *p = decode(m, &report);
    assert_non_null(p);
    assert_int_equal(p->part_count, 2);
    const program_part *own = program_part_of(p, 0);
    const program_part *other = program_part_of(p, own->count);
    assert_string_equal(own->function->name, "k");
    assert_string_equal(other->function->name, "helper");
    assert_string_equal(program_instruction(p, 0)->opcode, "add");
    assert_string_equal(program_instruction(p, 1)->opcode, "call");
    assert_string_equal(program_instruction(p, other->first)->opcode, "not");
    assert_null(program_instruction(p, own->first + own->count - 1)); /* the end that is a return */
    assert_null(program_part_of(p, (uint32_t)p->op_count));
    assert_int_equal(p->calls[0].first, other->first);
    assert_int_equal(report.finding_count, 0);
}

static void a_line_is_one_of_the_kernels_own_file(void **state)
{
    (void)state;
    static emu_report report;
    static const uint32_t lines[] = {12, 12, 13, 12, 20};
    SCOPED(ptx_module_destroy)
    ptx_module *m =
        parse(HEAD ".visible .entry k()\n{\n" REGISTERS ".loc 1 12 5\n mov.u32 %r1, 2;\n"
                   " mov.u32 %r1, 3;\n"
                   ".loc 2 90 7, function_name $L_i+4, inlined_at 1 13 2\n mov.u32 %r2, 3;\n"
                   ".loc 1 12 1\n mov.u32 %r2, 4;\n"
                   ".loc 1 20 1\n ret;\n}\n" FILES ".section .debug_str { $L_i: .b8 1,2,3 }\n");
    SCOPED(program_destroy) program *p = decode(m, &report);
    assert_non_null(p);
    for (uint32_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *file = NULL;
        assert_int_equal(program_line(p, i, &file), lines[i]);
        assert_string_equal(file, "/x/kernel.cu");
    }
}

static void without_line_information_there_is_no_line(void **state)
{
    (void)state;
    static emu_report report;
    SCOPED(ptx_module_destroy)
    ptx_module *m = parse(HEAD ".visible .entry k()\n{\n ret;\n}\n");
    SCOPED(program_destroy) program *p = decode(m, &report);
    const char *file = "";
    assert_int_equal(program_line(p, 0, &file), 0);
    assert_null(file);
}

static void equal_constants_share_a_unit_and_zero_is_unit_none(void **state)
{
    (void)state;
    static emu_report report;
    SCOPED(ptx_module_destroy)
    ptx_module *m = parse(HEAD ".visible .entry k()\n{\n" REGISTERS "add.u32 %r1, %r2, 7;\n"
                               "add.u32 %r1, %r2, 0;\nadd.u32 %r2, %r1, 7;\nadd.u32 %r2, %r1, 8;\n"
                               "add.u64 %d1, %d2, 7;\nret;\n}\n");
    SCOPED(program_destroy) program *p = decode(m, &report);
    assert_non_null(p);
    assert_int_equal(p->ops[0].b, p->ops[2].b);
    assert_int_equal(p->ops[1].b, 0);
    assert_true(p->ops[3].b != p->ops[0].b);
    assert_true(p->ops[4].b != p->ops[0].b); /* 64 bits take two units */
    assert_true(p->ops[0].b >= p->register_units);
}

static void what_is_not_executed_is_refused_by_name_and_line(void **state)
{
    (void)state;
    static const struct {
        const char *instruction, *shown, *why;
    } rows[] = {
        {"tanh.approx.bf16x3 %r1, %r2", "tanh.approx.bf16x3", "not supported"},
        {"add.u32 %r1, %r2", "add.u32", "operands"},
        {"add.u32 %r1, %r2, %d1", "add.u32", "does not fit"},
        {"add.u32 7, %r1, %r2", "add.u32", "no register"},
        {"cvt.u32.q32 %r1, %r2", "cvt.u32.q32", "not supported"},
        {"ld.global.u64 %r1, [%d1]", "ld.global.u64", "narrower"},
        {"ld.global %r1, [%d1]", "ld.global", "type"},
        {"st.const.u32 [%d1], %r1", "st.const.u32", "constant memory"},
        {"atom.global.nand.b32 %r1, [%d1], %r2", "atom.global.nand.b32", "not supported"},
        {"shfl.up.b32 %r1, %r2, 1, 0, -1", "shfl.up.b32", ".sync"},
        {"mbarrier.init.shared.b64 [%d1], 3", "mbarrier.init.shared.b64", "not supported"},
    };
    static const char before[] =
        HEAD ".visible .entry k()\n{\n" REGISTERS ".loc 1 3 1\n mov.u32 %r1, 1;\n.loc 1 44 1\n ";
    static const char after[] = ";\n ret;\n}\n" FILES;
    static emu_report report;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        SCOPED(scoped_free)
        char *text = xasprintf("%s%s%s", before, rows[i].instruction, after);
        SCOPED(ptx_module_destroy) ptx_module *m = parse(text);
        SCOPED(program_destroy) program *p = decode(m, &report);
        if (p != NULL || report.finding_count != 1)
            fail_msg("%s: %zu findings", rows[i].instruction, report.finding_count);
        const emu_finding *f = &report.findings[0];
        if (strstr(f->text, rows[i].why) == NULL)
            fail_msg("%s: %s", rows[i].instruction, f->text);
        assert_int_equal(f->kind, EMU_UNSUPPORTED);
        assert_int_equal(f->line, 44);
        assert_string_equal(f->file, "kernel.cu");
        assert_string_equal(f->instruction, rows[i].shown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_op_leads_to_its_instruction_in_its_own_function),
        cmocka_unit_test(a_line_is_one_of_the_kernels_own_file),
        cmocka_unit_test(without_line_information_there_is_no_line),
        cmocka_unit_test(equal_constants_share_a_unit_and_zero_is_unit_none),
        cmocka_unit_test(what_is_not_executed_is_refused_by_name_and_line),
    };
    return cmocka_run_group_tests_name("PTX becomes a program", tests, NULL, NULL);
}
