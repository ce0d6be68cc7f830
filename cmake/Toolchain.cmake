# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, sanitizers; ccache and a fast linker where the machine has them.
include(CTest)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
find_program(MOLD mold)
find_program(LLD ld.lld)
if(MOLD)
  add_link_options(-fuse-ld=mold)
elseif(LLD)
  add_link_options(-fuse-ld=lld)
endif()

add_compile_definitions(TINKER_VERSION="${PROJECT_VERSION}")
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers -fno-omit-frame-pointer)

set(TINKER_SANITIZE "" CACHE STRING "address,undefined or thread: instrument everything with these sanitizers")
if(TINKER_SANITIZE)
  add_compile_options(-fsanitize=${TINKER_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TINKER_SANITIZE})
endif()
