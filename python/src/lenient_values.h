#pragma once

#include "module.h"

/// Arguments that take what ONNX Runtime's bindings take, which pybind11 made: more than nanobind's own conversions.
namespace rh::python {

/// What has a truth value by `__bool__`, and None.
struct Flag {
  bool value = false;
  operator bool() const { return value; }
};

/// An integer, or what becomes one by `__index__` or `__int__`, but no float of Python's.
template <typename T>
struct Whole {
  T value = 0;
  operator T() const { return value; }
};

/// A str, or its bytes.
struct Text {
  std::string value;
  operator const std::string&() const { return value; }
};

}  // namespace rh::python

namespace nanobind::detail {

template <>
struct type_caster<rh::python::Flag> {
  NB_TYPE_CASTER(rh::python::Flag, const_name("bool"))

  bool from_python(handle src, uint8_t, cleanup_list*) noexcept {
    if (!src.is_none() && !PyType_GetSlot(Py_TYPE(src.ptr()), Py_nb_bool)) return false;
    const int truth = PyObject_IsTrue(src.ptr());
    if (truth < 0) PyErr_Clear();
    value.value = truth > 0;
    return truth >= 0;
  }
};

template <typename T>
struct type_caster<rh::python::Whole<T>> {
  NB_TYPE_CASTER(rh::python::Whole<T>, const_name("int"))

  bool from_python(handle src, uint8_t flags, cleanup_list* cleanup) noexcept {
    if (PyFloat_Check(src.ptr())) return false;
    make_caster<T> number;
    bool taken = number.from_python(src, flags, cleanup);
    if (!taken && !PyLong_Check(src.ptr()) && PyNumber_Check(src.ptr())) {
      const object whole = steal(PyNumber_Long(src.ptr()));
      if (!whole.is_valid()) PyErr_Clear();
      taken = whole.is_valid() && number.from_python(whole, flags, cleanup);
    }
    if (taken) value.value = number.value;
    return taken;
  }
};

template <>
struct type_caster<rh::python::Text> {
  NB_TYPE_CASTER(rh::python::Text, const_name("str"))

  bool from_python(handle src, uint8_t flags, cleanup_list* cleanup) noexcept {
    if (PyBytes_Check(src.ptr())) {
      value.value.assign(PyBytes_AsString(src.ptr()), static_cast<size_t>(PyBytes_Size(src.ptr())));
      return true;
    }
    if (PyByteArray_Check(src.ptr())) {
      value.value.assign(PyByteArray_AsString(src.ptr()), static_cast<size_t>(PyByteArray_Size(src.ptr())));
      return true;
    }
    make_caster<std::string> text;
    if (!text.from_python(src, flags, cleanup)) return false;
    value.value = std::move(text.value);
    return true;
  }
};

}  // namespace nanobind::detail

namespace rh::python {

/// Properties of a class's fields.
template <typename Class>
void flag_field(nb::class_<Class>& bound, const char* name, bool Class::* field) {
  bound.def_prop_rw(
      name, [field](const Class& self) { return self.*field; }, [field](Class& self, Flag value) { self.*field = value; },
      nb::for_setter(nb::arg("value").none()));
}

template <typename Class>
void whole_field(nb::class_<Class>& bound, const char* name, int Class::* field) {
  bound.def_prop_rw(
      name, [field](const Class& self) { return self.*field; }, [field](Class& self, Whole<int> value) { self.*field = value; });
}

template <typename Class>
void text_field(nb::class_<Class>& bound, const char* name, std::string Class::* field) {
  bound.def_prop_rw(
      name, [field](const Class& self) { return self.*field; }, [field](Class& self, Text text) { self.*field = std::move(text.value); });
}

/// One of an enumeration's own members: no number.
template <typename Class, typename Enum>
void enum_field(nb::class_<Class>& bound, const char* name, Enum Class::* field) {
  bound.def_prop_rw(
      name, [field](const Class& self) { return self.*field; }, [field](Class& self, Enum value) { self.*field = value; },
      nb::for_setter(nb::arg("value").noconvert()));
}

}  // namespace rh::python
