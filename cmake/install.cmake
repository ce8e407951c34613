# What `cmake --install` and CPack lay out: headers, libraries, the command, and what find_package and pkg-config read. The Python package is a
# component of its own (python/CMakeLists.txt), which `pip install` alone takes. Components: runtime, onnxruntime_names, development.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The version of ONNX Runtime whose interface the headers have: 1.<ORT_API_VERSION>.0.
file(STRINGS ${PROJECT_SOURCE_DIR}/include/roundhouse/onnxruntime_c_api.h api_line REGEX "^#define ORT_API_VERSION [0-9]+")
string(REGEX REPLACE ".* ([0-9]+).*" "1.\\1.0" RH_INTERFACE_VERSION "${api_line}")

# Windows has what runs in one folder, where it is looked for, and what is linked in another.
set(folder ${CMAKE_INSTALL_LIBDIR})
if(WIN32)
  set(folder ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS roundhouse EXPORT RoundhouseTargets
  LIBRARY DESTINATION ${folder} COMPONENT runtime NAMELINK_COMPONENT development
  RUNTIME DESTINATION ${folder} COMPONENT runtime
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_INCLUDEDIR}/roundhouse)
foreach(name openvino migraphx cuda rocm)  # found beside the library
  if(TARGET provider_${name})
    install(TARGETS provider_${name} LIBRARY DESTINATION ${folder} COMPONENT runtime)
  endif()
endforeach()
foreach(name IN LISTS RH_OPTIONAL_LIBRARIES)
  install(TARGETS optional_${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
endforeach()
if(TARGET roundhouse_cli)
  install(TARGETS roundhouse_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endif()
if(TARGET roundhouse_static)
  install(TARGETS roundhouse_static EXPORT RoundhouseStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${CMAKE_INSTALL_INCLUDEDIR}/roundhouse)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/roundhouse DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

# Programs that were linked with ONNX Runtime's library, or look for its file, find this one: links, so that a process never has both.
# Windows has no such links: there the library has its second name as a file of its own.
if(WIN32)
  install(TARGETS onnxruntime_alias RUNTIME DESTINATION ${folder} COMPONENT onnxruntime_names
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
else()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/names)
  foreach(name libonnxruntime.so.1 libonnxruntime.so.${RH_INTERFACE_VERSION})
    file(CREATE_LINK libroundhouse.so.1 ${CMAKE_CURRENT_BINARY_DIR}/names/${name} SYMBOLIC)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/names/${name} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT onnxruntime_names)
  endforeach()
  file(CREATE_LINK libonnxruntime.so.1 ${CMAKE_CURRENT_BINARY_DIR}/names/libonnxruntime.so SYMBOLIC)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/names/libonnxruntime.so DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()

# rh_package_files(NAME VERSION): what find_package(NAME) reads.
function(rh_package_files name version)
  set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/${name})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/packages/${name}Config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/${name}Config.cmake
    INSTALL_DESTINATION ${folder} NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/${name}ConfigVersion.cmake VERSION ${version} COMPATIBILITY SameMajorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}Config.cmake ${CMAKE_CURRENT_BINARY_DIR}/${name}ConfigVersion.cmake
    DESTINATION ${folder} COMPONENT development)
endfunction()
rh_package_files(Roundhouse ${PROJECT_VERSION})
rh_package_files(onnxruntime ${RH_INTERFACE_VERSION})
install(EXPORT RoundhouseTargets NAMESPACE Roundhouse:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Roundhouse COMPONENT development)
if(TARGET roundhouse_static)
  install(EXPORT RoundhouseStaticTargets NAMESPACE Roundhouse:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Roundhouse COMPONENT development)
endif()

# rh_pkg_config(NAME VERSION): NAME.pc, which finds its prefix from where it lies.
function(rh_pkg_config name version)
  set(RH_PC_NAME ${name})
  set(RH_PC_VERSION ${version})
  file(RELATIVE_PATH RH_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" RH_PC_TO_PREFIX "${RH_PC_TO_PREFIX}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/packages/library.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endfunction()
rh_pkg_config(libroundhouse ${PROJECT_VERSION})
rh_pkg_config(libonnxruntime ${RH_INTERFACE_VERSION})

# `cpack` in the build folder: Debian packages (libraries and command; names of ONNX Runtime; headers).
set(CPACK_GENERATOR DEB)
if(WIN32)
  set(CPACK_GENERATOR ZIP)
endif()
set(CPACK_PACKAGE_NAME roundhouse)
set(CPACK_PACKAGE_VENDOR "Roundhouse")
set(CPACK_PACKAGE_CONTACT "Roundhouse <roundhouse@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Runs ONNX models; speaks ONNX Runtime's interfaces")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_COMPONENTS_ALL runtime onnxruntime_names development)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME roundhouse)
set(CPACK_DEBIAN_ONNXRUNTIME_NAMES_PACKAGE_NAME roundhouse-onnxruntime-names)
set(CPACK_DEBIAN_ONNXRUNTIME_NAMES_PACKAGE_CONFLICTS "libonnxruntime, libonnxruntime-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME roundhouse-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_ONNXRUNTIME_NAMES_DEPENDS runtime)
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS runtime onnxruntime_names)
include(CPack)
