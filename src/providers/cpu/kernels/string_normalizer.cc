#include "ops/text/string_normalizer.h"

#include <unordered_set>

#include "base/unicode.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class StringNormalizerKernel final : public Kernel {
 public:
  using Types = rh::Types<std::string>;

  explicit StringNormalizerKernel(const KernelInfo& info) : op_(info.attributes<ops::StringNormalizer>()) {
    for (const std::string& word : op_.stop_words) stop_words_.insert(op_.case_sensitive ? word : to_lower(word));
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.rank() != 1 && !(x.rank() == 2 && x.shape()[0] == 1)) {
      return error_status(ErrorCode::invalid_argument, "StringNormalizer: the input has shape {}, expected [C] or [1, C]",
                          x.shape().to_string());
    }
    std::vector<std::string> kept;
    for (int64_t i = 0; i < x.elements(); ++i) {
      const std::string& word = x.data<std::string>()[i];
      if (stop_words_.empty() || !stop_words_.contains(op_.case_sensitive ? word : to_lower(word))) kept.push_back(changed(word));
    }
    if (kept.empty()) kept.emplace_back();
    const int64_t count = static_cast<int64_t>(kept.size());
    const MutableView y = context.output(0, x.rank() == 1 ? Shape{count} : Shape{1, count});
    std::move(kept.begin(), kept.end(), y.data<std::string>());
    return {};
  }

 private:
  std::string changed(const std::string& word) const {
    using enum ops::StringNormalizer::CaseChange;
    return op_.case_change == lower ? to_lower(word) : op_.case_change == upper ? to_upper(word) : word;
  }

  ops::StringNormalizer op_;
  std::unordered_set<std::string> stop_words_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(StringNormalizerKernel)
