#include "ops/registry.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "base/fork_mutex.h"

namespace rh {

namespace ops {
#define RH_OP(family, Struct, ...) \
  struct Struct;                   \
  void infer_node(Tag<Struct>, const NodeView&, InferenceContext&);
#include "ops/op_list.inc"
#undef RH_OP
}  // namespace ops

namespace {

// "Softmax" or "com.microsoft:Gelu".
void add(std::vector<OpEntry>& list, std::string_view attributes, void (*infer)(const NodeView&, InferenceContext&),
         std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    const size_t colon = name.find(':');
    const bool standard = colon == std::string_view::npos;
    list.push_back({standard ? std::string_view() : name.substr(0, colon), standard ? name : name.substr(colon + 1), attributes, infer});
  }
}

bool before(const OpEntry& a, std::string_view domain, std::string_view op_type) {
  return a.domain != domain ? a.domain < domain : a.op_type < op_type;
}

constinit ForkOnce<const std::vector<OpEntry>> g_table;

const std::vector<OpEntry>& table() {
  return g_table.get([] {
    std::vector<OpEntry> entries;
#define RH_OP(family, Struct, ...)                                                                                                   \
  add(entries, #Struct, [](const NodeView& node, InferenceContext& context) { ops::infer_node(Tag<ops::Struct>(), node, context); }, \
      {__VA_ARGS__});
#include "ops/op_list.inc"
#undef RH_OP
    std::sort(entries.begin(), entries.end(), [](const OpEntry& a, const OpEntry& b) { return before(a, b.domain, b.op_type); });
    return entries;
  });
}

}  // namespace

const OpEntry* find_op(std::string_view domain, std::string_view op_type) {
  if (domain == "ai.onnx") domain = "";
  const auto& list = table();
  const auto at = std::lower_bound(list.begin(), list.end(), 0, [&](const OpEntry& entry, int) { return before(entry, domain, op_type); });
  return at != list.end() && at->domain == domain && at->op_type == op_type ? &*at : nullptr;
}

std::span<const OpEntry> all_ops() { return table(); }

}  // namespace rh
