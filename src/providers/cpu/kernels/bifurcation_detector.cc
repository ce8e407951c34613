#include "ops/text/bifurcation_detector.h"

#include <algorithm>
#include <span>
#include <vector>

#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class BifurcationDetectorKernel final : public Kernel {
 public:
  using Types = rh::Types<int64_t>;

  explicit BifurcationDetectorKernel(const KernelInfo& info) : op_(info.attributes<ops::BifurcationDetector>()) {}

  Status run(RunContext& context) const override {
    const std::span<const int64_t> source = context.input(0).span<int64_t>(), current = context.input(1).span<int64_t>();
    std::vector<int64_t> tokens(current.begin(), current.end());
    if (context.has_input(3)) {
      const std::span<const int64_t> predicted = context.input(3).span<int64_t>();
      const auto length = static_cast<int64_t>(source.size());
      const int64_t matched = scalar_int(context, 2, "prev_suffix_match_idx");
      if (matched < 0 || matched > length || static_cast<int64_t>(predicted.size()) != length + 1 - matched) {
        return error_status(
            ErrorCode::invalid_argument,
            "BifurcationDetector: prev_suffix_match_idx is {}, with {} source and {} predicted tokens; expected [0, {}], and a "
            "prediction for each source token from there and one more",
            matched, length, predicted.size(), length);
      }
      const auto rest = source.subspan(static_cast<size_t>(matched));
      const auto differs = std::mismatch(rest.begin(), rest.end(), predicted.begin()).second;
      tokens.insert(tokens.end(), predicted.begin(), differs + 1);
    }
    const Shape shape{static_cast<int64_t>(tokens.size())};
    std::copy(tokens.begin(), tokens.end(), context.output(0, DType::int64, shape).data<int64_t>());
    *context.output(1, DType::int64, Shape{}).data<int64_t>() = suffix_match(source, tokens);
    return {};
  }

 private:
  /// The place after the only occurrence in the source of the shortest last n-gram that has just one; -1 where there is none.
  int64_t suffix_match(std::span<const int64_t> source, const std::vector<int64_t>& tokens) const {
    for (int64_t n = op_.least; n <= op_.most && n <= static_cast<int64_t>(tokens.size()); ++n) {
      const auto last = tokens.end() - n;
      const auto first = std::search(source.begin(), source.end(), last, tokens.end());
      if (first == source.end()) return -1;
      if (std::search(first + 1, source.end(), last, tokens.end()) == source.end()) return first - source.begin() + n;
    }
    return -1;
  }

  ops::BifurcationDetector op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BifurcationDetectorKernel)
