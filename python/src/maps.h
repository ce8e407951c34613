#pragma once

#include <optional>

#include "module.h"
#include "types.h"

namespace rh::python {

/// A map from a dict whose keys are all integers or all text, and whose values are all numbers or all text: numbers get the declared
/// floating type, floats where none is declared the type float. Nothing for other dicts.
std::optional<Ort::Value> map_from_plain_dict(const nb::dict& dict, ONNXTensorElementDataType declared);

/// The dicts of maps, one after the other. Maps that share the memory of their keys, as those of ZipMap do, get the same objects as keys.
class DictMaker {
 public:
  nb::dict make(const Ort::Value& map);

 private:
  bool has_keys_of(const Ort::Value& keys, size_t count) const { return count_ == count && data_ == keys.GetTensorRawData(); }

  const void* data_ = nullptr;  // of the keys that the last dict has
  size_t count_ = 0;
  std::vector<nb::object> keys_;
  nb::dict last_;
};

/// The dicts of a sequence whose maps share their keys and lie one after the other, as ZipMap gives them: far less work for each than
/// DictMaker's. Nothing for other sequences.
std::optional<nb::list> dicts_of_rows(const Ort::Value& sequence);

/// The texts of a tensor of strings as Python objects, written to `items`, which hold objects or null before. Equal ones may be one object.
void texts_to_objects(const Ort::Value& strings, PyObject** items, size_t count);

}  // namespace rh::python
