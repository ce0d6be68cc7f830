# SPDX-License-Identifier: Apache-2.0
# A room is one static library; its arrows are the USES list (lib/README.md).
#
#   tinker_library(forward SOURCES pool.cc call.cc USES base loop http codec LINKS PkgConfig::libevent)
#
# USES names rooms, LINKS anything else. Headers are included from lib/: #include "forward/pool.h".
function(tinker_library name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;USES;LINKS" ${ARGN})
  add_library(tinker_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(tinker_${name} PUBLIC ${PROJECT_SOURCE_DIR}/lib)
  list(TRANSFORM ROOM_USES PREPEND tinker_)
  target_link_libraries(tinker_${name} PUBLIC ${ROOM_USES} ${ROOM_LINKS})
endfunction()

# One program of unit tests a room: tests/unit/<room>/*_test.cc, found by ctest as <room>.<Suite>.<Test>.
function(tinker_unit_test room)
  cmake_parse_arguments(TEST "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${room}_test ${TEST_SOURCES})
  target_include_directories(${room}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${room}_test PRIVATE tinker_${room} ${TEST_LINKS} GTest::gmock GTest::gtest_main)
  target_compile_options(${room}_test PRIVATE -O0)  # a third less time to build; what is tested is optimised
  add_dependencies(unit_tests ${room}_test)
  target_compile_definitions(${room}_test PRIVATE TINKER_VECTORS="${PROJECT_SOURCE_DIR}/tests/vectors")
  set_target_properties(${room}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME unit.${room} COMMAND ${room}_test)
  set_tests_properties(unit.${room} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()
