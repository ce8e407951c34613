#include "passes/pattern/kernel_sum.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/nn/conv.h"
#include "passes/driver/rewrite.h"
#include "tensor/dispatch.h"
#include "tensor/narrowed.h"

namespace rh::passes {

namespace {

/// The pads as numbers: those that follow from the size of the input are known where that is, or where the stride is 1.
std::optional<ops::Sizes> known_pads(const ops::Window& window, const TensorType& x) {
  const bool follows = window.auto_pad == ops::AutoPad::same_upper || window.auto_pad == ops::AutoPad::same_lower;
  const size_t axes = window.strides.size();
  std::vector<int64_t> spatial(axes, 1);
  if (follows && !ops::all_are(window.strides, 1)) {
    if (!x.is_static() || x.dims->size() != axes + 2) return std::nullopt;
    for (size_t i = 0; i < axes; ++i) spatial[i] = (*x.dims)[i + 2].value();
  }
  ops::Sizes pads = window.pads_for(spatial);
  const bool crops = std::ranges::any_of(pads, [](int64_t pad) { return pad < 0; });
  return crops ? std::nullopt : std::optional(std::move(pads));
}

/// Calls visit for each position of the window, as offsets from the output's position times the stride, in the order of the weights.
template <typename Visit>
void for_each_position(const KernelWindow& window, const Visit& visit) {
  std::vector<int64_t> position;
  for (const KernelAxis& axis : window) position.push_back(axis.first);
  for (size_t axis = window.size(); axis > 0;) {
    if (axis == window.size()) visit(position);
    position[axis - 1] += window[axis - 1].dilation;
    if (position[axis - 1] <= window[axis - 1].last) {
      axis = window.size();
    } else {
      position[axis - 1] = window[axis - 1].first;
      --axis;
    }
  }
}

/// The place of each position of the term's kernel among those of the window.
std::vector<int64_t> places_of(const KernelTerm& term, const KernelWindow& window) {
  std::vector<int64_t> places;
  const auto add = [&](const std::vector<int64_t>& position) {
    int64_t place = 0;
    for (size_t i = 0; i < position.size(); ++i) place = place * window[i].size() + (position[i] - window[i].first) / window[i].dilation;
    places.push_back(place);
  };
  if (term.conv) {
    for_each_position(term.conv->window, add);
  } else {
    add(std::vector<int64_t>(window.size(), 0));
  }
  return places;
}

/// Adds what the term has for an output channel to rows of `size` positions, one for each input channel of the group.
template <typename T>
void add_row(const KernelTerm& term, const std::vector<int64_t>& places, int64_t output, int64_t size, std::vector<double>& rows) {
  const int64_t columns = static_cast<int64_t>(rows.size()) / size, count = static_cast<int64_t>(places.size());
  if (!term.conv) {
    rows[static_cast<size_t>(output % columns * size + places[0])] += term.factor * term.affine.scale[static_cast<size_t>(output)];
    return;
  }
  std::vector<T> weights(static_cast<size_t>(columns * count));  // of a file, at any address
  std::memcpy(weights.data(), term.conv->op.weights->data<std::byte>() + static_cast<size_t>(output) * weights.size() * sizeof(T),
              weights.size() * sizeof(T));
  const T* from = weights.data();
  for (int64_t column = 0; column < columns; ++column) {
    for (const int64_t place : places) rows[static_cast<size_t>(column * size + place)] += term.factor * static_cast<double>(*from++);
  }
}

}  // namespace

int64_t kernel_size(const KernelWindow& window) {
  Shape sizes;
  for (const KernelAxis& axis : window) sizes.push_back(axis.size());
  return sizes.elements();
}

std::optional<KernelWindow> united(const KernelWindow& a, const KernelWindow& b) {
  KernelWindow result = a;
  for (size_t i = 0; i < a.size(); ++i) {
    const bool a_is_point = a[i].first == a[i].last, b_is_point = b[i].first == b[i].last;
    const int64_t between = a[i].first > b[i].first ? a[i].first - b[i].first : b[i].first - a[i].first;
    const int64_t dilation = !a_is_point ? a[i].dilation : !b_is_point ? b[i].dilation : std::max<int64_t>(between, 1);
    if ((!b_is_point && b[i].dilation != dilation) || between % dilation != 0) return std::nullopt;
    result[i] = {std::min(a[i].first, b[i].first), std::max(a[i].last, b[i].last), dilation, a[i].limit};
  }
  return result;
}

std::optional<PlacedConvolution> placed_convolution(const Graph& graph, const Node& node) {
  if (!is_op(node, "Conv")) return std::nullopt;
  const auto op = linear_operator(graph, node);
  if (!op) return std::nullopt;
  const size_t axes = static_cast<size_t>(op->weights->shape().rank()) - 2;
  const ops::Window window = ops::Conv::read(NodeView(graph, node)).window;
  const auto pads = window.is_complete(axes) ? known_pads(window, tensor_type(graph, node.inputs[0])) : std::nullopt;
  if (!pads) return std::nullopt;
  PlacedConvolution result{*op, {}, window.strides};
  for (size_t i = 0; i < axes; ++i) {
    const int64_t first = -(*pads)[i], last = first + window.effective_kernel(i) - 1;
    result.window.push_back({first, last, window.kernel[i] == 1 ? 1 : window.dilations[i], (*pads)[axes + i] - last});
  }
  return result;
}

std::optional<std::vector<Tensor>> summed_kernels(const PlacedConvolution& like, const KernelWindow& window,
                                                  const std::vector<KernelTerm>& terms) {
  const Tensor& weights = *like.op.weights;
  const int64_t size = kernel_size(window), columns = weights.shape()[1];
  Shape shape{weights.shape()[0], columns};
  for (const KernelAxis& axis : window) shape.push_back(axis.size());
  std::vector<std::vector<int64_t>> places;
  for (const KernelTerm& term : terms) places.push_back(places_of(term, window));
  std::vector<Tensor> result{Tensor(weights.dtype(), shape)};
  std::vector<double> row(static_cast<size_t>(columns * size)), bias(static_cast<size_t>(shape[0]), 0.0);
  bool finite = true;
  dispatch_or_throw<FloatingTypes>(weights.dtype(), "sum of kernels", [&]<typename T>() {
    for (int64_t output = 0; output < shape[0]; ++output) {
      std::ranges::fill(row, 0.0);
      for (size_t i = 0; i < terms.size(); ++i) add_row<T>(terms[i], places[i], output, size, row);
      T* to = result[0].data<T>() + output * columns * size;
      for (size_t k = 0; k < row.size(); ++k) {
        to[k] = narrowed<T>(row[k]);
        finite &= std::isfinite(static_cast<double>(to[k]));
      }
    }
  });
  for (const KernelTerm& term : terms) {
    const std::vector<double> added = term.conv ? bias_values(term.conv->op) : term.affine.shift;
    for (size_t c = 0; c < bias.size(); ++c) bias[c] += term.factor * added[c];
  }
  auto total = channel_parameters(weights.dtype(), bias);
  if (!finite || !total) return std::nullopt;
  if (std::ranges::any_of(bias, [](double v) { return v != 0.0; })) result.push_back(std::move(*total));
  return result;
}

std::vector<Attribute> window_attributes(const PlacedConvolution& like, const KernelWindow& window) {
  std::vector<int64_t> kernel, dilations, pads, ends;
  for (const KernelAxis& axis : window) {
    kernel.push_back(axis.size());
    dilations.push_back(axis.dilation);
    pads.push_back(-axis.first);
    ends.push_back(axis.limit + axis.last);
  }
  pads.insert(pads.end(), ends.begin(), ends.end());
  return {{"dilations", std::move(dilations)},
          {"group", like.op.group},
          {"kernel_shape", std::move(kernel)},
          {"pads", std::move(pads)},
          {"strides", std::vector<int64_t>(like.strides.begin(), like.strides.end())}};
}

}  // namespace rh::passes
