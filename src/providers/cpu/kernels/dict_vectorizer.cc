#include "ops/ml/dict_vectorizer.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/inline_vector.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class DictVectorizerKernel final : public Kernel {
 public:
  using Types = rh::Types<int64_t, float, double, std::string>;

  explicit DictVectorizerKernel(const KernelInfo& info) : op_(info.attributes<ops::DictVectorizer>()) {
    const auto list = [](const auto& vocabulary, auto& columns) {
      for (size_t k = 0; k < vocabulary.size(); ++k) columns[vocabulary[k]].push_back(k);
    };
    list(op_.integers, columns_of_integer_);
    list(op_.strings, columns_of_string_);
  }

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
        place<T>(map, columns_of_string_, y);
      } else {
        place<T>(map, columns_of_integer_, y);
      }
    });
  }

 private:
  template <typename Key>
  using Columns = std::unordered_map<Key, InlineVector<size_t, 1>>;

  template <typename T, typename Key>
  static void place(const Map& map, const Columns<Key>& columns, const MutableView& y) {
    T* to = y.data<T>();
    std::fill_n(to, y.elements(), T());
    for (int64_t i = map.keys.elements(); i-- > 0;) {  // of equal keys the first counts
      const auto at = columns.find(map.keys.data<Key>()[i]);
      if (at == columns.end()) continue;
      for (size_t column : at->second) to[column] = map.values.data<T>()[i];
    }
  }

  ops::DictVectorizer op_;
  Columns<int64_t> columns_of_integer_;
  Columns<std::string> columns_of_string_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DictVectorizerKernel)
