# SPDX-License-Identifier: MIT
# Every build option of the project. Tuning belongs in configuration, not here.
option(CE_TESTS "Build the tests" ON)
option(CE_FUZZERS "Build libFuzzer targets (clang only)" OFF)
option(CE_COVERAGE "Instrument for gcov" OFF)
set(CE_SANITIZE "" CACHE STRING "Sanitizers: '', 'address;undefined' or 'thread'")

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# CMake's RelWithDebInfo says -DNDEBUG; asserts stay on in every build.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g -D_FORTIFY_SOURCE=2")
