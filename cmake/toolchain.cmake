# Compiler flags, compiler cache and linker.
find_program(RH_CCACHE ccache)
if(RH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${RH_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RH_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)  # views hand out references to what they look at
endif()
if(RH_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELEASE "-O1")  # asserts stay
else()
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()

if(RH_PCH AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")  # a time inside would defeat the compiler cache
endif()

find_program(RH_MOLD mold)
if(RH_MOLD AND NOT RH_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

if(RH_SANITIZE)
  # Enumerations of the C ABI hold whatever a caller gave. A null pointer ends the program without a check too, accesses beyond an object
  # are what the address sanitizer finds, and checks of sums of pointers would take a quarter of the compiler's time. The first finding ends
  # the program: code that went on behind each check would take the compiler up to half its time.
  add_compile_options(-fsanitize=${RH_SANITIZE} -fno-sanitize=enum,null,pointer-overflow,object-size -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${RH_SANITIZE})
  option(RH_SANITIZE_LINES "Reports of the sanitizers give lines beside functions; builds take a sixth longer" OFF)
  if(RH_SANITIZE_LINES)
    add_compile_options(-gline-tables-only)
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
      add_compile_options("SHELL:-mllvm -experimental-debug-variable-locations=false")  # else it looks for variables that are not there
    endif()
  endif()
endif()

# Kernels under the sanitizers: their loops are unrolled, so checks inline take the compiler minutes a file, and what a fuzzer would learn
# from their branches is nothing about the models it writes.
function(rh_set_sanitizer_flags)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    return()
  endif()
  if(RH_SANITIZE MATCHES address)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -mllvm -asan-instrumentation-with-call-threshold=0)
  endif()
  if(RH_SANITIZE MATCHES undefined)  # their vectors are read from any address, by instructions made for it
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=alignment)
  endif()
  if(RH_FUZZ)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS
      -fno-sanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)
  endif()
endfunction()

# Files whose name ends in the instruction set that they need. Nothing but micro-kernels may stand in them: an inline function of a
# shared header compiled here could be the one that the linker keeps.
function(rh_set_isa_flags)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "_avx2\\.cc$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c" SKIP_PRECOMPILE_HEADERS ON)
    elseif(source MATCHES "_avx512vnni\\.cc$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vnni;-mfma;-mf16c"
        SKIP_PRECOMPILE_HEADERS ON)
    elseif(source MATCHES "_avx512\\.cc$")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mfma;-mf16c;-mprfchw"
        SKIP_PRECOMPILE_HEADERS ON)
    elseif(source MATCHES "_amx\\.cc$")
      set_source_files_properties(${source} PROPERTIES
        COMPILE_OPTIONS "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mfma;-mf16c;-mamx-tile;-mamx-bf16" SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
