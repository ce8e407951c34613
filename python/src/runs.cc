// What goes into runs and comes out of them.
#include "runs.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

namespace rh::python {

namespace {

std::atomic<int64_t> g_async_runs{0};
// The child of a fork has none of the threads that would call back.
[[maybe_unused]] const int g_registered = pthread_atfork(nullptr, nullptr, [] { g_async_runs = 0; });

}  // namespace

Feed::Feed(const nb::dict& feed, const std::map<std::string, DeclaredType>& declared) {
  own.reserve(feed.size());
  for (auto [key, object] : feed) {
    if (object.is_none()) continue;
    const std::string& name = names.emplace_back(nb::cast<std::string>(key));
    if (nb::isinstance<PyValue>(object)) {
      values.push_back(nb::cast<PyValue&>(object).value);
      continue;
    }
    const auto type = declared.find(name);
    nb::object& holder = holders.emplace_back();
    own.push_back(value_from_object(object, holder, type == declared.end() ? nullptr : &type->second));
    values.push_back(own.back());
  }
}

void ORT_API_CALL ValueCollector::call(void* state, const RhNodeRun* node) {
  auto& collector = *static_cast<ValueCollector*>(state);
  if (collector.error || node->depth > 0) return;
  try {
    for (size_t i = 0; i < node->output_count; ++i) collector.take(node->output_names[i], node->outputs[i]);
  } catch (...) {
    collector.error = std::current_exception();
  }
}

void ValueCollector::take(const char* name, const OrtValue* raw) {
  if (!raw || !Ort::ConstValue(raw).IsTensor()) return;
  const Ort::ConstValue value(raw);
  const auto info = value.GetTensorTypeAndShapeInfo();
  if (info.GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return;
  const std::vector<int64_t> shape = info.GetShape();
  Ort::AllocatorWithDefaultOptions allocator;
  Ort::Value copy = Ort::Value::CreateTensor(allocator, shape.data(), shape.size(), info.GetElementType());
  if (const size_t bytes = value.GetTensorSizeInBytes()) std::memcpy(copy.GetTensorMutableRawData(), value.GetTensorRawData(), bytes);
  values.emplace_back(name, std::move(copy));
}

void AsyncRun::finished(void* data, OrtValue**, size_t, OrtStatusPtr failure) {
  nb::gil_scoped_acquire locked;
  {
    const std::unique_ptr<AsyncRun> run(static_cast<AsyncRun*>(data));
    const Ort::Status status(failure);
    std::string problem = status.IsOK() ? std::string() : status.GetErrorMessage();
    nb::list results;
    try {
      if (status.IsOK()) results = run->wanted.results([](Ort::Value value) { return value_to_object(std::move(value)); });
    } catch (const std::exception& error) {
      problem = error.what();
    }
    try {
      run->callback(results, run->user_data, problem);
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("the callback of run_async");
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
      PyErr_WriteUnraisable(run->callback.ptr());
    }
  }
  --g_async_runs;
}

void count_async_run(int change) { g_async_runs += change; }

void finish_async_runs() {
  nb::gil_scoped_release released;
  while (g_async_runs > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace rh::python
