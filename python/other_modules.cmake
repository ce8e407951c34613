# Modules for interpreters that need not be here, by their headers alone: python_modules/<tag>/_native.so, built where they are asked for
# (scripts/wheel). The tag abi3 is for 3.12 and newer.
set(RH_PYTHON_HEADERS "" CACHE STRING "Tags and headers, such as cp310=/usr/include/python3.10;abi3=/usr/include/python3.12")
set_source_files_properties(${nanobind_ROOT}/../src/nb_combined.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
foreach(tag_and_headers IN LISTS RH_PYTHON_HEADERS)
  string(REGEX MATCH "^([^=]+)=(.+)$" matched "${tag_and_headers}")
  set(target python_${CMAKE_MATCH_1})
  add_library(${target} MODULE EXCLUDE_FROM_ALL ${module_sources} ${nanobind_ROOT}/../src/nb_combined.cpp)
  target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_MATCH_2} ${nanobind_ROOT}/../include ${nanobind_ROOT}/../ext/robin_map/include)
  target_compile_definitions(${target} PRIVATE NB_COMPACT_ASSERTIONS $<$<STREQUAL:${CMAKE_MATCH_1},abi3>:Py_LIMITED_API=0x030C0000>)
  target_compile_options(${target} PRIVATE -fno-strict-aliasing -fno-stack-protector -ffunction-sections -fdata-sections)
  target_link_libraries(${target} PRIVATE roundhouse)
  target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,-s)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME _native LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python_modules/${CMAKE_MATCH_1}
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  if(WIN32)  # where the interpreter's library is named, in its import library beside the headers
    string(REPLACE cp3 python3 library ${CMAKE_MATCH_1})
    string(REPLACE abi3 python3 library ${library})
    target_link_libraries(${target} PRIVATE ${CMAKE_MATCH_2}/../libs/${library}.lib)
    target_link_options(${target} PRIVATE -static)
    set_target_properties(${target} PROPERTIES SUFFIX .pyd)
  endif()
endforeach()
