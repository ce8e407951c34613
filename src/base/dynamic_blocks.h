#pragma once

namespace rh {

/// While it lives, loops over ranges that this thread begins are cut into pieces that shrink: each takes the part 1 / (threads x base) of
/// what is left, as far as that is worth a piece. 0: into equal pieces.
class DynamicBlocks {
 public:
  explicit DynamicBlocks(int base);
  ~DynamicBlocks();
  DynamicBlocks(const DynamicBlocks&) = delete;
  DynamicBlocks& operator=(const DynamicBlocks&) = delete;

 private:
  int before_;
};

}  // namespace rh
