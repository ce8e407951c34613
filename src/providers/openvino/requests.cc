#include "providers/openvino/requests.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace rh::openvino {

namespace {

constexpr std::chrono::milliseconds kWatchInterval{5};  ///< at which a run is asked whether it is to stop

/// Bytes that no right output begins with.
constexpr unsigned char kMark[16] = {0xa5, 0x3c, 0x96, 0x7e, 0x1b, 0xd2, 0x68, 0xf1, 0x4d, 0x87, 0x2a, 0xe4, 0x59, 0xb0, 0x13, 0xcf};
constexpr size_t kLeastMark = 4;

/// What OpenVINO is given for a tensor without elements, whose address may be null.
alignas(64) char g_no_elements[64];

}  // namespace

Request::Request(const Runtime& runtime, const CompiledModel& compiled, size_t inputs, size_t outputs)
    : runtime_(runtime), inputs_(inputs), outputs_(outputs) {
  runtime.check(runtime.api().compiled_model_create_infer_request(&compiled, &request_), "create_infer_request");
}

Request::~Request() {
  const Api& api = runtime_.api();
  api.infer_request_free(request_);
  for (auto* bindings : {&inputs_, &outputs_}) {
    for (const Binding& binding : *bindings) {
      if (binding.tensor) api.tensor_free(binding.tensor);
    }
  }
}

void Request::bind_input(size_t index, int type, const Shape& shape, const void* data) {
  bind(inputs_[index], runtime_.api().infer_request_set_input_tensor_by_index, index, type, shape, data, "input");
}

void Request::bind_output(size_t index, int type, const Shape& shape, void* data, size_t bytes) {
  bind(outputs_[index], runtime_.api().infer_request_set_output_tensor_by_index, index, type, shape, data, "output");
  outputs_[index].bytes = bytes;
}

void Request::mark_outputs() {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Binding& output = outputs_[i];
    if (output.tensor) {
      std::memcpy(const_cast<void*>(output.data), kMark, std::min(output.bytes, sizeof kMark));
      continue;
    }
    const OwnedTensor tensor = output_tensor(i);
    Shape shape = shape_of(*tensor);
    for (int64_t& dim : shape) dim = 0;
    if (!shape.empty()) runtime_.check(runtime_.api().tensor_set_shape(tensor.get(), {shape.rank(), shape.data()}), "tensor_set_shape");
  }
}

std::optional<size_t> Request::marked_output() const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Binding& output = outputs_[i];
    if (output.tensor) {
      const size_t count = std::min(output.bytes, sizeof kMark);
      if (count >= kLeastMark && std::memcmp(output.data, kMark, count) == 0) return i;
      continue;
    }
    const Shape shape = shape_of(*output_tensor(i));
    if (shape.size() > 1 && std::ranges::all_of(shape, [](int64_t dim) { return dim == 0; })) return i;
  }
  return std::nullopt;
}

void Request::bind(Binding& binding, SetTensor set, size_t index, int type, const Shape& shape, const void* data, const char* what) {
  if (!data || shape.elements() == 0) data = g_no_elements;
  if (binding.tensor && binding.data == data && binding.shape == shape) return;
  const Api& api = runtime_.api();
  Shape dims = shape;
  VendorTensor* tensor = nullptr;
  runtime_.check(api.tensor_create_from_host_ptr(type, {dims.rank(), dims.data()}, const_cast<void*>(data), &tensor), what);
  const VendorStatus status = set(request_, index, tensor);
  if (status != 0) api.tensor_free(tensor);
  runtime_.check(status, what);
  if (binding.tensor) api.tensor_free(binding.tensor);
  binding = {.tensor = tensor, .data = data, .shape = shape};
}

void Request::infer() { runtime_.check(runtime_.api().infer_request_infer(request_), "inference"); }

void Request::infer_watched(const kit::RunOutputs& run) {
  const Api& api = runtime_.api();
  if (!done_) {
    done_ = std::make_unique<Done>();
    done_->callback.argument = done_.get();
    done_->callback.function = [](void* argument) {
      auto& done = *static_cast<Done*>(argument);
      const std::lock_guard lock(done.mutex);
      done.is_done = true;
      done.changed.notify_one();
    };
    runtime_.check(api.infer_request_set_callback(request_, &done_->callback), "set_callback");
  }
  done_->is_done = false;
  runtime_.check(api.infer_request_start_async(request_), "inference");
  bool is_stopped = false;
  for (std::unique_lock lock(done_->mutex); !done_->changed.wait_for(lock, kWatchInterval, [&] { return done_->is_done; });) {
    if (is_stopped || run.state() != RhRunState_IS_STOPPED) continue;
    is_stopped = true;
    lock.unlock();
    api.infer_request_cancel(request_);
    lock.lock();
  }
  const VendorStatus status = api.infer_request_wait(request_);
  if (is_stopped) fail(ErrorCode::ep_fail, "the run was stopped, and OpenVINO's inference cancelled");
  runtime_.check(status, "inference");
}

Shape Request::shape_of(const VendorTensor& tensor) const {
  VendorShape shape{};
  runtime_.check(runtime_.api().tensor_get_shape(&tensor, &shape), "tensor_get_shape");
  Shape dims(shape.dims, shape.dims + shape.rank);
  runtime_.api().shape_free(&shape);
  return dims;
}

void Request::finish_output(size_t index) const {
  const Binding& bound = outputs_[index];
  const auto [given, data] = output(index);
  if (given != bound.shape) {
    fail(ErrorCode::ep_fail, "OpenVINO gives output {} the shape {}, expected {}", index, given.to_string(), bound.shape.to_string());
  }
  if (bound.bytes > 0 && data != bound.data) std::memcpy(const_cast<void*>(bound.data), data, bound.bytes);
}

Request::OwnedTensor Request::output_tensor(size_t index) const {
  VendorTensor* tensor = nullptr;
  runtime_.check(runtime_.api().infer_request_get_output_tensor_by_index(request_, index, &tensor), "get_output_tensor");
  return {tensor, runtime_.api().tensor_free};
}

std::pair<Shape, const void*> Request::output(size_t index) const {
  const OwnedTensor tensor = output_tensor(index);
  Shape shape = shape_of(*tensor);
  void* data = nullptr;
  if (shape.elements() > 0) runtime_.check(runtime_.api().tensor_data(tensor.get(), &data), "tensor_data");
  return {std::move(shape), data};
}

Requests::Requests(const Runtime& runtime, const CompiledModel& compiled, size_t inputs, size_t outputs, size_t most)
    : runtime_(runtime), compiled_(compiled), inputs_(inputs), outputs_(outputs), most_(most) {}

Requests::Lease Requests::take() {
  {
    std::unique_lock lock(mutex_);
    given_back_.wait(lock, [&] { return taken_ < most_; });
    ++taken_;
    if (!free_.empty()) {
      std::unique_ptr<Request> request = std::move(free_.back());
      free_.pop_back();
      return {*this, std::move(request)};
    }
  }
  try {
    return {*this, std::make_unique<Request>(runtime_, compiled_, inputs_, outputs_)};
  } catch (...) {
    give_back(nullptr);
    throw;
  }
}

void Requests::give_back(std::unique_ptr<Request> request) {
  {
    const std::lock_guard lock(mutex_);
    --taken_;
    if (request) free_.push_back(std::move(request));
  }
  given_back_.notify_one();
}

}  // namespace rh::openvino
