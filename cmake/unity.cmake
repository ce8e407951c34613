# rh_unite(TARGET PATTERN SIZE [OVERLOADS]): the target's sources whose paths match, up to SIZE at a time, as one translation unit each, if
# RH_UNITY is on. Most of what a small source costs the compiler is its headers and the standard library's templates. Sources that declare
# the same name at the margin (a class, a constant, F, as families of functions are called for short, or a function), or have different
# options, go to different units; with OVERLOADS functions of one name may meet, as those of operators do, whose parameters tell them apart.
function(rh_unite target pattern size)
  if(NOT RH_UNITY)
    return()
  endif()
  # The name of a united source is not its own, so GCC takes what it keeps to itself for part of a header; and what it inlines there makes it
  # lose sight of values: the preset dev, which unites nothing, has these warnings.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage;-Wno-maybe-uninitialized;-Wno-array-bounds;-Wno-stringop-overflow>")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "${pattern}")
  list(FILTER sources EXCLUDE REGEX "_(avx2|avx512|avx512vnni|amx|windows)\\.cc$")  # Windows' header defines words that others use
  string(MAKE_C_IDENTIFIER "${pattern}" name)
  set(plain "")
  set(targets "")
  foreach(source IN LISTS sources)
    file(STRINGS ${source} each_target REGEX "hwy/foreach_target[.]h")  # it includes itself once an instruction set
    if(each_target)
      list(APPEND targets ${source})
    else()
      list(APPEND plain ${source})
    endif()
  endforeach()

  rh_group(groups "${plain}" ${size} ${ARGN})
  foreach(group IN LISTS groups)
    foreach(source IN LISTS group_${group})
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}_${group})
      get_property(options SOURCE ${source} PROPERTY COMPILE_OPTIONS)
      if(options)  # a source that has options of its own would be left out, so its unit has them
        set_property(SOURCE ${source} PROPERTY COMPILE_OPTIONS)
        get_property(without_pch SOURCE ${source} PROPERTY SKIP_PRECOMPILE_HEADERS)
        set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${name}_${group}_cxx.cxx
          PROPERTIES COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS "${without_pch}")
      endif()
    endforeach()
  endforeach()

  # Sources for each instruction set: one unit reads Highway's headers once a set for all of its sources.
  rh_group(groups "${targets}" 4 ALIASES)
  foreach(group IN LISTS groups)
    list(JOIN group_${group} "\"\n#include \"" includes)
    set(body ${CMAKE_CURRENT_BINARY_DIR}/united/${name}_${group}.inc)
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/united/${name}_${group}.cc)
    file(CONFIGURE OUTPUT ${body} CONTENT "#include \"${includes}\"\n" @ONLY)
    file(CONFIGURE OUTPUT ${unit} @ONLY CONTENT "#include \"compute/simd/hwy_targets.h\"
#define RH_UNITED_TARGETS
#define HWY_TARGET_INCLUDE \"${body}\"
#include <hwy/foreach_target.h>
#include \"${body}\"
")
    list(GET group_${group} 0 first)
    get_property(options SOURCE ${first} PROPERTY COMPILE_OPTIONS)
    get_property(without_pch SOURCE ${first} PROPERTY SKIP_PRECOMPILE_HEADERS)
    set_source_files_properties(${unit} PROPERTIES COMPILE_OPTIONS "${options}" SKIP_UNITY_BUILD_INCLUSION ON
      SKIP_PRECOMPILE_HEADERS "${without_pch}")
    set_source_files_properties(${group_${group}} PROPERTIES HEADER_FILE_ONLY ON)
    target_sources(${target} PRIVATE ${unit})
  endforeach()
endfunction()

# rh_group(NUMBERS SOURCES SIZE [OVERLOADS] [ALIASES]): NUMBERS are those of the groups; the caller's group_<number> has sources that may
# stand in one unit.
function(rh_group out sources size)
  set(last 0)
  set(numbers "")
  foreach(source IN LISTS sources)
    rh_declared_names(declared ${source} ${ARGN})
    get_property(options SOURCE ${source} PROPERTY COMPILE_OPTIONS)
    set(chosen 0)
    set(group 1)
    while(group LESS_EQUAL last AND NOT chosen)
      list(LENGTH group_${group} count)
      if(count LESS size AND "${options}" STREQUAL "${options_${group}}")
        set(chosen ${group})
        foreach(word IN LISTS declared)
          if(word IN_LIST names_${group})
            set(chosen 0)
            break()
          endif()
        endforeach()
      endif()
      math(EXPR group "${group} + 1")
    endwhile()
    if(NOT chosen)
      math(EXPR last "${last} + 1")
      set(chosen ${last})
      set(options_${chosen} "${options}")
      set(group_${chosen} "")
      set(names_${chosen} "")
      list(APPEND numbers ${chosen})
    endif()
    list(APPEND group_${chosen} ${source})
    list(APPEND names_${chosen} ${declared})
  endforeach()
  foreach(group IN LISTS numbers)
    set(group_${group} ${group_${group}} PARENT_SCOPE)
  endforeach()
  set(${out} ${numbers} PARENT_SCOPE)
endfunction()

# What a source declares at the margin, more or less: a name too many costs a unit, one too few the build.
function(rh_declared_names out source)
  set(names "")
  set(alias "using F")
  if("ALIASES" IN_LIST ARGN)
    set(alias "using [A-Za-z]+")
  endif()
  file(STRINGS ${source} lines REGEX "^((class|struct|enum class) [A-Za-z]|${alias} =|(constexpr|const|thread_local|std::atomic)[ <]|[A-Za-z_][A-Za-z0-9_:<>,&* ]* [*&]?[a-z][a-z0-9_]*[(])")
  foreach(line IN LISTS lines)
    if(line MATCHES "^(class|struct|enum class|using) ([A-Za-z0-9_]+)")
      list(APPEND names ${CMAKE_MATCH_2})
    elseif(line MATCHES "^[A-Za-z_][A-Za-z0-9_:<>,&* ]* [*&]?([a-z][a-z0-9_]*)[(]")
      if(NOT "OVERLOADS" IN_LIST ARGN)
        list(APPEND names ${CMAKE_MATCH_1})
      endif()
    else()
      string(REGEX MATCHALL "[a-zA-Z_]*k[A-Z][A-Za-z0-9]*" found "${line}")
      list(APPEND names ${found})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES names)
  set(${out} ${names} PARENT_SCOPE)
endfunction()
