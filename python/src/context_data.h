#pragma once

#include <memory>

#include "module.h"

namespace rh::python {

/// A function of Python that gives the data of EPContext nodes, and the most bytes that it may give for one.
struct ContextReader {
  nb::object function;
  size_t max_bytes = 0;

  /// An OrtReadNamedBufferFunc over a ContextReader.
  static OrtStatus* ORT_API_CALL read(void* state, const char* name, OrtAllocator* allocator, void** data, size_t* bytes);
};

/// An OrtWriteNamedBufferFunc over a nb::object: a function of Python that takes the data of EPContext nodes.
OrtStatus* ORT_API_CALL write_context(void* state, const char* name, const void* data, size_t bytes);

/// Calls Python in a function that the library calls, from any thread; an exception becomes a status of that code.
template <typename F>
OrtStatus* called_back(OrtErrorCode code, F&& body) {
  const nb::gil_scoped_acquire held;
  try {
    body();
    return nullptr;
  } catch (nb::python_error& error) {
    const std::string type = nb::cast<std::string>(error.type().attr("__name__"));
    return Ort::GetApi().CreateStatus(code, (type + ": " + nb::cast<std::string>(nb::str(error.value()))).c_str());
  } catch (const std::exception& error) {
    return Ort::GetApi().CreateStatus(code, error.what());
  }
}

}  // namespace rh::python
