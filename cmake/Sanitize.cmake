# SPDX-License-Identifier: MIT
if(CE_SANITIZE)
  list(JOIN CE_SANITIZE "," ce_sanitizers)
  target_compile_options(flags INTERFACE -fsanitize=${ce_sanitizers} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(flags INTERFACE -fsanitize=${ce_sanitizers})
endif()
if(CE_COVERAGE)
  target_compile_options(flags INTERFACE --coverage)
  target_link_options(flags INTERFACE --coverage)
endif()
