# Cross-compiles for Windows on x86-64 by zig (Python package ziglang): clang, and its C++ library inside of what is built. RH_ZIG, or ZIG
# of the environment, names the program; else it is looked for in PATH and in build/zig, a virtual environment. MinGW's g++ will not do: it
# keeps vectors of 32 bytes at addresses that are not aligned.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RH_ZIG)
if(NOT RH_ZIG AND DEFINED ENV{ZIG})
  set(RH_ZIG $ENV{ZIG})
endif()
file(GLOB zig_folders ${CMAKE_CURRENT_LIST_DIR}/../build/zig/lib/python3*/site-packages/ziglang)
find_program(RH_ZIG zig HINTS ${zig_folders} REQUIRED)

# CMake wants one file a tool.
set(tools ${CMAKE_BINARY_DIR}/tools)
set(cc "cc -target x86_64-windows-gnu")
set(c++ "c++ -target x86_64-windows-gnu")
foreach(tool cc c++ ar ranlib dlltool)
  if(NOT DEFINED ${tool})
    set(${tool} ${tool})
  endif()
  file(CONFIGURE OUTPUT ${tools}/zig-${tool} CONTENT "#!/bin/sh\nexec '${RH_ZIG}' ${${tool}} \"$@\"\n")
  file(CHMOD ${tools}/zig-${tool} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
set(CMAKE_C_COMPILER ${tools}/zig-cc)
set(CMAKE_CXX_COMPILER ${tools}/zig-c++)
set(CMAKE_AR ${tools}/zig-ar)
set(CMAKE_RANLIB ${tools}/zig-ranlib)
set(CMAKE_DLLTOOL ${tools}/zig-dlltool)
# What zig adds by itself is taken away: debug data, frame pointers, and checks of undefined behaviour where nothing is optimised.
set(CMAKE_C_FLAGS_INIT "-g0 -fomit-frame-pointer -fno-sanitize=undefined")
set(CMAKE_CXX_FLAGS_INIT "-g0 -fomit-frame-pointer -fno-sanitize=undefined")
# Debian's libraries for MinGW in C, such as zlib's.
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
