#include "ops/control_flow/generation.h"

#include <algorithm>

namespace rh::ops {

namespace {

const std::string& input_name(const Graph& graph, size_t i) { return graph.value(graph.inputs()[i]).name; }

bool has_one_column(const Graph& graph, size_t i) {
  const ValueType& type = graph.value(graph.inputs()[i]).type;
  return type.is_tensor() && type.tensor().has_rank() && type.tensor().rank() == 2 && (*type.tensor().dims)[1] == Dim(1);
}

// How many inputs that belong to a shared buffer follow the past values.
void read_buffer_inputs(const NodeView& node, Generation::Decoder& decoder, int count) {
  if (count != 0 && count != 1 && count != 3) {
    node.fail("the decoder has {} inputs after its past values, expected none, 1 (filled length) or 3 (and beams, cache indirection)",
              count);
  }
  decoder.shares_buffer = count > 0;
  decoder.takes_indirection = count == 3;
}

Generation::Decoder read_gpt(const NodeView& node, const Graph& graph) {
  const int inputs = static_cast<int>(graph.inputs().size()), outputs = static_cast<int>(graph.outputs().size());
  if (outputs < 2 || inputs < outputs + 2) {
    node.fail("the decoder has {} inputs and {} outputs, expected tokens, positions, mask and past values, and logits and present values",
              inputs, outputs);
  }
  Generation::Decoder decoder{.first_state = 3, .states = outputs - 1};
  read_buffer_inputs(node, decoder, inputs - outputs - 2);
  return decoder;
}

Generation::Decoder read_cross_decoder(const NodeView& node, const Graph& graph, Generation::Model model) {
  const int inputs = static_cast<int>(graph.inputs().size()), outputs = static_cast<int>(graph.outputs().size());
  Generation::Decoder decoder{.first_state = model == Generation::Model::t5 ? 2 : 1, .states = outputs - 1, .cross = outputs - 1};
  decoder.takes_source = model == Generation::Model::t5 && inputs > 1 && input_name(graph, 1) == "encoder_input_ids";
  if (decoder.takes_source) ++decoder.first_state;
  const size_t hidden = static_cast<size_t>(decoder.first_state);
  if (inputs > decoder.first_state && input_name(graph, hidden) == "encoder_hidden_states") {
    decoder.takes_hidden = true;
    ++decoder.first_state;
  }
  const int rest = inputs - decoder.first_state - decoder.states - decoder.cross;
  if (outputs < 3 || outputs % 2 == 0 || rest < 0) {
    node.fail(
        "the decoder has {} inputs and {} outputs, expected tokens{}, past keys and values of itself and of the encoder, and logits and "
        "its present keys and values",
        inputs, outputs, model == Generation::Model::t5 ? ", the encoder's mask" : "");
  }
  read_buffer_inputs(node, decoder, rest);
  decoder.takes_sequences = model == Generation::Model::t5 && !has_one_column(graph, 0);
  return decoder;
}

void check_encoder(const NodeView& node, Generation& op) {
  const Graph* graph = node.subgraph("encoder");
  if (!graph) node.fail("attribute 'encoder' is missing, expected a graph: model_type {} has an encoder", static_cast<int>(op.model));
  const size_t inputs = graph->inputs().size(), outputs = graph->outputs().size();
  const size_t cross = static_cast<size_t>(op.decoder.cross), all = 2 + 2 * cross;
  op.encoder_starts = op.model == Generation::Model::whisper || outputs != cross;
  const size_t expected = op.model == Generation::Model::t5 && op.encoder_starts ? 3 : 2;
  if (inputs != expected || (op.encoder_starts && outputs != all)) {
    node.fail("the encoder has {} inputs and {} outputs, expected {} and {}", inputs, outputs, expected, op.encoder_starts ? all : cross);
  }
  if (op.decoder.takes_hidden && !op.encoder_starts) node.fail("the decoder wants hidden states, which the encoder does not give");
}

}  // namespace

Generation Generation::read(const NodeView& node, Model otherwise) {
  const int64_t type = node.int_or("model_type", static_cast<int64_t>(otherwise));
  if (type < 0 || type > 2) node.fail("model_type is {}, expected 0 (decoder), 1 (encoder and decoder) or 2 (Whisper)", type);
  const Graph* graph = node.subgraph("decoder");
  if (!graph) node.fail("attribute 'decoder' is missing, expected a graph");
  Generation op;
  op.model = static_cast<Model>(type);
  op.eos = node.required_int("eos_token_id");
  op.pad = node.required_int("pad_token_id");
  op.start = node.int_or("decoder_start_token_id", -1);
  op.no_repeat_ngram = node.int_or("no_repeat_ngram_size", 0);
  op.vocabulary = std::max<int64_t>(0, node.int_or("vocab_size", -1));
  if (op.model == Model::t5 && op.start < 0) node.fail("decoder_start_token_id is {}, expected a token for model_type 1", op.start);
  op.decoder = op.model == Model::gpt ? read_gpt(node, *graph) : read_cross_decoder(node, *graph, op.model);
  if (op.model != Model::gpt) check_encoder(node, op);
  op.has_encoder = node.subgraph("encoder") != nullptr;
  if (const Graph* first = node.subgraph("init_decoder"); first && op.model == Model::gpt) {
    op.has_first_decoder = true;
    if (first->inputs().size() != graph->inputs().size() || first->outputs().size() != graph->outputs().size()) {
      node.fail("init_decoder has {} inputs and {} outputs, expected {} and {} as the decoder", first->inputs().size(),
                first->outputs().size(), graph->inputs().size(), graph->outputs().size());
    }
  }
  for (int i = 0; i < op.decoder.states; ++i) {
    const ValueType& past = graph->value(graph->inputs()[static_cast<size_t>(op.decoder.first_state + i)]).type;
    const int rank = op.model == Model::gpt ? 5 : 4;
    if (!past.is_tensor() || !past.tensor().has_rank() || past.tensor().rank() != rank || !(*past.tensor().dims)[rank - 3].is_constant() ||
        !(*past.tensor().dims)[rank - 1].is_constant()) {
      node.fail("input {} of the decoder is {}, expected a tensor of rank {} whose numbers of heads and of their elements are known",
                op.decoder.first_state + i, past.to_string(), rank);
    }
    op.pasts.push_back(past.tensor());
  }
  return op;
}

void infer(const Generation&, InferenceContext& context, std::span<const Dim> rows) {
  for (const char* name : {"decoder", "encoder", "init_decoder"}) {
    if (context.node().subgraph(name)) context.infer_subgraph(name, {});
  }
  SymbolicShape dims{Dim()};
  const TensorType& tokens = context.input_tensor(0);
  if (tokens.has_rank() && tokens.rank() > 0) dims[0] = tokens.dims->front();
  dims.insert(dims.end(), rows.begin(), rows.end());
  dims.push_back(size_input(context, 1));
  context.set_output(0, DType::int32, std::move(dims));
}

Dim size_input(const InferenceContext& context, int input) {
  const auto contents = context.input_contents(input);
  return contents && contents->size() == 1 ? contents->front() : Dim();
}

}  // namespace rh::ops
