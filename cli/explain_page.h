#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace rh::cli {

/// A page, complete in itself, that draws the graph of a report of RhExplainModel.
std::string explain_page(const nlohmann::json& report);

}  // namespace rh::cli
