#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "providers/kit/cache/kept_programs.h"
#include "providers/kit/host/host.h"
#include "providers/kit/regions/host_session.h"
#include "providers/kit/regions/region_provider.h"
#include "providers/kit/shapes/plan_classes.h"

namespace rh::kit {

/// How the sizes of what a region takes and gives follow from the open sizes of its inputs, for vendors that compile for known ones.
class RegionSizes {
 public:
  /// The region's graph says which sizes have to stay (fixed_symbols.h).
  explicit RegionSizes(const Region& region);

  size_t open() const { return plan_.symbols(); }
  /// Sizes with which a region is tried before runs bring some.
  std::vector<int64_t> trial() const;
  /// Throws Error{invalid_argument} where the inputs contradict the model.
  PlanSizes::Found find(std::span<const TensorView> inputs) const;
  /// Throws Error where the type's sizes do not follow from the inputs'.
  Shape shape(const TensorType& type, const std::vector<int64_t>& of_open) const;
  std::vector<Shape> inputs(const std::vector<int64_t>& of_open) const;
  std::vector<Shape> outputs(const std::vector<int64_t>& of_open) const;

 private:
  PlanSizes plan_;
  std::vector<TensorType> outputs_;
};

/// What a vendor compiled for known sizes.
class SizedProgram : public Plan {
 public:
  /// Calls take(i, result) for each output once it is computed; the result lasts until that returns.
  using Take = FunctionRef<void(size_t index, const TensorView& result)>;
  virtual void run(std::span<const TensorView> inputs, Take take) const = 0;
};

/// A region of a vendor that compiles for known sizes. Where all are known there is one program; else there is one for each class of sizes
/// (plan_classes.h) that runs bring, and inputs are padded to those. Runs whose sizes have no program are computed by the host on the CPU:
/// where there are as many as may be, where the vendor takes none of these sizes, and after the first few where sizes come for the first
/// time, for who brings other sizes in each run would wait for the compiler each time.
class SizedExecutable : public Executable {
 public:
  struct Settings {
    size_t most_programs;                 ///< of a region; who brings other sizes in each run would wait for the compiler each time
    size_t program_bytes;                 ///< of its programs together
    std::string_view compile_event = {};  ///< in the profile, where a run compiles
  };

  void run(std::span<const TensorView> inputs, RunOutputs& outputs) const final;

 protected:
  /// `kept`: where programs of open sizes are kept; may be null.
  SizedExecutable(Host host, const Region& region, const Settings& settings, std::shared_ptr<KeptPrograms> kept = nullptr);

  const RegionSizes& sizes() const { return sizes_; }
  /// The program of a region whose sizes are known.
  void set_only(std::shared_ptr<const SizedProgram> program) { only_ = std::move(program); }
  const SizedProgram* only() const { return only_.get(); }

 private:
  using Made = std::shared_ptr<const SizedProgram>;
  virtual Made compile(const std::vector<int64_t>& of_open) const = 0;
  /// The region as ONNX has it, for the CPU.
  virtual std::string model() const = 0;
  /// An output's elements in the region's type, without what a larger program gives beyond.
  virtual void give(const TensorView& result, const MutableView& to) const;
  /// What load() makes the program of; empty: it is not kept.
  virtual std::string save(const SizedProgram& program) const;
  virtual Made load(const OwnedBytes& bytes, const std::vector<int64_t>& of_open) const;

  /// Whether new sizes get a program: the first few do at once, others when they come again. Under the lock.
  bool may_compile(const PlanClass& plan) const;
  Made program_for(const PlanClass& plan) const;
  Made make(const PlanClass& plan) const;
  const HostSession& on_the_cpu() const;

  Host host_;
  RegionSizes sizes_;
  size_t most_programs_;
  std::string_view compile_event_;
  std::string name_;  ///< of the first output
  std::shared_ptr<KeptPrograms> kept_;
  mutable PlanCache programs_;
  mutable std::mutex mutex_;
  mutable std::set<PlanClass> known_, refused_;  ///< that have, or had, a program; of which the vendor takes none
  mutable std::set<PlanClass> seen_;             ///< that came once, when there were some programs
  mutable std::unique_ptr<HostSession> cpu_;
  Made only_;
};

}  // namespace rh::kit
