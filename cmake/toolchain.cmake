# Compiler flags, compiler cache and linker.
find_program(RH_CCACHE ccache)
if(RH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${RH_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RH_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -ffp-contract=off)
option(RH_WERROR "Warnings are errors" OFF)
if(RH_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)  # views hand out references to what they look at
endif()
add_compile_options($<$<CONFIG:Debug>:-D_GLIBCXX_ASSERTIONS>)  # accesses beyond a vector, an empty optional, ...
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
  set(RH_COMPACT_LINK $<$<CONFIG:Release>:-Wl,--icf=all>)  # functions of the same code become one: no code of ours compares their addresses
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
