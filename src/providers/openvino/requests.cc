#include "providers/openvino/requests.h"

#include <algorithm>
#include <chrono>

namespace rh::openvino {

namespace {

constexpr std::chrono::milliseconds kWatchInterval{5};  ///< at which a run is asked whether it is to stop

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

void Request::bind_output(size_t index, int type, const Shape& shape, void* data) {
  bind(outputs_[index], runtime_.api().infer_request_set_output_tensor_by_index, index, type, shape, data, "output");
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
  binding = {tensor, data, shape};
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

void Request::check_output(size_t index) const {
  const Shape given = shape_of(*outputs_[index].tensor);
  if (given != outputs_[index].shape) {
    fail(ErrorCode::ep_fail, "OpenVINO gives output {} the shape {}, expected {}", index, given.to_string(),
         outputs_[index].shape.to_string());
  }
}

std::pair<Shape, const void*> Request::output(size_t index) const {
  const Api& api = runtime_.api();
  VendorTensor* tensor = nullptr;
  runtime_.check(api.infer_request_get_output_tensor_by_index(request_, index, &tensor), "get_output_tensor");
  const std::unique_ptr<VendorTensor, void (*)(VendorTensor*)> owner(tensor, api.tensor_free);
  Shape shape = shape_of(*tensor);
  void* data = nullptr;
  if (shape.elements() > 0) runtime_.check(api.tensor_data(tensor, &data), "tensor_data");
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
