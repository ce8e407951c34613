#pragma once

#include <cstddef>
#include <cstdint>

#include "providers/kit/vendor_library.h"

namespace rh::openvino {

// OpenVINO's C interface, of which nothing but these declarations is needed to build. Types are the vendor's.
struct Core;
struct Model;
struct CompiledModel;
struct InferRequest;
struct VendorTensor;
struct ConstPort;

struct VendorVersion {
  const char* build_number;  ///< "2026.4.1-22982-..."
  const char* description;
};

struct VendorShape {
  int64_t rank;
  int64_t* dims;
};

struct VendorDimension {
  int64_t least, most;  ///< most -1: no bound
};

struct VendorPartialShape {
  VendorDimension rank;
  VendorDimension* dims;
};

/// What is called when an inference is done, on a thread of OpenVINO's.
struct VendorCallback {
  void (*function)(void*);
  void* argument;
};

/// 0: all is well.
using VendorStatus = int;

/// X(member, result, arguments): ov_<member>. Functions with "..." take names and values of properties by turns.
#define RH_OPENVINO_FUNCTIONS(X)                                                                                        \
  X(get_openvino_version, VendorStatus, (VendorVersion*))                                                               \
  X(version_free, void, (VendorVersion*))                                                                               \
  X(get_last_err_msg, const char*, ())                                                                                  \
  X(free, void, (const char*))                                                                                          \
  X(core_create, VendorStatus, (Core**))                                                                                \
  X(core_free, void, (Core*))                                                                                           \
  X(core_set_property, VendorStatus, (const Core*, const char*, ...))                                                   \
  X(core_read_model_from_memory_buffer, VendorStatus, (const Core*, const char*, size_t, const VendorTensor*, Model**)) \
  X(core_compile_model, VendorStatus, (const Core*, const Model*, const char*, size_t, CompiledModel**, ...))           \
  X(core_import_model, VendorStatus, (const Core*, const char*, size_t, const char*, CompiledModel**))                  \
  X(core_get_property, VendorStatus, (const Core*, const char*, const char*, char**))                                   \
  X(compiled_model_export_model, VendorStatus, (const CompiledModel*, const char*))                                     \
  X(model_free, void, (Model*))                                                                                         \
  X(model_reshape_by_port_indexes, VendorStatus, (const Model*, const size_t*, const VendorPartialShape*, size_t))      \
  X(compiled_model_free, void, (CompiledModel*))                                                                        \
  X(compiled_model_inputs_size, VendorStatus, (const CompiledModel*, size_t*))                                          \
  X(compiled_model_outputs_size, VendorStatus, (const CompiledModel*, size_t*))                                         \
  X(compiled_model_input_by_index, VendorStatus, (const CompiledModel*, size_t, ConstPort**))                           \
  X(compiled_model_output_by_index, VendorStatus, (const CompiledModel*, size_t, ConstPort**))                          \
  X(compiled_model_set_property, VendorStatus, (const CompiledModel*, ...))                                             \
  X(compiled_model_create_infer_request, VendorStatus, (const CompiledModel*, InferRequest**))                          \
  X(port_get_element_type, VendorStatus, (const ConstPort*, int*))                                                      \
  X(const_port_get_shape, VendorStatus, (const ConstPort*, VendorShape*))                                               \
  X(output_const_port_free, void, (ConstPort*))                                                                         \
  X(tensor_create_from_host_ptr, VendorStatus, (int, VendorShape, void*, VendorTensor**))                               \
  X(tensor_get_shape, VendorStatus, (const VendorTensor*, VendorShape*))                                                \
  X(tensor_set_shape, VendorStatus, (VendorTensor*, VendorShape))                                                       \
  X(tensor_data, VendorStatus, (const VendorTensor*, void**))                                                           \
  X(tensor_free, void, (VendorTensor*))                                                                                 \
  X(shape_free, VendorStatus, (VendorShape*))                                                                           \
  X(infer_request_free, void, (InferRequest*))                                                                          \
  X(infer_request_set_input_tensor_by_index, VendorStatus, (InferRequest*, size_t, const VendorTensor*))                \
  X(infer_request_set_output_tensor_by_index, VendorStatus, (InferRequest*, size_t, const VendorTensor*))               \
  X(infer_request_get_output_tensor_by_index, VendorStatus, (const InferRequest*, size_t, VendorTensor**))              \
  X(infer_request_infer, VendorStatus, (InferRequest*))                                                                 \
  X(infer_request_set_callback, VendorStatus, (InferRequest*, const VendorCallback*))                                   \
  X(infer_request_start_async, VendorStatus, (InferRequest*))                                                           \
  X(infer_request_wait, VendorStatus, (InferRequest*))                                                                  \
  X(infer_request_cancel, VendorStatus, (InferRequest*))

/// The functions of one library.
struct Api {
  explicit Api(const kit::VendorLibrary& library)
      :
#define RH_LOOK_UP(name, result, arguments) name(library.function("ov_" #name)),
        RH_OPENVINO_FUNCTIONS(RH_LOOK_UP)
#undef RH_LOOK_UP
            path(library.path()) {
  }
#define RH_DECLARE(name, result, arguments) result(*name) arguments;
  RH_OPENVINO_FUNCTIONS(RH_DECLARE)
#undef RH_DECLARE
  const std::string& path;
};

}  // namespace rh::openvino
