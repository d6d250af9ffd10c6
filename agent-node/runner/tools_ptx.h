/* tools_ptx - the runner's own kernels, as PTX that the driver compiles
 *
 * Purpose:   ce_sum adds up a checksum of device memory that depends on every byte and its place;
 *            ce_dirty leaves junk in shared memory.
 * Ownership: a string constant.
 * Threads:   constant.
 * Errors:    none; sm_70 and PTX 6.3 are understood by every driver of CUDA 12 and 13.
 *
 * SPDX-License-Identifier: MIT */
#ifndef CE_AGENT_NODE_RUNNER_TOOLS_PTX_H
#define CE_AGENT_NODE_RUNNER_TOOLS_PTX_H

/* ce_sum(at, words, salt, out): for every 32-bit word w at index i, with
 * z = (w + salt) + (i + 1) * 0x9E3779B97F4A7C15, z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9,
 * z = z ^ z >> 31: *out += z, modulo 2^64.
 * ce_dirty(words, value): 32-bit word i of dynamic shared memory = i * 0x9E3779B1 + value. */
#define TOOLS_PTX                                                          \
    ".version 6.3\n"                                                       \
    ".target sm_70\n"                                                      \
    ".address_size 64\n"                                                   \
    ".extern .shared .align 16 .b8 junk[];\n"                              \
    ".visible .entry ce_dirty(.param .u32 d_words, .param .u32 d_value)\n" \
    "{\n"                                                                  \
    "  .reg .pred %q<2>;\n"                                                \
    "  .reg .b32 %s<8>;\n"                                                 \
    "  ld.param.u32 %s1, [d_words];\n"                                     \
    "  ld.param.u32 %s2, [d_value];\n"                                     \
    "  mov.u32 %s3, %tid.x;\n"                                             \
    "  mov.u32 %s4, %ntid.x;\n"                                            \
    "  mov.u32 %s5, junk;\n"                                               \
    "MORE:\n"                                                              \
    "  setp.ge.u32 %q1, %s3, %s1;\n"                                       \
    "  @%q1 bra OVER;\n"                                                   \
    "  shl.b32 %s6, %s3, 2;\n"                                             \
    "  add.u32 %s6, %s6, %s5;\n"                                           \
    "  mad.lo.u32 %s7, %s3, 0x9E3779B1, %s2;\n"                            \
    "  st.volatile.shared.u32 [%s6], %s7;\n"                               \
    "  add.u32 %s3, %s3, %s4;\n"                                           \
    "  bra MORE;\n"                                                        \
    "OVER:\n"                                                              \
    "  ret;\n"                                                             \
    "}\n"                                                                  \
    ".visible .entry ce_sum(.param .u64 p_at, .param .u64 p_words,"        \
    " .param .u64 p_salt, .param .u64 p_out)\n"                            \
    "{\n"                                                                  \
    "  .reg .pred %p<2>;\n"                                                \
    "  .reg .b32 %r<6>;\n"                                                 \
    "  .reg .b64 %rd<16>;\n"                                               \
    "  ld.param.u64 %rd1, [p_at];\n"                                       \
    "  ld.param.u64 %rd2, [p_words];\n"                                    \
    "  ld.param.u64 %rd3, [p_salt];\n"                                     \
    "  ld.param.u64 %rd4, [p_out];\n"                                      \
    "  mov.u32 %r1, %ctaid.x;\n"                                           \
    "  mov.u32 %r2, %ntid.x;\n"                                            \
    "  mov.u32 %r3, %tid.x;\n"                                             \
    "  mov.u32 %r4, %nctaid.x;\n"                                          \
    "  mul.wide.u32 %rd5, %r1, %r2;\n"                                     \
    "  cvt.u64.u32 %rd6, %r3;\n"                                           \
    "  add.u64 %rd5, %rd5, %rd6;\n"                                        \
    "  mul.wide.u32 %rd7, %r4, %r2;\n"                                     \
    "  mov.u64 %rd8, 0;\n"                                                 \
    "NEXT:\n"                                                              \
    "  setp.ge.u64 %p1, %rd5, %rd2;\n"                                     \
    "  @%p1 bra DONE;\n"                                                   \
    "  shl.b64 %rd9, %rd5, 2;\n"                                           \
    "  add.u64 %rd9, %rd1, %rd9;\n"                                        \
    "  ld.global.u32 %r5, [%rd9];\n"                                       \
    "  cvt.u64.u32 %rd10, %r5;\n"                                          \
    "  add.u64 %rd10, %rd10, %rd3;\n"                                      \
    "  add.u64 %rd11, %rd5, 1;\n"                                          \
    "  mad.lo.u64 %rd10, %rd11, 0x9E3779B97F4A7C15, %rd10;\n"              \
    "  shr.u64 %rd12, %rd10, 30;\n"                                        \
    "  xor.b64 %rd10, %rd10, %rd12;\n"                                     \
    "  mul.lo.u64 %rd10, %rd10, 0xBF58476D1CE4E5B9;\n"                     \
    "  shr.u64 %rd12, %rd10, 31;\n"                                        \
    "  xor.b64 %rd10, %rd10, %rd12;\n"                                     \
    "  add.u64 %rd8, %rd8, %rd10;\n"                                       \
    "  add.u64 %rd5, %rd5, %rd7;\n"                                        \
    "  bra NEXT;\n"                                                        \
    "DONE:\n"                                                              \
    "  red.global.add.u64 [%rd4], %rd8;\n"                                 \
    "  ret;\n"                                                             \
    "}\n"

#endif
