#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rh::cpu {

/// A token that goes on from a beam, and the sum of the logarithms of all probabilities up to it.
struct Continuation {
  float score;
  int64_t beam;
  int32_t token;
};

/// The `count` best of scores [beams, tokens], best first; of equal ones the first.
std::vector<Continuation> best_continuations(std::span<const float> scores, int64_t tokens, int64_t count);

/// The finished sequences of one item of the batch, the best `size` of them.
class FinishedSequences {
 public:
  FinishedSequences(int64_t size, float length_penalty) : size_(static_cast<size_t>(size)), length_penalty_(length_penalty) {}

  struct Sequence {
    std::vector<int32_t> tokens;
    float score;
  };

  void add(std::vector<int32_t> tokens, float sum);
  bool full() const { return sequences_.size() >= size_; }
  /// True where a sequence of `length` tokens with this sum would get a place.
  bool can_improve(float sum, int64_t length) const { return sequences_.back().score < penalized(sum, length); }
  /// Best first.
  const std::vector<Sequence>& sequences() const { return sequences_; }

 private:
  float penalized(float sum, int64_t length) const;

  size_t size_;
  float length_penalty_;
  std::vector<Sequence> sequences_;
};

}  // namespace rh::cpu
