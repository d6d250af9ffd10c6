# SPDX-License-Identifier: MIT
# `flags` carries the warnings, the language level and the include root to every target.
add_library(flags INTERFACE)
target_include_directories(flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(flags INTERFACE _GNU_SOURCE)
target_compile_options(flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
  -Wmissing-prototypes -Wformat=2 -Wvla -Wundef -Wwrite-strings -Wcast-qual -Wpointer-arith
  -Wswitch-enum -Wimplicit-fallthrough -Wdouble-promotion
  -fno-common -fstack-protector-strong -fvisibility=hidden
  $<$<C_COMPILER_ID:GNU>:-Wlogical-op> $<$<C_COMPILER_ID:GNU>:-Wduplicated-cond>
  $<$<C_COMPILER_ID:GNU>:-Wduplicated-branches>)
# Not in tests: the optimiser does not know that a failed assertion of cmocka does not return.
set(ce_in_tests $<FILTER:$<TARGET_PROPERTY:SOURCE_DIR>,INCLUDE,^${CMAKE_SOURCE_DIR}/tests>)
target_compile_options(flags INTERFACE $<$<STREQUAL:${ce_in_tests},>:-Wnull-dereference>)
