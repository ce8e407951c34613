#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "providers/kit/cache/owned_bytes.h"
#include "providers/kit/host/host.h"
#include "providers/kit/regions/region_provider.h"
#include "providers/kit/shapes/sized_executable.h"
#include "providers/migraphx/runtime.h"
#include "providers/migraphx/settings.h"

namespace rh::migraphx {

/// What the executables of a session share.
struct Shared {
  Shared(const kit::Host& the_host, const kit::Options& options, Settings given)
      : host(the_host),
        runtime(options.text("library_path"), options.text("target"), static_cast<int>(options.integer("device_id"))),
        settings(std::move(given)) {}
  kit::Host host;
  Runtime runtime;
  Settings settings;
};

/// A value that a run gives or takes.
struct Port {
  std::string name;
  TensorType type;
};

/// A region as MIGraphX reads it: an ONNX model in the session's precision, and its inputs and outputs in the region's order.
struct Source {
  std::string model;
  std::vector<Port> inputs, outputs;
  bool reshapes = false;  ///< by shapes that are no constants
};
Source source_of(const kit::Region& region, const kit::PrecisionSettings& precision);

/// Parses the model where its inputs have these shapes. Throws Error with MIGraphX's message.
Owned<Program> parse(const Runtime& runtime, const Source& source, std::span<const Shape> shapes);

/// A compiled program, of which one run goes at a time.
class CompiledProgram final : public kit::SizedProgram {
 public:
  /// Compiles what was parsed. `shapes`: of the outputs, as the model has them. Throws Error, also where MIGraphX gives another shape or
  /// type.
  CompiledProgram(std::shared_ptr<const Shared> shared, Owned<Program> parsed, const Source& source, std::vector<Shape> shapes);
  /// What save() gave.
  CompiledProgram(std::shared_ptr<const Shared> shared, std::string_view bytes, const Source& source, std::vector<Shape> shapes);

  size_t bytes() const override { return bytes_; }
  std::string save() const;
  void run(std::span<const TensorView> inputs, Take take) const override;

 private:
  void read_parameters(const Source& source);
  void check_outputs(const Source& source) const;
  void give(const Argument& result, size_t index, Take take) const;

  std::shared_ptr<const Shared> shared_;
  Owned<Program> program_;
  std::vector<Shape> shapes_;
  std::vector<DType> types_;  ///< of the outputs
  Owned<ParameterShapes> parameters_;
  struct Parameter {
    std::string name;
    size_t input;  ///< of the region
    const VendorShape* shape;
  };
  std::vector<Parameter> taken_;
  size_t bytes_ = 0;
  mutable std::mutex running_;
};

/// Whether MIGraphX gives these outputs. Throws Error where it does not.
void check_outputs(const Runtime& runtime, Program& program, const Source& source, std::span<const Shape> shapes);

}  // namespace rh::migraphx
