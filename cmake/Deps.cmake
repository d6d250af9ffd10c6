# SPDX-License-Identifier: MIT
# Every foreign library, found in one place. CUDA is headers only: libraries are opened at run time.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zmq REQUIRED IMPORTED_TARGET libzmq)
pkg_check_modules(jansson REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(sqlite REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(microhttpd REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(curl REQUIRED IMPORTED_TARGET libcurl)
if(CE_TESTS)
  pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)
endif()
find_path(MSGPACK_INCLUDE msgpack.h REQUIRED)
find_library(MSGPACK_LIBRARY NAMES msgpack-c msgpackc REQUIRED)

# cuda.h, nvrtc.h, cupti.h: from a toolkit, or from the PyPI wheels that scripts/deps unpacks.
find_path(CE_CUDA_INCLUDE cuda.h
  HINTS $ENV{CE_CUDA_ROOT}/include /opt/ce-cuda/include
        /usr/local/cuda/include /usr/local/cuda/targets/x86_64-linux/include REQUIRED)
find_path(CE_NVRTC_INCLUDE nvrtc.h HINTS ${CE_CUDA_INCLUDE} REQUIRED)
add_library(cuda_headers INTERFACE)
target_include_directories(cuda_headers SYSTEM INTERFACE ${CE_CUDA_INCLUDE} ${CE_NVRTC_INCLUDE})
message(STATUS "CUDA headers: ${CE_CUDA_INCLUDE}")
