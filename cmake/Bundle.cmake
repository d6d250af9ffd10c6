# SPDX-License-Identifier: MIT
# Installation of the relocatable folder (scripts/bundle): bin/ lib/ share/ce/, component `runtime`.
# The programs' libraries go along, but for the C library's family and the compiler's run time, which
# belong to the host. CUDA is no dependency: it is opened at run time.

function(ce_bundle_libraries)
  install(RUNTIME_DEPENDENCY_SET ce_runtime COMPONENT runtime DESTINATION lib
    PRE_EXCLUDE_REGEXES
      [[^ld-linux]] [[^libc\.so]] [[^libm\.so]] [[^libpthread\.so]] [[^libdl\.so]] [[^librt\.so]]
      [[^libresolv\.so]] [[^libutil\.so]] [[^libgcc_s\.so]]
    POST_EXCLUDE_REGEXES [[libcuda\.so]])
endfunction()
# When every program is known.
cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR} CALL ce_bundle_libraries)

if(CE_TESTS)
  ce_script_test(service.bundle COMMAND python3 -B ${CMAKE_SOURCE_DIR}/tests/service/bundle.py
    LABELS service)
endif()
