# SPDX-License-Identifier: MIT
# ce_unit_test(test_lease SOURCES test_lease.c DEPS coordinator_core LABELS coordinator [WRAP read])
# ce_script_test(name COMMAND … LABELS service [TIMEOUT 120])
# A test that exits with 77 is skipped.
if(CE_TESTS)
  enable_testing()
  add_custom_target(thread_tests) # everything with label threads: what ThreadSanitizer runs
endif()

function(ce_unit_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;DEPS;LABELS;WRAP" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 30)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE flags ${arg_DEPS} PkgConfig::cmocka)
  target_compile_definitions(${name} PRIVATE CE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    CE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  foreach(symbol IN LISTS arg_WRAP)
    target_link_options(${name} PRIVATE LINKER:--wrap=${symbol})
  endforeach()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME unit.${name} COMMAND ${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS "unit;${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
    SKIP_RETURN_CODE 77)
  if("threads" IN_LIST arg_LABELS)
    add_dependencies(thread_tests ${name})
  endif()
endfunction()

function(ce_script_test name)
  cmake_parse_arguments(arg "" "TIMEOUT;LOCK" "COMMAND;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
    SKIP_RETURN_CODE 77
    ENVIRONMENT "CE_BIN=${CMAKE_BINARY_DIR}/bin;CE_SRC=${CMAKE_SOURCE_DIR};CE_BUILD=${CMAKE_BINARY_DIR};${arg_ENVIRONMENT}")
  if(arg_LOCK)
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK ${arg_LOCK})
  endif()
endfunction()
