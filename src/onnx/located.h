#pragma once

#include <protozero/exception.hpp>

#include "base/out_of_memory.h"

namespace rh::onnx {

/// Runs body(). An Error that leaves it gets the parts of where() that it lacks; malformed wire data becomes Error{invalid_protobuf}.
template <typename Body, typename MakeWhere>
auto located(MakeWhere&& where, Body&& body) {
  try {
    return body();
  } catch (Error& error) {
    error.add(where());
    throw;
  } catch (const std::bad_alloc& problem) {
    Error error = error_of(problem);
    error.add(where());
    throw error;
  } catch (const protozero::exception& problem) {
    throw Error(ErrorCode::invalid_protobuf,
                fmt::format("Protobuf parsing failed ({}): the data is truncated, damaged or not an ONNX message", problem.what()),
                where());
  }
}

}  // namespace rh::onnx
