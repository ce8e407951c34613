#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/file.h"
#include "graph/graph.h"

namespace rh::openvino {

/// The files in which a graph's constants lie, mapped: what is read there needs no copy, and outlives the host's.
class WeightFiles {
 public:
  /// `model`: beside which they lie; empty: none are found.
  WeightFiles(const Graph& graph, const std::string& model);

  /// The tensor as it lies in its file; nothing where it lies in none, or not as the host has it.
  std::optional<Tensor> find(const Tensor& tensor);

 private:
  void collect(const Graph& graph);
  const std::shared_ptr<const MappedFile>& mapping(const std::string& file);

  std::string folder_;
  std::map<const void*, ExternalLocation> places_;  ///< by the address at which the host has the elements
  std::map<std::string, std::shared_ptr<const MappedFile>> mappings_;
};

}  // namespace rh::openvino
