#include "context_data.h"

#include <cstring>
#include <optional>
#include <stdexcept>

namespace rh::python {

namespace {

/// What a provider compiled, as the function that takes it sees it.
struct ContextData {
  const char* data = nullptr;  ///< null once the function has returned
  size_t size = 0;

  nb::bytes read(size_t offset, std::optional<size_t> length) const {
    if (!data) throw std::runtime_error("the data of a context is there only while the function that takes it runs");
    if (offset > size || length.value_or(0) > size - offset) {
      throw std::runtime_error("the data of the context has " + std::to_string(size) + " bytes, which does not hold " +
                               (length ? std::to_string(*length) + " bytes" : "any") + " from offset " + std::to_string(offset) + " on");
    }
    return nb::bytes(data + offset, length.value_or(size - offset));
  }
};

/// Where the function that gives the data of a context writes it.
struct ContextBuffer {
  OrtAllocator* allocator = nullptr;  ///< null once the function has returned
  size_t max_size = 0;
  char* data = nullptr;
  size_t size = 0;
  bool allocated = false;

  void check_open() const {
    if (!allocator) throw std::runtime_error("the buffer of a context is there only while the function that fills it runs");
  }
  void allocate(size_t bytes) {
    check_open();
    if (allocated) throw nb::value_error("the buffer of the context is allocated already");
    if (bytes > max_size) {
      throw nb::value_error(
          ("the data of the context has " + std::to_string(bytes) + " bytes, max_data_size is " + std::to_string(max_size)).c_str());
    }
    data = static_cast<char*>(allocator->Alloc(allocator, std::max<size_t>(bytes, 1)));
    if (!data) throw std::runtime_error("there is no memory for " + std::to_string(bytes) + " bytes of a context");
    std::memset(data, 0, bytes);
    size = bytes;
    allocated = true;
  }
  void write(nb::handle object, size_t offset) const {
    check_open();
    if (!allocated) throw nb::value_error("allocate() must be called before write()");
    Py_buffer view;
    if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
    const size_t bytes = static_cast<size_t>(view.len);
    const bool fits = offset <= size && bytes <= size - offset;
    if (fits && bytes != 0) std::memcpy(data + offset, view.buf, bytes);
    PyBuffer_Release(&view);
    if (!fits) {
      throw nb::value_error((std::to_string(bytes) + " bytes from offset " + std::to_string(offset) + " on do not fit the buffer of " +
                             std::to_string(size) + " bytes")
                                .c_str());
    }
  }
};

}  // namespace

OrtStatus* write_context(void* state, const char* name, const void* data, size_t bytes) {
  return called_back(ORT_EP_FAIL, [&] {
    static const char nothing = 0;
    const nb::object object = nb::cast(ContextData{data ? static_cast<const char*>(data) : &nothing, data ? bytes : 0});
    auto& view = nb::cast<ContextData&>(object);
    struct End {
      ContextData& view;
      ~End() { view.data = nullptr; }
    } end{view};
    (*static_cast<nb::object*>(state))(name, object);
  });
}

OrtStatus* ContextReader::read(void* state, const char* name, OrtAllocator* allocator, void** data, size_t* bytes) {
  *data = nullptr;
  *bytes = 0;
  return called_back(ORT_EP_FAIL, [&] {
    const auto& reader = *static_cast<const ContextReader*>(state);
    const nb::object object = nb::cast(ContextBuffer{.allocator = allocator, .max_size = reader.max_bytes});
    auto& buffer = nb::cast<ContextBuffer&>(object);
    struct End {
      ContextBuffer& buffer;
      ~End() {
        if (buffer.data) buffer.allocator->Free(buffer.allocator, buffer.data);
        buffer.data = nullptr;
        buffer.allocator = nullptr;
      }
    } end{buffer};
    reader.function(name, object);
    if (!buffer.allocated) {
      throw std::runtime_error("the function that reads contexts did not allocate the buffer for '" + std::string(name) + "'");
    }
    *data = std::exchange(buffer.data, nullptr);
    *bytes = buffer.size;
  });
}

void bind_context_data(nb::module_& module) {
  nb::class_<ContextData>(module, "OrtEpContextData", "What a provider compiled, on its way to a file of the caller.")
      .def_ro("size", &ContextData::size)
      .def("read", &ContextData::read, nb::arg("offset") = 0, nb::arg("length") = nb::none());
  nb::class_<ContextBuffer>(module, "OrtEpContextDataBuffer", "Bytes of what a provider compiled, over its own memory.")
      .def_ro("size", &ContextBuffer::size)
      .def_ro("max_size", &ContextBuffer::max_size)
      .def_ro("is_allocated", &ContextBuffer::allocated)
      .def("allocate", &ContextBuffer::allocate, nb::arg("size"))
      .def("write", &ContextBuffer::write, nb::arg("data"), nb::arg("offset") = 0);
}

}  // namespace rh::python
