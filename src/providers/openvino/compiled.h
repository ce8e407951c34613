#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "providers/kit/cache/owned_bytes.h"
#include "providers/kit/regions/region_provider.h"
#include "providers/openvino/runtime.h"

namespace rh::openvino {

/// The sizes that an input may have, by its name: option reshape_input.
struct InputBounds {
  std::string name;
  std::vector<VendorDimension> dims;
};

/// The property of the CPU that says whether quantized nodes are computed in bytes.
inline constexpr const char* kBytesMode = "LP_TRANSFORMS_MODE";

/// How regions are compiled.
struct CompileSettings {
  std::string device = "CPU";
  Properties properties;
  std::vector<InputBounds> bounds;
  bool static_shapes = false;  ///< a model is compiled for each set of sizes that a run brings
  bool is_one_device = true;   ///< not AUTO, HETERO, MULTI or BATCH
  std::string config;          ///< what is set on devices beside the properties
};

/// Weights that OpenVINO reads where they lie, which is longer than the host has them.
using Weights = std::vector<Tensor>;

/// A region as OpenVINO reads it: an ONNX model with the region's inputs and outputs, of which larger weights stay in memory of ours.
struct Source {
  std::string bytes;
  std::shared_ptr<const Weights> weights;
  std::vector<size_t> inputs;  ///< of the region's: those that the model has, in its order
  bool in_floats = false;      ///< in bytes OpenVINO would compute it wrongly
};

/// `in_place` false: with all weights in its bytes.
Source source_of(const kit::Region& region, bool in_place);

using OwnedCompiled = std::unique_ptr<CompiledModel, void (*)(CompiledModel*)>;

/// `names`: of the region's inputs. `shapes`: of these, where they are to be fixed.
OwnedCompiled compile(const Runtime& runtime, const Source& source, const CompileSettings& settings, const std::vector<std::string>& names,
                      const std::vector<Shape>* shapes = nullptr);

/// What export_model() gave, with the session's settings. OpenVINO reads weights where they lie in the bytes, as long as the model lives.
/// Throws Error with OpenVINO's message.
OwnedCompiled import_model(const Runtime& runtime, std::string_view bytes, const CompileSettings& settings);
/// `head` and what import_model() takes. Not of a model that was imported. Throws Error.
std::string export_model(const Runtime& runtime, const CompiledModel& model, std::string head);

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
/// One that save_executable() wrote down.
std::unique_ptr<kit::Executable> load_executable(std::shared_ptr<Shared> shared, const kit::Region& region, const kit::OwnedBytes& bytes);
/// Of an executable that make_executable() gave. Throws Error.
std::string save_executable(const kit::Executable& executable);

}  // namespace rh::openvino
