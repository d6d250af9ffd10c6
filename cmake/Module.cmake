# SPDX-License-Identifier: MIT
# ce_library(name SOURCES a.c … HEADERS a.h … DEPS other PkgConfig::x …)
#   a static library of one folder. Each header is also compiled alone
#   (target all_verify_interface_header_sets).
# ce_program(name SOURCES main.c … DEPS …)
#   an executable, relocatable: its libraries are looked for in ../lib first.
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)

function(ce_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;DEPS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR} FILES ${arg_HEADERS})
  target_link_libraries(${name} PRIVATE flags PUBLIC ${arg_DEPS})
endfunction()

function(ce_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE flags ${arg_DEPS})
  # RPATH, not RUNPATH: it also serves the libraries' own dependencies.
  target_link_options(${name} PRIVATE LINKER:--disable-new-dtags)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin
    INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS ${name} RUNTIME_DEPENDENCY_SET ce_runtime COMPONENT runtime)
endfunction()
