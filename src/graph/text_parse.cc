#include "graph/text_parse.h"

#include <algorithm>
#include <vector>

#include "graph/text_literal.h"

namespace rh {

namespace {

using text::TokenKind;

struct Scope {
  Graph& graph;
  Scope* outer;
  int32_t node_count = 0;
};

class Parser : text::Reader {
 public:
  using Reader::Reader;

  Model model() {
    Model model;
    if (take("<")) header(model);
    Scope scope{*model.graph, nullptr};
    graph(scope);
    if (!at_end()) fail_expected("the end of the text");
    return model;
  }

 private:
  void header(Model& model) {
    do {
      const size_t start = token().offset;
      const std::string key = name();
      expect(":");
      if (key == "opset_import") {
        opset_imports(*model.graph);
      } else if (key == "metadata_props") {
        metadata(model);
      } else if (key == "ir_version") {
        model.ir_version = integer("a version");
      } else if (key == "model_version") {
        model.model_version = integer("a version");
      } else if (std::string* field = text_field(model, key)) {
        *field = string_literal();
      } else {
        lexer_.fail_at(start, "unknown field '" + key + "' of the model");
      }
    } while (take(","));
    expect(">");
  }

  static std::string* text_field(Model& model, std::string_view key) {
    if (key == "producer_name") return &model.producer_name;
    if (key == "producer_version") return &model.producer_version;
    if (key == "domain") return &model.domain;
    if (key == "doc_string") return &model.description;
    if (key == "graph_doc_string") return &model.graph_description;
    return nullptr;
  }

  void opset_imports(Graph& graph) {
    expect("[");
    while (!at("]")) {
      std::string domain = string_literal();
      expect(":");
      const int64_t version = integer("an opset version");
      if (version < 1 || version > 100000) fail_here(fmt::format("opset version {}, expected one in [1, 100000]", version));
      graph.opset_imports[domain == "ai.onnx" ? "" : std::move(domain)] = static_cast<int>(version);
      if (!take(",")) break;
    }
    expect("]");
  }

  void metadata(Model& model) {
    expect("[");
    while (!at("]")) {
      std::string key = string_literal();
      expect(":");
      model.metadata.emplace_back(std::move(key), string_literal());
      if (!take(",")) break;
    }
    expect("]");
  }

  struct Declared {
    ValueType type;
    std::string name;
    size_t offset;
  };

  Declared declared() {
    const size_t start = token().offset;
    ValueType declared_type = type();
    return {std::move(declared_type), name(), start};
  }

  void graph(Scope& scope) {
    const Nested nested(*this);
    Graph& g = scope.graph;
    g.name = name();
    expect("(");
    while (!at(")")) {
      const Declared input = declared();
      require_new(g, input);
      const ValueId id = g.add_input(input.name, input.type);
      if (take("=")) g.set_initializer(id, constant(input.type));
      if (!take(",")) break;
    }
    expect(")");
    expect("=>");
    expect("(");
    std::vector<Declared> outputs;
    while (!at(")")) {
      outputs.push_back(declared());
      if (!take(",")) break;
    }
    expect(")");
    std::vector<Declared> types;
    if (take("<")) declarations(g, types);
    expect("{");
    while (!at("}")) node(scope);
    lexer_.advance();
    for (const Declared& output : outputs) {
      const ValueId id = find(scope, output.name);
      if (id == kNoValue) lexer_.fail_at(output.offset, "output '" + output.name + "' is neither an input, a constant nor given by a node");
      if (!output.type.is_unknown() && !g.value(id).is_input && g.value(id).initializer.empty()) g.set_type(id, output.type);
      g.add_output(id);
    }
    for (Declared& value : types) {
      const ValueId id = g.find_value(value.name);
      if (id == kNoValue) lexer_.fail_at(value.offset, "the type of '" + value.name + "' is declared but no such value exists");
      g.set_type(id, std::move(value.type));
    }
  }

  void require_new(const Graph& g, const Declared& value) {
    if (value.name.empty()) lexer_.fail_at(value.offset, "a value needs a name");
    if (g.find_value(value.name) != kNoValue) lexer_.fail_at(value.offset, "'" + value.name + "' is declared twice");
  }

  void declarations(Graph& g, std::vector<Declared>& types) {
    while (!at(">")) {
      Declared value = declared();
      require_new(g, value);
      if (take("=")) {
        g.add_initializer(value.name, constant(value.type));
      } else {
        types.push_back(std::move(value));
      }
      if (!take(",")) break;
    }
    expect(">");
  }

  Value constant(const ValueType& type) {
    if (type.is_tensor()) return elements(type.tensor());
    if (type.kind() == ValueType::Kind::sparse_tensor) return sparse_content(type.tensor());
    fail_here("a constant is a tensor or a sparse tensor, found " + type.to_string());
  }

  // The value of the name in this graph or, made known here, of an enclosing one.
  static ValueId find(Scope& scope, const std::string& name) {
    if (const ValueId id = scope.graph.find_value(name); id != kNoValue) return id;
    if (!scope.outer) return kNoValue;
    const ValueId outer = find(*scope.outer, name);
    return outer == kNoValue ? kNoValue : scope.graph.add_outer(name, outer, scope.outer->graph.value(outer).type);
  }

  bool left_out() {
    if (take_word("_")) return true;
    if (token().kind != TokenKind::string || !token().text.empty()) return false;
    lexer_.advance();
    return true;
  }

  ValueId input(Scope& scope) {
    if (left_out()) return kNoValue;
    const std::string value = name();
    const ValueId id = find(scope, value);
    return id == kNoValue ? scope.graph.add_value(value) : id;  // one that a later node gives
  }

  ValueId output(Scope& scope) {
    if (left_out()) return kNoValue;
    const size_t start = token().offset;
    const std::string value = name();
    ValueId id = scope.graph.find_value(value);
    if (id == kNoValue) return scope.graph.add_value(value);
    const GraphValue& known = scope.graph.value(id);
    if (known.producer != kNoNode || known.is_input || !known.initializer.empty() || known.outer != kNoValue) {
      lexer_.fail_at(start, "'" + value + "' is given more than once");
    }
    return id;
  }

  void node(Scope& scope) {
    const size_t start = token().offset;
    Node n;
    if (take("[")) {
      n.name = name();
      expect("]");
    }
    std::vector<size_t> output_offsets;
    do {
      output_offsets.push_back(token().offset);
      n.outputs.push_back(output(scope));
      const auto before = n.outputs.end() - 1;
      if (*before != kNoValue && std::find(n.outputs.begin(), before, *before) != before)
        lexer_.fail_at(output_offsets.back(), "an output is named twice");
    } while (take(","));
    expect("=");
    op(n);
    if (take("<")) attributes(scope, n);
    expect("(");
    while (!at(")")) {
      n.inputs.push_back(input(scope));
      if (!take(",")) break;
    }
    expect(")");
    if (take("<")) attributes(scope, n);
    auto original = std::make_shared<OriginalNode>();
    original->name = n.name;
    original->op_type = n.op_type;
    original->index = scope.node_count++;
    original->domain = n.domain;
    const auto imported = scope.graph.opset_imports.find(n.domain);
    original->opset = n.opset != 0 || imported == scope.graph.opset_imports.end() ? n.opset : imported->second;
    n.provenance.push_back(std::move(original));
    try {
      scope.graph.add_node(std::move(n));
    } catch (const Error& error) {
      lexer_.fail_at(start, error.message());
    }
  }

  void op(Node& n) {
    if (token().kind == TokenKind::string) {
      n.op_type = string_literal();
      if (take(".")) {
        n.domain = std::move(n.op_type);
        n.op_type = string_literal();
      }
    } else {
      const std::string full = name();
      const size_t dot = full.rfind('.');
      n.domain = dot == full.npos ? "" : full.substr(0, dot);
      n.op_type = dot == full.npos ? full : full.substr(dot + 1);
    }
    if (n.op_type.empty()) fail_here("an operator needs a name");
    if (n.domain == "ai.onnx") n.domain.clear();
    if (!take("@")) return;
    const int64_t opset = integer("an opset version");
    if (opset < 1 || opset > 100000) fail_here(fmt::format("opset version {}, expected one in [1, 100000]", opset));
    n.opset = static_cast<int>(opset);
  }

  void attributes(Scope& scope, Node& n) {
    while (!at(">")) {
      const size_t start = token().offset;
      Attribute a;
      a.name = name();
      if (n.attribute(a.name)) lexer_.fail_at(start, "attribute '" + a.name + "' is given twice");
      std::string kind;
      if (take(":")) kind = name();
      if (take("=")) a.value = attribute_value(scope, kind);
      n.attributes.push_back(std::move(a));
      if (!take(",")) break;
    }
    expect(">");
  }

  bool at_number() const { return token().kind == TokenKind::number || at("-") || at_word("inf") || at_word("nan"); }

  // A number whose form says whether it is an integer or a float.
  std::variant<int64_t, float> number() {
    const bool negative = take("-");
    const std::string_view digits = token().text;
    if (!at_number() || at("-")) fail_expected("a number");
    if (token().kind == TokenKind::number && !digits.starts_with("0x") && digits.find_first_of(".eE") == digits.npos) {
      int64_t value = 0;
      const std::string text = (negative ? "-" : "") + std::string(digits);
      if (!text::parse_number(text, value)) fail_here("'" + text + "' is not a 64-bit integer");
      lexer_.advance();
      return value;
    }
    float value = 0;
    const std::string text = (negative ? "-" : "") + std::string(digits);
    if (!text::parse_number(text, value)) fail_here("'" + text + "' is not a float");
    lexer_.advance();
    return value;
  }

  static float as_float(const std::variant<int64_t, float>& n) {
    return std::holds_alternative<float>(n) ? std::get<float>(n) : static_cast<float>(std::get<int64_t>(n));
  }

  Attribute::Payload attribute_value(Scope& scope, const std::string& kind) {
    const Nested nested(*this);
    if (take("@")) return AttributeReference{name()};
    if (at("[")) return attribute_list(scope, kind);
    if (at_number() && lexer_.peek().text != "(") {
      const auto n = number();
      if (kind == "float" || std::holds_alternative<float>(n)) return as_float(n);
      return std::get<int64_t>(n);
    }
    if (token().kind == TokenKind::string && lexer_.peek().text != "(") return string_literal();
    if (at_word("type") && lexer_.peek().text == "(") return parenthesised_type();
    if (at_word("sparse_tensor")) return sparse_tensor();
    if (at_word("undefined") || (token().kind == TokenKind::identifier && dtype_from_string(token().text) != DType::undefined))
      return tensor();
    return subgraph(scope);
  }

  ValueType parenthesised_type() {
    lexer_.advance();
    expect("(");
    ValueType result = type();
    expect(")");
    return result;
  }

  SparseTensor sparse_tensor() {
    const ValueType declared_type = type();
    return sparse_content(declared_type.tensor());
  }

  std::shared_ptr<Graph> subgraph(Scope& scope) {
    auto result = std::make_shared<Graph>();
    result->opset_imports = scope.graph.opset_imports;
    Scope inner{*result, &scope};
    graph(inner);
    return result;
  }

  template <typename T, typename Item>
  std::vector<T> items(Item&& item) {
    std::vector<T> list;
    expect("[");
    while (!at("]")) {
      list.push_back(item());
      if (!take(",")) break;
    }
    expect("]");
    return list;
  }

  Attribute::Payload attribute_list(Scope& scope, std::string kind) {
    const text::Token first = lexer_.peek();
    const bool known_type =
        first.text == "undefined" || (first.kind == TokenKind::identifier && dtype_from_string(first.text) != DType::undefined);
    if (first.text == "]" && kind.empty()) lexer_.fail_at(first.offset, "an empty list wants its kind, such as 'axes: ints = []'");
    if (kind.empty() || kind == "ints" || kind == "floats") {
      if (first.kind == TokenKind::number || first.text == "-" || first.text == "inf" || first.text == "nan" || !kind.empty())
        return numbers(kind);
    }
    if (kind.empty()) {
      kind = first.kind == TokenKind::string ? "strings"
             : first.text == "sparse_tensor" ? "sparse_tensors"
             : first.text == "type"          ? "types"
             : known_type                    ? "tensors"
                                             : "graphs";
    }
    if (kind == "strings") {
      // A graph may have a name in quotes.
      if (first.kind != TokenKind::string || !second_is_parenthesis()) return items<std::string>([&] { return string_literal(); });
      kind = "graphs";
    }
    if (kind == "tensors") return items<Tensor>([&] { return tensor(); });
    if (kind == "sparse_tensors") return items<SparseTensor>([&] { return sparse_tensor(); });
    if (kind == "types") return items<ValueType>([&] { return parenthesised_type(); });
    if (kind == "graphs") return items<std::shared_ptr<Graph>>([&] { return subgraph(scope); });
    fail_here("unknown kind '" + kind + "' of a list");
  }

  bool second_is_parenthesis() const {
    text::Lexer ahead = lexer_;
    ahead.advance();
    ahead.advance();
    return ahead.token().text == "(" && ahead.token().kind == TokenKind::punctuation;
  }

  Attribute::Payload numbers(const std::string& kind) {
    const size_t start = token().offset;
    const auto list = items<std::variant<int64_t, float>>([&] { return number(); });
    const auto is_float = [](const auto& n) { return std::holds_alternative<float>(n); };
    if (kind == "floats" || (kind.empty() && std::any_of(list.begin(), list.end(), is_float))) {
      std::vector<float> floats;
      for (const auto& n : list) floats.push_back(as_float(n));
      return floats;
    }
    std::vector<int64_t> ints;
    for (const auto& n : list) {
      if (is_float(n)) lexer_.fail_at(start, "a list of integers holds a float");
      ints.push_back(std::get<int64_t>(n));
    }
    return ints;
  }
};

}  // namespace

Model parse_model(std::string_view text) { return Parser(text).model(); }

std::unique_ptr<Graph> parse_graph(std::string_view text) { return std::move(parse_model(text).graph); }

}  // namespace rh
