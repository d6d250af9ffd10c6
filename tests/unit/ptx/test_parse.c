/* The PTX parser: what NVRTC emits, what people write in inline assembly, and what is no PTX.
 *
 * Modules: body declare module operand parser
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent-node/ptx/parse.h"
#include "common/buf.h"
#include "common/scoped.h"
#include "common/xalloc.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static ptx_module *parse(const char *text)
{
    err e = {.text = ""};
    ptx_module *m = ptx_parse(text, strlen(text), &e);
    if (m == NULL)
        fail_msg("%s", e.text);
    return m;
}

/* body parses statements inside a kernel k(a, n) with a few registers. */
static ptx_module *body(const char *statements)
{
    SCOPED(scoped_free)
    char *text = xasprintf(HEAD ".global .align 4 .u32 g[4];\n"
                                ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n"
                                ".reg .pred %%p<4>;\n.reg .b32 %%r<8>;\n.reg .b64 %%rd<8>;\n"
                                ".reg .f32 %%f<8>;\n%s\n}\n",
                           statements);
    return parse(text);
}

static const ptx_instruction *only(const ptx_module *m)
{
    const ptx_function *k = ptx_module_function(m, "k");
    assert_non_null(k);
    assert_int_equal(k->code_count, 1);
    return &k->code[0];
}

static void a_header_gives_version_target_and_address_size(void **state)
{
    (void)state;
    SCOPED(ptx_module_destroy)
    ptx_module *m = parse(".version 9.12\n.target sm_90a, debug\n.address_size 64\n");
    assert_int_equal(m->version_major, 9);
    assert_int_equal(m->version_minor, 12);
    assert_string_equal(m->target, "sm_90a");
    assert_int_equal(m->address_bytes, 8);
}

static void variables_keep_linkage_alignment_and_initialiser(void **state)
{
    (void)state;
    SCOPED(ptx_module_destroy)
    ptx_module *m = parse(HEAD ".global .align 4 .u32 plain;\n"
                               ".visible .const .align 8 .f64 d[2] = {0d3FF0000000000000, -2.5};\n"
                               ".weak .global .align 8 .u64 p[3] = {generic(plain)+4, plain, 7};\n"
                               ".extern .shared .align 16 .b8 dyn[];\n"
                               ".global .align 1 .b8 m[2][3] = {{1, 2}, {0x10, -1, 3}};\n"
                               ".global .attribute(.managed) .align 4 .s32 managed = -3;\n");
    assert_int_equal(m->variable_count, 6);
    const ptx_variable *const *v = m->variables;
    assert_int_equal(v[0]->linkage, PTX_LINK_NONE);
    assert_int_equal(v[0]->space, PTX_SPACE_GLOBAL);
    assert_int_equal(v[0]->bytes, 4);
    assert_null(v[0]->image);
    double two[2];
    memcpy(two, v[1]->image, sizeof two);
    assert_true(two[0] == 1.0 && two[1] == -2.5);
    assert_int_equal(v[2]->linkage, PTX_LINK_WEAK);
    assert_int_equal(v[2]->reloc_count, 2);
    assert_true(v[2]->relocs[0].generic && v[2]->relocs[0].addend == 4);
    assert_ptr_equal(v[2]->relocs[1].target, v[0]);
    assert_int_equal(v[2]->image[16], 7);
    assert_int_equal(v[3]->linkage, PTX_LINK_EXTERN);
    assert_int_equal(v[3]->bytes, 0);
    assert_memory_equal(v[4]->image, "\1\2\0\x10\xff\3", 6);
    assert_true(v[5]->managed);
    assert_memory_equal(v[5]->image, "\xfd\xff\xff\xff", 4);
}

static void an_instruction_is_opcode_modifiers_operands_and_guard(void **state)
{
    (void)state;
    SCOPED(ptx_module_destroy)
    ptx_module *m = body("@!%p2 ld.global.nc.v2.f32 {%f1, _}, [%rd1+-16];");
    const ptx_instruction *in = only(m);
    assert_string_equal(in->opcode, "ld");
    assert_int_equal(in->modifier_count, 4);
    assert_true(ptx_instruction_has(in, "nc"));
    assert_false(ptx_instruction_has(in, "f64"));
    assert_true(in->guard_negated);
    const ptx_function *k = ptx_module_function(m, "k");
    assert_string_equal(k->registers[in->guard].name, "%p");
    assert_int_equal(k->registers[in->guard].number, 2);
    assert_int_equal(in->operands[0].kind, PTX_OPERAND_VECTOR);
    assert_int_equal(in->operands[0].items[1].kind, PTX_OPERAND_SINK);
    assert_int_equal(in->operands[1].kind, PTX_OPERAND_ADDRESS);
    assert_int_equal(in->operands[1].offset, -16);
    assert_int_equal(in->operands[1].items[0].kind, PTX_OPERAND_REGISTER);
}

typedef struct operand_row {
    const char *statement;
    size_t index;
    ptx_operand_kind kind;
    uint64_t bits;
    int64_t offset;
} operand_row;

static const operand_row operands[] = {
    {"mov.u32 %r1, 12;", 1, PTX_OPERAND_INT, 12, 0},
    {"mov.u32 %r1, 0x1F;", 1, PTX_OPERAND_INT, 31, 0},
    {"mov.u32 %r1, 017;", 1, PTX_OPERAND_INT, 15, 0},
    {"mov.u32 %r1, 0b101U;", 1, PTX_OPERAND_INT, 5, 0},
    {"mov.u32 %r1, -1;", 1, PTX_OPERAND_INT, UINT64_MAX, 0},
    {"mov.u32 %r1, (1 << 3) | 2 + 3 * 4;", 1, PTX_OPERAND_INT, 14, 0},
    {"mov.u32 %r1, 7 / 2 - -4 % 3;", 1, PTX_OPERAND_INT, 4, 0},
    {"mov.u32 %r1, ~0 & 0xff ^ !0;", 1, PTX_OPERAND_INT, 254, 0},
    {"mov.f32 %f1, 0f3F800000;", 1, PTX_OPERAND_FLOAT32, 0x3f800000, 0},
    {"mov.f32 %f1, -0f3F800000;", 1, PTX_OPERAND_FLOAT32, 0xbf800000, 0},
    {"mov.f32 %f1, 1.5e0;", 1, PTX_OPERAND_FLOAT64, 0x3ff8000000000000, 0},
    {"mov.u32 %r1, WARP_SZ;", 1, PTX_OPERAND_INT, 32, 0},
    {"mov.u32 %r1, %tid.x;", 1, PTX_OPERAND_SPECIAL, 0, 0},
    {"mov.u64 %rd1, %clock64;", 1, PTX_OPERAND_SPECIAL, 0, 0},
    {"mov.u64 %rd1, g+8;", 1, PTX_OPERAND_VARIABLE, 0, 8},
    {"mov.u64 %rd1, k;", 1, PTX_OPERAND_FUNCTION, 0, 0},
    {"ld.param.u64 %rd1, [a];", 1, PTX_OPERAND_ADDRESS, 0, 0},
    {"st.global.u32 [g+(4*2)], %r1;", 0, PTX_OPERAND_ADDRESS, 0, 8},
    {"st.global.u32 [4096], %r1;", 0, PTX_OPERAND_ADDRESS, 0, 0},
    {"setp.lt.s32 %p1|%p2, %r1, 3;", 0, PTX_OPERAND_PAIR, 0, 0},
    {"tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];", 1, PTX_OPERAND_ADDRESS, 0, 0},
    {"bra HERE; HERE:", 0, PTX_OPERAND_LABEL, 0, 0},
};

static void every_kind_of_operand_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof operands / sizeof operands[0]; i++) {
        const operand_row *row = &operands[i];
        SCOPED(ptx_module_destroy) ptx_module *m = body(row->statement);
        const ptx_operand *o = &only(m)->operands[row->index];
        if (o->kind != row->kind || o->bits != row->bits || o->offset != row->offset)
            fail_msg("%s: kind %d bits %llx offset %lld", row->statement, (int)o->kind,
                     (unsigned long long)o->bits, (long long)o->offset);
    }
}

static void labels_of_inner_braces_hide_outer_ones(void **state)
{
    (void)state;
    SCOPED(ptx_module_destroy)
    ptx_module *m = body("L: bra L;\n"
                         "{ .reg .pred p; L: setp.eq.u32 p, %r1, 0; @p bra L; bra AFTER; }\n"
                         "{ .reg .pred p; L: setp.eq.u32 p, %r2, 0; @p bra L; }\n"
                         "AFTER: ret;");
    const ptx_function *k = ptx_module_function(m, "k");
    assert_int_equal(k->code_count, 7);
    assert_int_equal(k->code[0].operands[0].target, 0);
    assert_int_equal(k->code[2].operands[0].target, 1);
    assert_int_equal(k->code[3].operands[0].target, 6);
    assert_int_equal(k->code[5].operands[0].target, 4);
    assert_int_not_equal(k->code[2].guard, k->code[5].guard);
}

static void source_lines_follow_loc(void **state)
{
    (void)state;
    SCOPED(ptx_module_destroy)
    ptx_module *m = parse(HEAD ".visible .entry k()\n{\n.reg .b32 %r<3>;\n mov.u32 %r1, 1;\n"
                               ".loc 1 12 5\n mov.u32 %r1, 2;\n"
                               ".loc 2 90 7, function_name $L_i+4, inlined_at 1 13 2\n"
                               " mov.u32 %r2, 3;\n ret;\n}\n"
                               ".file 1 \"/x/kernel.cu\"\n.file 2 \"header.h\", 12, 13\n"
                               ".section .debug_str { $L_i: .b8 1,2,3 }\n");
    const ptx_instruction *code = ptx_module_function(m, "k")->code;
    assert_int_equal(code[0].where.file, 0);
    assert_int_equal(code[1].where.line, 12);
    assert_int_equal(code[2].where.file, 2);
    assert_int_equal(code[2].where.outer_file, 1);
    assert_int_equal(code[3].where.outer_line, 13);
    assert_int_equal(code[1].line, 9);
    assert_string_equal(ptx_module_file(m, 1), "/x/kernel.cu");
    assert_null(ptx_module_file(m, 3));
}

static void calls_tables_and_prototypes_are_resolved(void **state)
{
    (void)state;
    SCOPED(ptx_module_destroy)
    ptx_module *m =
        parse(HEAD ".func (.param .b32 r) later (.param .b32 x);\n"
                   ".visible .entry k (.param .u64 f)\n.maxntid 128, 1, 1\n.minnctapersm 2\n{\n"
                   ".reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
                   "t: .branchtargets A, B;\n"
                   "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                   "{ .param .b32 p0; .param .b32 ret0; st.param.b32 [p0+0], %r1;\n"
                   "call.uni (ret0), later, (p0); ld.param.b32 %r2, [ret0+0]; }\n"
                   "{ .param .b32 p0; .param .b32 ret0; call (ret0), %rd1, (p0), proto; }\n"
                   "brx.idx %r1, t;\nA: ret;\nB: exit;\n}\n"
                   ".func (.param .b32 r) later (.param .b32 x) { ret; }\n");
    assert_int_equal(m->function_count, 2);
    const ptx_function *k = ptx_module_function(m, "k");
    const ptx_function *later = ptx_module_function(m, "later");
    assert_true(later->has_body && !later->is_entry);
    assert_ptr_equal(k->code[1].operands[1].function, later);
    assert_int_equal(k->code[3].operands[3].kind, PTX_OPERAND_TABLE);
    assert_int_equal(k->tables[k->code[3].operands[3].table].param_count, 1);
    assert_int_equal(k->code[4].operands[1].kind, PTX_OPERAND_TABLE);
    const ptx_table *t = &k->tables[k->code[4].operands[1].table];
    assert_int_equal(t->item_count, 2);
    assert_int_equal(t->items[1].target, 6);
    const ptx_directive *d = ptx_function_directive(k, "maxntid");
    assert_non_null(d);
    assert_int_equal(d->value_count, 3);
    assert_int_equal(d->values[0], 128);
    assert_null(ptx_function_directive(k, "reqntid"));
    assert_true(k->params[0]->is_kernel_param);
}

static void registers_are_numbered_across_declarations(void **state)
{
    (void)state;
    SCOPED(ptx_module_destroy)
    ptx_module *m = body(".reg .v4 .f32 v; .reg .pred q, w; mov.f32 v.y, 0f00000000;");
    const ptx_function *k = ptx_module_function(m, "k");
    assert_int_equal(k->register_count, 4 + 8 + 8 + 8 + 3);
    const ptx_operand *o = &only(m)->operands[0];
    assert_string_equal(k->registers[o->reg].name, "v");
    assert_int_equal(k->registers[o->reg].lanes, 4);
    assert_string_equal(o->component, "y");
}

/* ---- what is refused ---- */

typedef struct bad_row {
    const char *text;
    const char *says; /* part of the error */
} bad_row;

#define KERNEL(statements) HEAD ".entry k()\n{\n.reg .b32 %r<3>;\n" statements "\n}\n"

static const bad_row bad[] = {
    {"", "no .target"},
    {"hello", "a function or a variable was expected"},
    {HEAD ".entry k(", "PTX line 4"},
    {HEAD ".entry k() {", "ends inside a function"},
    {KERNEL("mov.u32 %r1, %r9;"), "unknown name %r9"},
    {KERNEL("mov.u32 %r1, nothing;"), "PTX line 7: unknown name nothing"},
    {KERNEL("bra NOWHERE;"), "unknown name NOWHERE"},
    {KERNEL("ld.global.u32 %r1, [nothing];"), "unknown name nothing in an address"},
    {KERNEL("L: L: ret;"), "label L stands twice"},
    {KERNEL("mov.u32 %r1 %r2;"), "',' was expected"},
    {KERNEL("mov.u32 %r1, 0f12;"), "this is no number"},
    {KERNEL("mov.u32 %r1, 0x;"), "this is no number"},
    {KERNEL("mov.u32 %r1, 12ab;"), "this is no number"},
    {KERNEL("mov.u64 %r1, 99999999999999999999;"), "over 64 bits"},
    {KERNEL("mov.u32 %r1, 1 / 0;"), "no value"},
    {KERNEL("mov.u32 %r1, 1 << 64;"), "shift"},
    {KERNEL("@%r7 ret;"), "is no register"},
    {KERNEL(".bogus 3;"), "unknown statement .bogus"},
    {KERNEL(".reg .b32 %r<2>;"), "declared twice"},
    {KERNEL(".reg .b32 %big<1048577>;"), "too many registers"},
    {KERNEL("mov.u32 %r1, \"text\";"), "PTX line 7"},
    {HEAD ".global .align 3 .u32 x;", "no power of two"},
    {HEAD ".global .u32 x[-1];", "dimension"},
    {HEAD ".global .u32 x[4611686018427387904][4];", "2^63"},
    {HEAD ".global .u32 x[2] = {1, 2, 3};", "longer than the variable"},
    {HEAD ".global .u64 x = y;", "unknown symbol y"},
    {HEAD ".global .b8 x[100000000] = {1};", "initialiser for a variable"},
    {HEAD ".global .u32 x; .global .u32 x;", "declared twice"},
    {HEAD ".entry k() { ret; } .entry k() { ret; }", "declared twice"},
    {HEAD "/* no end", "no end"},
    {HEAD ".file 1 \"no end\n", "no end"},
    {HEAD "\x01", "unexpected byte 0x01"},
};

static void what_is_no_ptx_is_refused_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        err e = {.text = ""};
        ptx_module *m = ptx_parse(bad[i].text, strlen(bad[i].text), &e);
        if (m != NULL || strstr(e.text, bad[i].says) == NULL)
            fail_msg("%s\nsays: %s\nnot: %s", bad[i].text, e.text, bad[i].says);
        assert_true(e.code == ERR_PROTOCOL || e.code == ERR_LIMIT);
    }
}

static char *repeated(const char *head, const char *part, size_t count, const char *tail)
{
    buf text;
    buf_init(&text, 1 << 24);
    buf_puts(&text, head);
    for (size_t i = 0; i < count; i++)
        buf_puts(&text, part);
    buf_puts(&text, tail);
    return buf_take(&text);
}

static void limits_hold_whatever_is_nested_or_repeated(void **state)
{
    (void)state;
    char *texts[] = {
        repeated(HEAD ".entry k() {", "{", 100, ""),
        repeated(HEAD ".entry k() { .reg .b32 r; mov.b32 {", "r,", 2000, "r}, r; }"),
        repeated(HEAD ".entry k() { .reg .b32 r; mov.b32 ", "{", 50, ""),
        repeated(HEAD ".entry k() { .reg .b32 r; mov.b32 r, ", "(", 100000, ""),
        repeated(HEAD ".entry k() { .reg .b32 r; mov.b32 r, ", "-", 100000, "1; }"),
        repeated(HEAD ".entry k() { ret", ".x", 17, "; }"),
        repeated(HEAD ".global .b8 x", "[2]", 9, ";"),
        repeated(HEAD ".entry k() { .reg .b32 p; mov.b32 p", "|p", 100000, "; }"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        err e = {.code = ERR_NONE};
        assert_null(ptx_parse(texts[i], strlen(texts[i]), &e));
        assert_true(e.code == ERR_LIMIT || e.code == ERR_PROTOCOL);
        free(texts[i]);
    }
}

static void cutting_a_module_anywhere_is_survived(void **state)
{
    (void)state;
    static const char text[] =
        HEAD ".global .align 8 .u64 t[2] = {generic(t), 3};\n"
             ".visible .entry k (.param .u64 p)\n{\n.reg .pred %p<2>; .reg .b64 %rd<3>;\n"
             ".loc 1 2 3, function_name $L, inlined_at 1 2 3\n"
             "@%p1 ld.global.v2.b64 {%rd1, %rd2}, [%rd1+8];\nL: bra L;\n}\n";
    for (size_t size = 0; size < sizeof text; size++) {
        SCOPED(scoped_free) char *part = xmemdup(text, size + 1);
        ptx_module *m = ptx_parse(part, size, NULL);
        ptx_module_destroy(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_gives_version_target_and_address_size),
        cmocka_unit_test(variables_keep_linkage_alignment_and_initialiser),
        cmocka_unit_test(an_instruction_is_opcode_modifiers_operands_and_guard),
        cmocka_unit_test(every_kind_of_operand_is_read),
        cmocka_unit_test(labels_of_inner_braces_hide_outer_ones),
        cmocka_unit_test(source_lines_follow_loc),
        cmocka_unit_test(calls_tables_and_prototypes_are_resolved),
        cmocka_unit_test(registers_are_numbered_across_declarations),
        cmocka_unit_test(what_is_no_ptx_is_refused_with_its_line),
        cmocka_unit_test(limits_hold_whatever_is_nested_or_repeated),
        cmocka_unit_test(cutting_a_module_anywhere_is_survived),
    };
    return cmocka_run_group_tests_name("ptx parse", tests, NULL, NULL);
}
