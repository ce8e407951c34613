#include "base/error.h"

#include <algorithm>
#include <new>

#include "base/out_of_memory.h"

namespace rh {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::ok: return "ok";
    case ErrorCode::fail: return "fail";
    case ErrorCode::invalid_argument: return "invalid argument";
    case ErrorCode::no_such_file: return "no such file";
    case ErrorCode::no_model: return "no model";
    case ErrorCode::engine_error: return "engine error";
    case ErrorCode::runtime_exception: return "runtime exception";
    case ErrorCode::invalid_protobuf: return "invalid protobuf";
    case ErrorCode::model_loaded: return "model already loaded";
    case ErrorCode::not_implemented: return "not implemented";
    case ErrorCode::invalid_graph: return "invalid graph";
    case ErrorCode::ep_fail: return "execution provider failure";
    case ErrorCode::load_canceled: return "load canceled";
    case ErrorCode::requires_compilation: return "model requires compilation";
    case ErrorCode::not_found: return "not found";
  }
  return "unknown error";
}

Error::Error(ErrorCode code, std::string message, Where where) : code_(code), message_(std::move(message)), where_(std::move(where)) {
  compose();
}

void Error::add(const Where& where) {
  const auto fill = [](std::string& field, const std::string& value) {
    if (field.empty()) field = value;
  };
  fill(where_.file, where.file);
  fill(where_.node, where.node);
  fill(where_.op, where.op);
  fill(where_.tensor, where.tensor);
  compose();
}

void Error::compose() {
  std::string place;
  const auto part = [&](const char* label, const std::string& value) {
    if (value.empty()) return;
    place += place.empty() ? " [" : ", ";
    place += label;
    place += value;
  };
  part("node ", where_.node);
  part("operator ", where_.op);
  part("tensor ", where_.tensor);
  part("model ", where_.file);
  what_ = message_ + (place.empty() ? place : place + "]");
  std::replace(what_.begin(), what_.end(), '\0', '?');  // names come from files; what() is a C string
}

Error error_of(const std::bad_alloc& problem) {
  const auto* known = dynamic_cast<const OutOfMemory*>(&problem);
  if (!known) return Error(ErrorCode::runtime_exception, "out of memory: give smaller inputs, or free memory");
  return Error(ErrorCode::runtime_exception,
               fmt::format("out of memory: {} bytes were asked for{}{}: give smaller inputs, or free memory", known->bytes(),
                           known->purpose() ? " for " : "", known->purpose() ? known->purpose() : ""));
}

namespace {
const Status kOutOfMemory(ErrorCode::runtime_exception, "out of memory");  // copies take no memory
}

Status status_of_current_exception() {
  try {
    try {
      throw;
    } catch (const Error& error) {
      return Status(error);
    } catch (const std::bad_alloc& problem) {
      return Status(error_of(problem));
    } catch (const std::exception& error) {
      return Status(ErrorCode::runtime_exception, error.what());
    } catch (...) {
      return Status(ErrorCode::runtime_exception, "unknown exception");
    }
  } catch (...) {
    return kOutOfMemory;
  }
}

}  // namespace rh
