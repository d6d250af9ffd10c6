/* kernels_ptx - the two kernels of the timing library, as PTX that the driver compiles
 *
 * Purpose:   ce_spin blocks a stream until the host releases it; ce_flush reads a buffer through L2.
 * Ownership: a string constant.
 * Threads:   constant.
 * Errors:    none; sm_70 and PTX 6.3 are understood by every driver of CUDA 12 and 13.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_TIMING_KERNELS_PTX_H
#define CE_AGENT_NODE_RUNNER_TIMING_KERNELS_PTX_H

#define CE_FLUSH_KERNEL "ce_flush"
#define CE_EMPTY_KERNEL "ce_empty" /* of ce_profile.c */

/* ce_spin(flag, ticket, limit_ns): one thread waits until flag[0] >= ticket; after limit_ns it stores
 * ticket into flag[1] and gives up. ce_flush(base, vectors, sink): reads `vectors` 16-byte vectors; the
 * memory is zero, so the store to sink never happens, but keeps the loads. */
#define TIMING_PTX                                                      \
    ".version 6.3\n"                                                    \
    ".target sm_70\n"                                                   \
    ".address_size 64\n"                                                \
    ".visible .entry ce_spin(.param .u64 p_flag, .param .u32 p_ticket," \
    " .param .u64 p_limit)\n"                                           \
    "{\n"                                                               \
    "  .reg .pred %p<3>;\n"                                             \
    "  .reg .b32 %r<3>;\n"                                              \
    "  .reg .b64 %rd<6>;\n"                                             \
    "  ld.param.u64 %rd1, [p_flag];\n"                                  \
    "  ld.param.u32 %r1, [p_ticket];\n"                                 \
    "  ld.param.u64 %rd2, [p_limit];\n"                                 \
    "  mov.u64 %rd3, %globaltimer;\n"                                   \
    "AGAIN:\n"                                                          \
    "  ld.volatile.global.u32 %r2, [%rd1];\n"                           \
    "  setp.ge.u32 %p1, %r2, %r1;\n"                                    \
    "  @%p1 bra DONE;\n"                                                \
    "  mov.u64 %rd4, %globaltimer;\n"                                   \
    "  sub.u64 %rd5, %rd4, %rd3;\n"                                     \
    "  setp.lt.u64 %p2, %rd5, %rd2;\n"                                  \
    "  @%p2 bra AGAIN;\n"                                               \
    "  st.volatile.global.u32 [%rd1+4], %r1;\n"                         \
    "  membar.sys;\n"                                                   \
    "DONE:\n"                                                           \
    "  ret;\n"                                                          \
    "}\n"                                                               \
    ".visible .entry ce_flush(.param .u64 p_base, .param .u64 p_count," \
    " .param .u64 p_sink)\n"                                            \
    "{\n"                                                               \
    "  .reg .pred %p<3>;\n"                                             \
    "  .reg .b32 %r<10>;\n"                                             \
    "  .reg .b64 %rd<8>;\n"                                             \
    "  ld.param.u64 %rd1, [p_base];\n"                                  \
    "  ld.param.u64 %rd2, [p_count];\n"                                 \
    "  mov.u32 %r1, %ctaid.x;\n"                                        \
    "  mov.u32 %r2, %ntid.x;\n"                                         \
    "  mov.u32 %r3, %tid.x;\n"                                          \
    "  mov.u32 %r4, %nctaid.x;\n"                                       \
    "  mul.wide.u32 %rd3, %r1, %r2;\n"                                  \
    "  cvt.u64.u32 %rd4, %r3;\n"                                        \
    "  add.u64 %rd3, %rd3, %rd4;\n"                                     \
    "  mul.wide.u32 %rd5, %r4, %r2;\n"                                  \
    "  mov.u32 %r5, 0;\n"                                               \
    "NEXT:\n"                                                           \
    "  setp.ge.u64 %p1, %rd3, %rd2;\n"                                  \
    "  @%p1 bra END;\n"                                                 \
    "  shl.b64 %rd6, %rd3, 4;\n"                                        \
    "  add.u64 %rd6, %rd1, %rd6;\n"                                     \
    "  ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd6];\n"                \
    "  or.b32 %r6, %r6, %r7;\n"                                         \
    "  or.b32 %r8, %r8, %r9;\n"                                         \
    "  or.b32 %r6, %r6, %r8;\n"                                         \
    "  or.b32 %r5, %r5, %r6;\n"                                         \
    "  add.u64 %rd3, %rd3, %rd5;\n"                                     \
    "  bra NEXT;\n"                                                     \
    "END:\n"                                                            \
    "  setp.eq.u32 %p2, %r5, 0;\n"                                      \
    "  @%p2 bra OUT;\n"                                                 \
    "  ld.param.u64 %rd7, [p_sink];\n"                                  \
    "  st.global.u32 [%rd7], %r5;\n"                                    \
    "OUT:\n"                                                            \
    "  ret;\n"                                                          \
    "}\n"

#endif
