/* Where addresses of global variables go: one instruction sequence a row.
 *
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "agent-node/compiler/flow.h"
#include "agent-node/ptx/parse.h"
#include "common/scoped.h"
#include "common/xalloc.h"

enum { CLEAN = -1 };

typedef struct flow_case {
    const char *name;
    int end; /* flow_end, or CLEAN */
    const char *code;
} flow_case;

static const flow_case cases[] = {
    {"nothing", CLEAN, "ret;"},
    {"load by name", CLEAN, "ld.global.u32 %r1, [g+4];"},
    {"load by register", CLEAN,
     "mov.u64 %rd1, g; add.s64 %rd2, %rd1, 4; ld.global.nc.u32 %r1, [%rd2];"},
    {"store elsewhere", CLEAN,
     "mov.u64 %rd1, g; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd3], %r1;"},
    {"bulk copy from", CLEAN,
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [g], 16, [%r2];"},
    {"prefetch", CLEAN, "prefetch.global.L2 [g];"},
    {"space test decides", CLEAN, "isspacep.global %p1, g; @%p1 bra L; L: ret;"},
    {"constant table of numbers", CLEAN, "mov.u64 %rd1, c; st.global.u64 [%rd3], %rd1;"},
    {"store by name", FLOW_WRITTEN, "st.global.u32 [g], %r1;"},
    {"store by register", FLOW_WRITTEN, "mov.u64 %rd1, g; st.global.u32 [%rd1+4], %r1;"},
    {"store through generic", FLOW_WRITTEN, "cvta.global.u64 %rd1, g; st.u32 [%rd1], %r1;"},
    {"used before it is set", FLOW_WRITTEN,
     "L: st.u32 [%rd2], %r1; mov.u64 %rd2, %rd1; mov.u64 %rd1, g; bra L;"},
    {"atomic", FLOW_WRITTEN, "atom.global.add.u32 %r1, [g], 1;"},
    {"reduction", FLOW_WRITTEN, "red.global.add.u32 [g+4], %r1;"},
    {"bulk copy to", FLOW_WRITTEN, "cp.async.bulk.global.shared::cta.bulk_group [g], [%r1], 16;"},
    {"barrier in memory", FLOW_WRITTEN, "mbarrier.arrive.b64 %rd1, [g];"},
    {"select", FLOW_WRITTEN,
     "mov.u64 %rd1, g; selp.b64 %rd2, %rd1, %rd3, %p1; st.u32 [%rd2], %r1;"},
    {"halves", FLOW_WRITTEN,
     "mov.u64 %rd1, g; mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd2, {%r1, %r2}; st.u32 [%rd2], %r3;"},
    {"xor and back", FLOW_WRITTEN,
     "mov.u64 %rd1, g; xor.b64 %rd1, %rd1, 5; xor.b64 %rd2, %rd1, 5; st.u32 [%rd2], %r3;"},
    {"other lane", FLOW_WRITTEN,
     "cvt.u32.u64 %r1, %rd1; mov.u64 %rd1, g; shfl.sync.idx.b32 %r2|%p1, %r1, 0, 31, -1; "
     "cvt.u64.u32 %rd2, %r2; st.u32 [%rd2], 1;"},
    {"guarded move", FLOW_WRITTEN,
     "mov.u64 %rd1, g; setp.gt.u64 %p1, %rd1, 9; @%p1 mov.u64 %rd2, 8; st.u32 [%rd2], 1;"},
    {"from a table", FLOW_WRITTEN, "ld.global.u64 %rd1, [t+8]; st.u32 [%rd1], 1;"},
    {"from a constant table", FLOW_WRITTEN,
     "mov.u64 %rd1, ct; add.s64 %rd1, %rd1, %rd2; ld.const.u64 %rd3, [%rd1]; st.u32 [%rd3], 1;"},
    {"from a table of tables", FLOW_WRITTEN,
     "ld.global.u64 %rd1, [tt]; ld.u64 %rd2, [%rd1]; st.u32 [%rd2], 1;"},
    {"stored", FLOW_STORED, "mov.u64 %rd1, g; st.global.u64 [%rd3], %rd1;"},
    {"stored by name", FLOW_STORED, "st.local.u64 [%rd3], g;"},
    {"stored in a vector", FLOW_STORED, "mov.u64 %rd1, g; st.global.v2.u64 [%rd3], {%rd2, %rd1};"},
    {"exchanged", FLOW_STORED, "mov.u64 %rd1, g; atom.global.exch.b64 %rd2, [%rd3], %rd1;"},
    {"constant table stored", FLOW_STORED, "mov.u64 %rd1, ct; st.global.u64 [%rd3], %rd1;"},
    {"argument", FLOW_STORED,
     "mov.u64 %rd1, g; { .param .b64 p; st.param.b64 [p], %rd1; call h, (p); }"},
    {"argument in a register", FLOW_PASSED, "mov.u64 %rd1, g; call h, (%rd1);"},
    {"argument of assert", CLEAN,
     "mov.u64 %rd1, g; { .param .b64 p; st.param.b64 [p], %rd1; call __assertfail, (p); }"},
    {"argument of both", FLOW_STORED,
     "mov.u64 %rd1, g; { .param .b64 p; st.param.b64 [p], %rd1; call __assertfail, (p); } { .param "
     ".b64 p; st.param.b64 [p], %rd1; call h, (p); }"},
    {"decides a branch", FLOW_BRANCHED,
     "mov.u64 %rd1, g; setp.gt.u64 %p1, %rd1, 9; @%p1 bra L; L: ret;"},
    {"decides a store", FLOW_BRANCHED,
     "mov.u64 %rd1, g; setp.gt.u64 %p1, %rd1, 9; @%p1 st.u32 [%rd3], 1;"},
    {"indexes a branch", FLOW_BRANCHED,
     "t1: .branchtargets L, M; cvt.u32.u64 %r1, %rd1; mov.u64 %rd1, g; brx.idx %r1, t1; L: M: "
     "ret;"},
};

static ptx_module *module_of(const char *code)
{
    SCOPED(scoped_free)
    char *text =
        xasprintf(".version 8.0\n.target sm_90\n.address_size 64\n"
                  ".global .align 8 .b8 g[64];\n"
                  ".const .align 8 .b8 c[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
                  ".global .align 8 .u64 t[2] = {3, generic(g)};\n"
                  ".const .align 8 .u64 ct[1] = {generic(g)};\n"
                  ".global .align 8 .u64 tt[1] = {generic(t)};\n"
                  ".extern .func __assertfail(.param .b64 a);\n"
                  ".func h(.param .b64 a) { ret; }\n"
                  ".visible .entry k(.param .u64 a)\n{\n.reg .pred %%p<4>; .reg .b32 %%r<8>;"
                  " .reg .b64 %%rd<8>;\n%s\n}\n",
                  code);
    err e = {.text = ""};
    ptx_module *m = ptx_parse(text, strlen(text), &e);
    if (m == NULL)
        fail_msg("%s: %s", code, e.text);
    return m;
}

static void addresses_are_followed_to_where_they_end(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SCOPED(ptx_module_destroy) ptx_module *m = module_of(cases[i].code);
        flow_finding f;
        int got = flow_find(m, &f) ? (int)f.end : CLEAN;
        if (got != cases[i].end) {
            print_error("%s: %d, not %d\n", cases[i].name, got, cases[i].end);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void a_finding_names_variable_function_and_instruction(void **state)
{
    (void)state;
    SCOPED(ptx_module_destroy) ptx_module *m = module_of("mov.u64 %rd1, g; st.u32 [%rd1], 7;");
    flow_finding f;
    assert_true(flow_find(m, &f));
    assert_string_equal(f.variable->name, "g");
    assert_string_equal(f.function->name, "k");
    assert_string_equal(f.at->opcode, "st");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_followed_to_where_they_end),
        cmocka_unit_test(a_finding_names_variable_function_and_instruction),
    };
    return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
