#pragma once

#include <cstddef>
#include <cstdint>

#include "providers/kit/vendor_library.h"

namespace rh::migraphx {

// MIGraphX's C interface, of which nothing but these declarations is needed to build. Types are the vendor's.
struct Arguments;
struct Argument;
struct CompileOptions;
struct FileOptions;
struct OnnxOptions;
struct Parameters;
struct ParameterShapes;
struct Program;
struct Target;
struct VendorShape;
struct VendorShapes;

/// 0: all is well. What goes wrong is told on the standard error stream alone.
using VendorStatus = int;

/// X(member, arguments): migraphx_<member>.
#define RH_MIGRAPHX_FUNCTIONS(X)                                                          \
  X(target_create, (Target**, const char*))                                               \
  X(target_destroy, (Target*))                                                            \
  X(onnx_options_create, (OnnxOptions**))                                                 \
  X(onnx_options_destroy, (OnnxOptions*))                                                 \
  X(onnx_options_set_input_parameter_shape, (OnnxOptions*, const char*, size_t*, size_t)) \
  X(parse_onnx_buffer, (Program**, const void*, size_t, OnnxOptions*))                    \
  X(compile_options_create, (CompileOptions**))                                           \
  X(compile_options_destroy, (CompileOptions*))                                           \
  X(compile_options_set_offload_copy, (CompileOptions*, bool))                            \
  X(compile_options_set_exhaustive_tune_flag, (CompileOptions*, bool))                    \
  X(file_options_create, (FileOptions**))                                                 \
  X(file_options_destroy, (FileOptions*))                                                 \
  X(load, (Program**, const char*, FileOptions*))                                         \
  X(save, (Program*, const char*, FileOptions*))                                          \
  X(program_compile, (Program*, Target*, CompileOptions*))                                \
  X(program_run, (Arguments**, Program*, Parameters*))                                    \
  X(program_destroy, (Program*))                                                          \
  X(program_get_output_shapes, (VendorShapes**, Program*))                                \
  X(program_get_parameter_shapes, (ParameterShapes**, Program*))                          \
  X(program_parameter_shapes_get, (const VendorShape**, ParameterShapes*, const char*))   \
  X(program_parameter_shapes_names, (const char**, ParameterShapes*))                     \
  X(program_parameter_shapes_size, (size_t*, ParameterShapes*))                           \
  X(program_parameter_shapes_destroy, (ParameterShapes*))                                 \
  X(program_parameters_create, (Parameters**))                                            \
  X(program_parameters_add, (Parameters*, const char*, const Argument*))                  \
  X(program_parameters_destroy, (Parameters*))                                            \
  X(shape_dynamic, (bool*, const VendorShape*))                                           \
  X(shape_lengths, (const size_t**, size_t*, const VendorShape*))                         \
  X(shape_strides, (const size_t**, size_t*, const VendorShape*))                         \
  X(shape_type, (int*, const VendorShape*))                                               \
  X(shapes_get, (const VendorShape**, VendorShapes*, size_t))                             \
  X(shapes_size, (size_t*, VendorShapes*))                                                \
  X(shapes_destroy, (VendorShapes*))                                                      \
  X(argument_create, (Argument**, const VendorShape*, void*))                             \
  X(argument_destroy, (Argument*))                                                        \
  X(argument_buffer, (char**, const Argument*))                                           \
  X(argument_shape, (const VendorShape**, const Argument*))                               \
  X(arguments_get, (const Argument**, Arguments*, size_t))                                \
  X(arguments_size, (size_t*, Arguments*))                                                \
  X(arguments_destroy, (Arguments*))

/// The functions of one library.
struct Api {
  explicit Api(const kit::VendorLibrary& library){
#define RH_LOOK_UP(name, arguments) name = library.function("migraphx_" #name);
      RH_MIGRAPHX_FUNCTIONS(RH_LOOK_UP)
#undef RH_LOOK_UP
  }
#define RH_DECLARE(name, arguments) VendorStatus(*name) arguments = nullptr;
  RH_MIGRAPHX_FUNCTIONS(RH_DECLARE)
#undef RH_DECLARE
};

}  // namespace rh::migraphx
