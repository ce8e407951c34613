#include "ops/ml/dict_vectorizer.h"

#include <string>
#include <unordered_map>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

class DictVectorizerKernel final : public Kernel {
 public:
  using Types = rh::Types<int64_t, float, double, std::string>;

  explicit DictVectorizerKernel(const KernelInfo& info) : op_(info.attributes<ops::DictVectorizer>()) {}

  Status run(RunContext& context) const override {
    const Value& input = context.input_value(0);
    if (!input.is_map()) return error_status(ErrorCode::invalid_argument, "DictVectorizer: the input is no map");
    const Map& map = input.map();
    if ((map.keys.dtype() == DType::string) != op_.integers.empty()) {
      return error_status(ErrorCode::invalid_argument, "DictVectorizer: the keys are of type {}, expected that of the vocabulary",
                          to_string(map.keys.dtype()));
    }
    const MutableView y = context.output(0, map.values.dtype(), Shape{1, op_.count()});
    return dispatch<Types>(map.values.dtype(), "DictVectorizer", [&]<typename T>() {
      if (op_.integers.empty()) {
        pick<T>(map, op_.strings, y.data<T>());
      } else {
        pick<T>(map, op_.integers, y.data<T>());
      }
    });
  }

 private:
  template <typename T, typename Key>
  static void pick(const Map& map, const std::vector<Key>& vocabulary, T* to) {
    std::unordered_map<Key, int64_t> places;
    for (int64_t i = 0; i < map.keys.elements(); ++i) places.try_emplace(map.keys.data<Key>()[i], i);
    for (size_t k = 0; k < vocabulary.size(); ++k) {
      const auto at = places.find(vocabulary[k]);
      to[k] = at == places.end() ? T() : map.values.data<T>()[at->second];
    }
  }

  ops::DictVectorizer op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DictVectorizerKernel)
