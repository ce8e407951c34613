#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "providers/kit/regions/region_provider.h"
#include "providers/openvino/runtime.h"

namespace rh::openvino {

/// The sizes that an input may have, by its name: option reshape_input.
struct InputBounds {
  std::string name;
  std::vector<VendorDimension> dims;
};

/// How regions are compiled.
struct CompileSettings {
  std::string device = "CPU";
  Properties properties;
  std::vector<InputBounds> bounds;
  bool static_shapes = false;  ///< a model is compiled for each set of sizes that a run brings
};

/// Weights that OpenVINO reads where they lie, which is longer than the host has them.
using Weights = std::vector<Tensor>;

/// A region as OpenVINO reads it: an ONNX model, of which larger weights stay in memory of ours.
struct Source {
  std::string bytes;
  std::shared_ptr<const Weights> weights;
};

/// `in_place` false: with all weights in its bytes.
Source source_of(const kit::Region& region, bool in_place);

using OwnedCompiled = std::unique_ptr<CompiledModel, void (*)(CompiledModel*)>;

/// `shapes`: of the model's inputs, where they are to be fixed.
OwnedCompiled compile(const Runtime& runtime, const Source& source, const CompileSettings& settings, const Graph& graph,
                      const std::vector<Shape>* shapes = nullptr);

/// The models of a session that live, for properties that change while they do.
class LiveModels {
 public:
  void add(const CompiledModel* model);
  void remove(const CompiledModel* model);
  /// Of each model. Throws Error with OpenVINO's message.
  void set_property(const Runtime& runtime, const std::string& name, const std::string& value);

 private:
  std::mutex mutex_;
  std::set<const CompiledModel*> models_;
};

/// What the executables of a session share.
struct Shared {
  explicit Shared(std::string_view library_path) : runtime(library_path) {}
  Runtime runtime;
  CompileSettings settings;
  LiveModels live;
};

/// Compiles a region. Throws Error with OpenVINO's message.
std::unique_ptr<kit::Executable> make_executable(std::shared_ptr<Shared> shared, const kit::Region& region);

}  // namespace rh::openvino
