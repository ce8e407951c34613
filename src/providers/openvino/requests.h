#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "providers/openvino/compiled.h"

namespace rh::openvino {

/// An inference request with the tensors that are bound to it, of one run at a time.
class Request {
 public:
  Request(const Runtime& runtime, const CompiledModel& compiled, size_t inputs, size_t outputs);
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// Memory in which the run reads or writes; nothing is done where the same stands there already.
  void bind_input(size_t index, int type, const Shape& shape, const void* data);
  void bind_output(size_t index, int type, const Shape& shape, void* data, size_t bytes);
  /// Before a run: gives each output bytes, or a shape, by which one shows that OpenVINO leaves unwritten. With one thread it gives no
  /// error where it fails.
  void mark_outputs();
  /// After a run: the first output that is as mark_outputs() left it, but for lists without elements and for less than four bytes.
  std::optional<size_t> marked_output() const;
  void infer();
  /// The same for a run that may be stopped: then the inference is cancelled, and Error thrown.
  void infer_watched(const kit::RunOutputs& run);
  /// After a run. Of an output that was bound, throws Error where OpenVINO gave it another shape; takes it from where OpenVINO wrote it.
  void finish_output(size_t index) const;
  /// After a run, of an output that was not bound: its shape, and its elements until the next run.
  std::pair<Shape, const void*> output(size_t index) const;

 private:
  struct Binding {
    VendorTensor* tensor = nullptr;
    const void* data = nullptr;
    Shape shape;
    size_t bytes = 0;  ///< of an output
  };
  using OwnedTensor = std::unique_ptr<VendorTensor, void (*)(VendorTensor*)>;
  using SetTensor = VendorStatus (*)(InferRequest*, size_t, const VendorTensor*);

  void bind(Binding& binding, SetTensor set, size_t index, int type, const Shape& shape, const void* data, const char* what);
  OwnedTensor output_tensor(size_t index) const;
  Shape shape_of(const VendorTensor& tensor) const;

  struct Done {
    VendorCallback callback{};  ///< of which OpenVINO keeps the address
    std::mutex mutex;
    std::condition_variable changed;
    bool is_done = false;
  };

  const Runtime& runtime_;
  InferRequest* request_ = nullptr;
  std::unique_ptr<Done> done_;  ///< from the first watched run on
  std::vector<Binding> inputs_, outputs_;
};

/// The requests of a compiled model: a run has one for itself. Of more runs than `most` at once, the later ones wait.
class Requests {
 public:
  Requests(const Runtime& runtime, const CompiledModel& compiled, size_t inputs, size_t outputs, size_t most);

  /// Gives its request back when it ends.
  class Lease {
   public:
    Lease(Requests& from, std::unique_ptr<Request> request) : from_(from), request_(std::move(request)) {}
    ~Lease() { from_.give_back(std::move(request_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Request& operator*() { return *request_; }
    /// A request that a failed run left in an unknown state is not used again.
    void drop() { request_.reset(); }

   private:
    Requests& from_;
    std::unique_ptr<Request> request_;
  };
  Lease take();

 private:
  void give_back(std::unique_ptr<Request> request);

  const Runtime& runtime_;
  const CompiledModel& compiled_;
  size_t inputs_, outputs_, most_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<Request>> free_;
  size_t taken_ = 0;
};

}  // namespace rh::openvino
