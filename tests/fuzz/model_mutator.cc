#include "fuzz/model_mutator.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>

#include "fuzz/message_tree.h"
#include "onnx/proto.h"
#include "ops/registry.h"
#include "tensor/dtype.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace rh::fuzz {

namespace {

namespace field = onnx::field;

std::string mutate_bytes(std::string_view bytes, size_t max_size) {
  std::string result(bytes.substr(0, max_size));
  const size_t size = result.size();
  result.resize(std::max(max_size, size_t{1}));
  result.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(result.data()), size, result.size()));
  return result;
}

/// A field and the message that it stands in.
struct Place {
  Message* message;
  size_t index;
  Field& field() const { return message->fields[index]; }
};

class Mutator {
 public:
  Mutator(Message& model, uint32_t seed) : model_(model), random_(seed) { collect(model); }

  void run() {
    if (places_.empty()) return;
    using Change = void (Mutator::*)();
    static constexpr Change kChanges[] = {&Mutator::change_field,    &Mutator::change_field,    &Mutator::change_field,
                                          &Mutator::change_integers, &Mutator::change_tensor,   &Mutator::change_tensor,
                                          &Mutator::change_edge,     &Mutator::change_operator, &Mutator::open_type,
                                          &Mutator::remove_field,    &Mutator::copy_field,      &Mutator::to_initializer};
    (this->*kChanges[random_() % std::size(kChanges)])();
  }

  /// Puts a field of `other` in the place of one of the same kind here, or beside it.
  void take_from(Mutator& other) {
    if (places_.empty() || other.places_.empty()) return;
    for (int tries = 0; tries < 20; ++tries) {
      const Place to = any(places_), from = other.any(other.places_);
      if (!to.field().schema || to.field().schema != from.field().schema) continue;
      if (random_() % 3) {
        to.field() = from.field();
      } else {
        to.message->fields.push_back(from.field());
      }
      return;
    }
  }

 private:
  void collect(Message& message) {
    for (size_t i = 0; i < message.fields.size(); ++i) {
      places_.push_back({&message, i});
      if (message.fields[i].message) collect(*message.fields[i].message);
    }
  }

  const Place& any(const std::vector<Place>& places) { return places[random_() % places.size()]; }

  std::vector<Place> where(const std::function<bool(const Field&)>& wanted) const {
    std::vector<Place> found;
    std::copy_if(places_.begin(), places_.end(), std::back_inserter(found), [&](const Place& place) { return wanted(place.field()); });
    return found;
  }

  std::vector<Place> of_kind(FieldKind kind) const {
    return where([&](const Field& f) { return f.schema && f.kind() == kind; });
  }

  uint64_t number() { return static_cast<uint64_t>(interesting_integer(random_)); }

  void change_field() {
    Field& f = any(places_).field();
    switch (f.kind()) {
      case FieldKind::integer: f.value = random_() % 4 ? number() : random_() % 24; break;
      case FieldKind::real: f.value = random_() % 2 ? random_() : bits_of_real(); break;
      case FieldKind::integers: change_integers_of(f); break;
      case FieldKind::name: change_edge(); break;
      case FieldKind::op_type: change_operator(); break;
      case FieldKind::message:
        if (!f.message) f.bytes = mutate_bytes(f.bytes, f.bytes.size() + 16);
        break;
      default: f.bytes = mutate_bytes(f.bytes, f.bytes.size() + 8);
    }
  }

  uint64_t bits_of_real() {
    static constexpr float kReals[] = {
        0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1e-40f, 1e30f, -1e30f, 4e9f, __builtin_inff(), -__builtin_inff(), __builtin_nanf("")};
    uint32_t bits;
    std::memcpy(&bits, &kReals[random_() % std::size(kReals)], 4);
    return bits;
  }

  void change_integers() {
    const auto lists = of_kind(FieldKind::integers);
    if (!lists.empty()) change_integers_of(any(lists).field());
  }

  void change_integers_of(Field& f) {
    if (f.wire == 0) {
      f.value = number();
      return;
    }
    auto& list = f.integers;
    const auto what = random_() % 4;
    if (what == 0 && !list.empty()) {
      list.erase(list.begin() + static_cast<ptrdiff_t>(random_() % list.size()));
    } else if (what == 1 || list.empty()) {
      list.insert(list.begin() + static_cast<ptrdiff_t>(random_() % (list.size() + 1)), number());
    } else {
      list[random_() % list.size()] = number();
    }
  }

  // A tensor stays whole: other elements, or another shape with as many bytes as it needs.
  void change_tensor() {
    const auto tensors = where([](const Field& f) { return f.message && f.message->kind == &tensor_kind(); });
    if (tensors.empty()) return;
    Message& tensor = *any(tensors).field().message;
    Field* type = tensor.find(field::tensor::data_type);
    Field* raw = tensor.find(field::tensor::raw_data);
    if (!type || type->value == 0 || type->value >= kDTypeCount || type->value == static_cast<uint64_t>(DType::string)) return;
    if (!raw) {
      Field* whole = tensor.find(field::tensor::int64_data);
      if (whole && whole->wire == 2) change_integers_of(*whole);
      return;
    }
    const DType dtype = static_cast<DType>(type->value);
    if (random_() % 2) {
      change_element(dtype, raw->bytes);
    } else {
      change_shape(tensor, dtype);
    }
  }

  void change_element(DType dtype, std::string& raw) {
    const size_t width = static_cast<size_t>(std::max(8, bits_of(dtype)) / 8);
    if (raw.size() < width) return;
    char* at = raw.data() + random_() % (raw.size() / width) * width;
    if (dtype == DType::float32) {
      const uint64_t bits = bits_of_real();
      std::memcpy(at, &bits, 4);
    } else if (width <= 8) {
      const uint64_t bits = number();
      std::memcpy(at, &bits, width);
    }
  }

  void change_shape(Message& tensor, DType dtype) {
    std::vector<uint64_t> dims;
    for (const Field& f : tensor.fields) {
      if (f.number != field::tensor::dims) continue;
      if (f.wire == 0) dims.push_back(f.value);
      dims.insert(dims.end(), f.integers.begin(), f.integers.end());
    }
    const auto what = random_() % 3;
    if (what == 0 && !dims.empty()) {
      dims.erase(dims.begin() + static_cast<ptrdiff_t>(random_() % dims.size()));
    } else if (what == 1 || dims.empty()) {
      dims.insert(dims.begin() + static_cast<ptrdiff_t>(random_() % (dims.size() + 1)), random_() % 4);
    } else {
      dims[random_() % dims.size()] = random_() % 9;
    }
    double elements = 1;
    for (uint64_t d : dims) elements *= static_cast<double>(d);
    if (elements > 4096) return;
    std::erase_if(tensor.fields, [](const Field& f) { return f.number == field::tensor::dims; });
    Field list;
    list.number = field::tensor::dims;
    list.wire = 2;
    list.integers = std::move(dims);
    tensor.fields.push_back(std::move(list));
    std::string& raw = tensor.find(field::tensor::raw_data)->bytes;
    const size_t before = raw.size(), after = bytes_of(dtype, static_cast<int64_t>(elements));
    raw.resize(after);
    for (size_t i = before; before > 0 && i < after; ++i) raw[i] = raw[i % before];
    places_.clear();
    collect(model_);
  }

  void change_edge() {
    const auto names = of_kind(FieldKind::name);
    if (names.empty()) return;
    any(names).field().bytes = random_() % 8 ? any(names).field().bytes : std::string();
  }

  void change_operator() {
    const auto operators = of_kind(FieldKind::op_type);
    const auto& known = all_ops();
    if (operators.empty() || known.empty()) return;
    any(operators).field().bytes = known[random_() % known.size()].op_type;
  }

  // The type of a value says less: no shape, or no type at all.
  void open_type() {
    const auto infos = where([](const Field& f) { return f.message && f.message->kind->name == "value info"; });
    if (infos.empty()) return;
    Message& info = *any(infos).field().message;
    Field* type = info.find(field::value_info::type);
    if (!type || !type->message || random_() % 8 == 0) {
      std::erase_if(info.fields, [](const Field& f) { return f.number == field::value_info::type; });
    } else if (Field* tensor = type->message->find(field::type::tensor); tensor && tensor->message) {
      std::erase_if(tensor->message->fields, [](const Field& f) { return f.number == field::tensor_type::shape; });
    }
    places_.clear();
    collect(model_);
  }

  void remove_field() {
    const Place place = any(places_);
    place.message->fields.erase(place.message->fields.begin() + static_cast<ptrdiff_t>(place.index));
  }

  void copy_field() {
    const Place from = any(places_);
    Field copy = from.field();
    auto& fields = from.message->fields;
    fields.insert(fields.begin() + static_cast<ptrdiff_t>(random_() % (fields.size() + 1)), std::move(copy));
  }

  // An input whose value is known when the model is loaded goes other ways than one that comes with the run.
  void to_initializer() {
    const auto inputs = where([](const Field& f) { return f.number == kInputField && f.message; });
    Field* graph = model_.find(field::model::graph);
    if (inputs.empty() || !graph || !graph->message) return;
    Field copy = any(inputs).field();
    copy.number = field::graph::initializer;
    const Field* name = copy.message->find(field::tensor::name);
    auto& fields = graph->message->fields;
    if (name && random_() % 4) {
      std::erase_if(fields, [&](Field& f) {
        if (f.number != field::graph::input || !f.message) return false;
        const Field* other = f.message->find(field::value_info::name);
        return other && other->bytes == name->bytes;
      });
    }
    fields.push_back(std::move(copy));
  }

  Message& model_;
  std::minstd_rand random_;
  std::vector<Place> places_;
};

}  // namespace

std::string mutate_model(std::string_view model, size_t max_size, uint32_t seed) {
  auto tree = parse(model, model_kind());
  if (!tree || tree->fields.empty() || seed % 32 == 0) return mutate_bytes(model, max_size);
  for (uint32_t i = 0; i <= seed / 32 % 3; ++i) Mutator(*tree, seed + i * 7919).run();
  std::string result = serialize(*tree);
  return result.size() <= max_size ? result : std::string(model.substr(0, max_size));
}

std::string cross_models(std::string_view a, std::string_view b, size_t max_size, uint32_t seed) {
  auto first = parse(a, model_kind()), second = parse(b, model_kind());
  if (!first || !second) return std::string(a.substr(0, max_size));
  Mutator from(*second, seed + 1);
  Mutator(*first, seed).take_from(from);
  std::string result = serialize(*first);
  return result.size() <= max_size ? result : std::string(a.substr(0, max_size));
}

}  // namespace rh::fuzz
