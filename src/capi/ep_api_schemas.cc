// OrtEpApi: what the standard says of operators.
#include <deque>
#include <memory>

#include "capi/guard.h"
#include "capi/table.h"
#include "ops/schema.h"

struct OrtOpSchemaTypeConstraint {
  std::string name;
  std::vector<std::string> types;
  std::vector<const char*> type_pointers;
  std::vector<size_t> inputs, outputs;
};

struct OrtOpSchema {
  const rh::ops::OpSchema* schema = nullptr;
  std::vector<std::string> input_names, output_names;
  std::deque<OrtOpSchemaTypeConstraint> constraints;

  const OrtOpSchemaTypeConstraint* constraint(std::string_view name) const {
    for (const auto& entry : constraints) {
      if (entry.name == name) return &entry;
    }
    return nullptr;
  }
};

namespace rh::capi::ep_api {

namespace {

std::vector<std::string> split_types(const std::string& list) {
  std::vector<std::string> types;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(", ", begin), list.size());
    types.push_back(list.substr(begin, end - begin));
    begin = end + 2;
  }
  return types;
}

std::vector<size_t> positions(std::span<const ops::Port> ports, std::string_view type) {
  std::vector<size_t> found;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].type == type) found.push_back(i);
  }
  return found;
}

std::unique_ptr<OrtOpSchema> describe(const ops::OpSchema& schema) {
  auto made = std::make_unique<OrtOpSchema>();
  made->schema = &schema;
  for (const ops::Port& port : schema.inputs) made->input_names.emplace_back(port.name);
  for (const ops::Port& port : schema.outputs) made->output_names.emplace_back(port.name);
  for (const ops::TypeParameter& parameter : schema.type_parameters) {
    OrtOpSchemaTypeConstraint& constraint = made->constraints.emplace_back();
    constraint.name = parameter.name;
    constraint.types = split_types(ops::type_list(*parameter.allowed));
    for (const std::string& type : constraint.types) constraint.type_pointers.push_back(type.c_str());
    constraint.inputs = positions(schema.inputs, parameter.name);
    constraint.outputs = positions(schema.outputs, parameter.name);
  }
  return made;
}

const OrtOpSchema& schema_of(const OrtOpSchema* schema) { return checked(schema, "schema"); }

const OrtOpSchemaTypeConstraint& constraint_of(const OrtOpSchemaTypeConstraint* constraint) {
  return checked(constraint, "type_constraint");
}

template <typename List>
const auto& at(const List& list, size_t index, const char* what) {
  if (index >= list.size()) fail(ErrorCode::invalid_argument, "{} {} was asked for; the schema has {}", what, index, list.size());
  return list[index];
}

}  // namespace

OrtStatus* ORT_API_CALL GetOpSchema(const char* name, int max_version, const char* domain, OrtOpSchema** out) {
  return guard([&] {
    checked(out, "out_schema") = nullptr;
    const ops::OpSchema* schema = ops::find_schema(&checked(domain, "domain"), &checked(name, "name"), max_version);
    if (schema) *out = describe(*schema).release();
  });
}

void ORT_API_CALL ReleaseOpSchema(OrtOpSchema* schema) { delete schema; }

OrtStatus* ORT_API_CALL OpSchema_GetSinceVersion(const OrtOpSchema* schema, int* out) {
  return guard([&] { checked(out, "out") = schema_of(schema).schema->since_version; });
}

OrtStatus* ORT_API_CALL OpSchema_GetNumInputs(const OrtOpSchema* schema, size_t* out) {
  return guard([&] { checked(out, "out") = schema_of(schema).input_names.size(); });
}

OrtStatus* ORT_API_CALL OpSchema_GetInputName(const OrtOpSchema* schema, size_t index, const char** out) {
  return guard([&] { checked(out, "out") = at(schema_of(schema).input_names, index, "input").c_str(); });
}

OrtStatus* ORT_API_CALL OpSchema_GetInputTypeConstraint(const OrtOpSchema* schema, size_t index, const OrtOpSchemaTypeConstraint** out) {
  return guard([&] { checked(out, "out") = schema->constraint(at(schema_of(schema).schema->inputs, index, "input").type); });
}

OrtStatus* ORT_API_CALL OpSchema_GetNumOutputs(const OrtOpSchema* schema, size_t* out) {
  return guard([&] { checked(out, "out") = schema_of(schema).output_names.size(); });
}

OrtStatus* ORT_API_CALL OpSchema_GetOutputName(const OrtOpSchema* schema, size_t index, const char** out) {
  return guard([&] { checked(out, "out") = at(schema_of(schema).output_names, index, "output").c_str(); });
}

OrtStatus* ORT_API_CALL OpSchema_GetOutputTypeConstraint(const OrtOpSchema* schema, size_t index, const OrtOpSchemaTypeConstraint** out) {
  return guard([&] { checked(out, "out") = schema->constraint(at(schema_of(schema).schema->outputs, index, "output").type); });
}

OrtStatus* ORT_API_CALL OpSchema_GetTypeConstraintCount(const OrtOpSchema* schema, size_t* out) {
  return guard([&] { checked(out, "out") = schema_of(schema).constraints.size(); });
}

OrtStatus* ORT_API_CALL OpSchema_GetTypeConstraint(const OrtOpSchema* schema, size_t index, const OrtOpSchemaTypeConstraint** out) {
  return guard([&] { checked(out, "out") = &at(schema_of(schema).constraints, index, "type constraint"); });
}

OrtStatus* ORT_API_CALL OpSchemaTypeConstraint_GetTypeParamName(const OrtOpSchemaTypeConstraint* constraint, const char** out) {
  return guard([&] { checked(out, "out") = constraint_of(constraint).name.c_str(); });
}

OrtStatus* ORT_API_CALL OpSchemaTypeConstraint_GetAllowedTypes(const OrtOpSchemaTypeConstraint* constraint, const char* const** out,
                                                               size_t* count) {
  return guard([&] {
    checked(out, "out_types") = constraint_of(constraint).type_pointers.data();
    checked(count, "num_types") = constraint->type_pointers.size();
  });
}

OrtStatus* ORT_API_CALL OpSchemaTypeConstraint_GetInputIndices(const OrtOpSchemaTypeConstraint* constraint, const size_t** out,
                                                               size_t* count) {
  return guard([&] {
    checked(out, "out_indices") = constraint_of(constraint).inputs.data();
    checked(count, "count") = constraint->inputs.size();
  });
}

OrtStatus* ORT_API_CALL OpSchemaTypeConstraint_GetOutputIndices(const OrtOpSchemaTypeConstraint* constraint, const size_t** out,
                                                                size_t* count) {
  return guard([&] {
    checked(out, "out_indices") = constraint_of(constraint).outputs.data();
    checked(count, "count") = constraint->outputs.size();
  });
}

}  // namespace rh::capi::ep_api
