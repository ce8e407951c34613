#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/dim.h"
#include "tensor/tensor.h"

namespace rh::kit {

/// The largest size of the bucket that a size is in: 0 and 1 are alone, then buckets end at 16, 32, 64 and 128, and above that at steps of
/// an eighth of the power of two below.
int64_t bucket_end(int64_t size);

/// What one plan serves: the largest size of each symbol, or all sizes of the inputs as they are.
struct PlanClass {
  bool is_exact = false;
  std::vector<int64_t> sizes;

  friend auto operator<=>(const PlanClass&, const PlanClass&) = default;
};

/// Which sizes of a region's inputs differ from run to run: symbols, where sizes that follow from others, past + 1 from past, are none of
/// their own.
class PlanSizes {
 public:
  using Dims = std::vector<std::optional<SymbolicShape>>;
  /// Inputs of unknown rank have no dims. `fixed` symbols specialise: each of their sizes is a class, for padding would not be right.
  explicit PlanSizes(Dims inputs, const std::set<std::string, std::less<>>& fixed = {});

  /// Of a run: its class, and the size of each symbol.
  struct Found {
    PlanClass plan;
    std::vector<int64_t> sizes;
  };
  /// Inputs whose sizes contradict the symbols have a class of their own.
  Found find(std::span<const TensorView> inputs) const;
  /// The numbers of a shape where the symbols have these sizes (those of a run, or of its class); nothing where it has others.
  std::optional<Shape> shape(const SymbolicShape& dims, const std::vector<int64_t>& sizes) const;
  /// As given, each unknown size being a symbol of its own.
  const Dims& inputs() const { return inputs_; }
  size_t symbols() const { return symbols_.size(); }

 private:
  /// A symbol and where its size is read: it is that of an axis, less an offset.
  struct Symbol {
    std::string name;
    size_t input = 0, axis = 0;
    int64_t offset = 0;
    bool is_fixed = false;
  };
  void add_symbols(const std::set<std::string, std::less<>>& fixed, bool with_offsets);
  int64_t class_size(size_t symbol, const Found& found) const;
  std::optional<int64_t> size_of(std::string_view name, const std::vector<int64_t>& sizes) const;

  Dims inputs_;
  std::vector<Symbol> symbols_;
  std::map<std::string, size_t, std::less<>> numbers_;
};

/// What was compiled for a class, and what it takes.
class Plan {
 public:
  virtual ~Plan() = default;
  virtual size_t bytes() const = 0;
};

/// Plans by class, made when they are first needed. Those that were not used for longest go once all together take more than the bound;
/// who uses one keeps it. Thread-safe: a class that several want is compiled by one of them.
class PlanCache {
 public:
  using Make = std::function<std::shared_ptr<const Plan>(const PlanClass&)>;
  PlanCache(size_t limit_bytes, Make make) : limit_bytes_(limit_bytes), make_(std::move(make)) {}

  /// Throws what making throws; the class is tried anew by the next.
  std::shared_ptr<const Plan> get(const PlanClass& plan);
  size_t compiled() const;  ///< how often a plan was made
  size_t bytes() const;     ///< of the plans that it has

 private:
  struct Entry {
    PlanClass plan;
    std::mutex making;
    std::shared_ptr<const Plan> made;  ///< written under `making`
    size_t bytes = 0;                  ///< counted; 0 until it is made
  };
  using Order = std::list<std::shared_ptr<Entry>>;
  std::shared_ptr<Entry> use(const PlanClass& plan);
  void count(const std::shared_ptr<Entry>& entry, size_t bytes);
  void forget(const std::shared_ptr<Entry>& entry);

  const size_t limit_bytes_;
  const Make make_;
  mutable std::mutex mutex_;
  Order order_;  ///< what was used last stands first
  std::map<PlanClass, Order::iterator> places_;
  size_t compiled_ = 0, bytes_ = 0;
};

}  // namespace rh::kit
