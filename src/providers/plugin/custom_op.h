#pragma once

#include <climits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "abi/graph_view.h"
#include "abi/key_values.h"
#include "abi/logger.h"
#include "abi/type_info.h"
#include "ops/inference.h"
#include "providers/kernel.h"
#include "roundhouse/onnxruntime_c_api.h"

/// What the shape function of a custom operator may ask and say; lives for one call.
struct OrtShapeInferContext {
  OrtShapeInferContext(const rh::NodeView& node, size_t outputs);

  /// Throws Error{invalid_argument} where the node has no such attribute.
  const OrtOpAttr& attribute(std::string_view name);

  const rh::NodeView& node;
  std::vector<OrtTensorTypeAndShapeInfo> inputs;   ///< without type and shape where left out or not known
  std::vector<OrtTensorTypeAndShapeInfo> outputs;  ///< has_shape: told by the function

 private:
  std::vector<std::unique_ptr<OrtOpAttr>> attributes_;  ///< asked for
};

namespace rh::plugin {

struct KernelPlace;

/// What kernels of custom operators share: the interface in the version that each asks for, and facts of the session.
struct CustomOpHost {
  const OrtApiBase* api = nullptr;
  OrtKeyValuePairs config;
  std::shared_ptr<const OrtLogger> logger;
};

/// An OrtCustomOp, asked once for what it says of itself; fields that came after its version are not read.
class CustomOp {
 public:
  /// Keeps `op`, which its owner keeps as long as sessions use it. Throws Error naming the operator where the table is malformed.
  CustomOp(std::string domain, const OrtCustomOp& op);

  const OrtCustomOp& table() const { return op_; }
  const std::string& name() const { return name_; }
  const std::string& domain() const { return domain_; }
  const std::string& provider() const { return provider_; }
  std::string text() const { return domain_.empty() ? name_ : domain_ + "::" + name_; }

  bool is_named_by(const Node& node) const;
  int start_version() const { return start_version_; }
  bool is_for_version(int since) const { return since >= start_version_ && since <= end_version_; }
  /// Empty where it computes the node, whose operator is the one that came with version `since`; else what does not fit.
  std::string mismatch(const NodeView& node, int since) const;
  /// Whether nodes exist that both compute.
  bool overlaps(const CustomOp& other) const;
  void infer(const NodeView& node, InferenceContext& context) const;
  uint64_t host_inputs(size_t count) const;

  /// A kernel that works where `place` says. Throws Error naming operator and call.
  std::unique_ptr<Kernel> make_kernel(const Graph& graph, const Node& node, std::shared_ptr<const CustomOpHost> host,
                                      KernelPlace place) const;

 private:
  struct Port {
    DType dtype = DType::undefined;  ///< undefined: any
    OrtCustomOpInputOutputCharacteristic characteristic = INPUT_OUTPUT_REQUIRED;
    bool on_host = false;
  };
  struct Ports {
    std::vector<Port> list;
    int min_variadic = 1;
    bool homogeneous = true;

    const Port* at(size_t index) const;
    std::string count_mismatch(const std::vector<ValueId>& values, const char* what) const;
  };
  void read_inputs();
  void read_outputs();
  void read_variadic(Ports& ports, const char* what, int(ORT_API_CALL* min_arity)(const OrtCustomOp*),
                     int(ORT_API_CALL* homogeneity)(const OrtCustomOp*)) const;
  std::string type_mismatch(const NodeView& node) const;
  DType dynamic_type(const NodeView& node) const;
  void infer_shapes(const NodeView& node, std::vector<ValueType>& types) const;

  const OrtCustomOp& op_;
  std::string domain_, name_, provider_;
  Ports inputs_, outputs_;
  int start_version_ = 1, end_version_ = INT_MAX;
};

}  // namespace rh::plugin
