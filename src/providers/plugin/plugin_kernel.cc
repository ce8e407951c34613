#include "providers/plugin/plugin_kernel.h"

#include "base/cancellation.h"
#include "providers/plugin/call.h"
#include "providers/plugin/packed_weights.h"

namespace rh::plugin {

Ep::~Ep() {
  tell([&] { factory.ReleaseEp(&factory, &raw); });
}

ComputeInfos::~ComputeInfos() {
  if (RH_HAS(ep->raw, 23, ReleaseNodeComputeInfos)) {
    tell([&] { ep->raw.ReleaseNodeComputeInfos(&ep->raw, infos.data(), infos.size()); });
  }
}

namespace {

template <typename F>
Status compute(const std::string& provider, std::string_view function, const OrtKernelContext& context, F&& body) {
  RH_RETURN_IF_ERROR(try_call(provider, function, std::forward<F>(body)));
  const Status given = context.check_given();
  return given.ok() ? given : error_status(given.code(), "{}: {}: {}", provider, function, given.message());
}

class UnitKernel final : public Kernel {
 public:
  UnitKernel(std::shared_ptr<const UnitState> state, KernelPlace place) : state_(std::move(state)), place_(std::move(place)) {}

  Status run(RunContext& run_context) const override {
    OrtKernelContext context(run_context, place_);
    Status status = state_->compute(context);
    if (!status.ok()) throw_if_cancelled();  // that is why it failed, and says so
    return status;
  }

 private:
  std::shared_ptr<const UnitState> state_;
  KernelPlace place_;
};

class NodeKernel final : public Kernel {
 public:
  NodeKernel(std::shared_ptr<Ep> ep, const OrtKernelRegistry::Entry& entry, std::unique_ptr<OrtKernelInfo> info, KernelPlace place)
      : ep_(std::move(ep)), info_(std::move(info)), place_(std::move(place)) {
    call(ep_->name, fmt::format("creating the kernel of {}", info_->node->op_text()),
         [&] { return entry.create(entry.state, info_.get(), &impl_); });
    if (!impl_ || !impl_->Compute) fail(ErrorCode::ep_fail, "{}: its kernel of {} has no Compute", ep_->name, info_->node->op_text());
    for (const auto& [input, output] : entry.def.mutable_aliases) aliases_.push_back({output, input, Alias::Kind::in_place});
    pack_weights();
  }
  ~NodeKernel() override {
    if (impl_ && impl_->Release) tell([&] { impl_->Release(impl_); });
  }

  Status run(RunContext& run_context) const override {
    OrtKernelContext context(run_context, place_);
    return compute(ep_->name, "OrtKernelImpl::Compute", context, [&] { return impl_->Compute(impl_, &context); });
  }
  std::span<const Alias> aliases() const override { return aliases_; }
  size_t packed_bytes() const override {
    size_t bytes = 0;
    for (const auto& shared : shared_) bytes += shared->bytes();
    return bytes;
  }
  bool owns_constant(int i) const override { return static_cast<size_t>(i) < packed_.size() && packed_[static_cast<size_t>(i)]; }

 private:
  void pack_weights() {
    packed_.resize(info_->constants.size());
    if (!RH_HAS(*impl_, 24, PrePackWeight)) return;
    for (size_t i = 0; i < packed_.size(); ++i) {
      if (!info_->constants[i]) continue;
      bool is_packed = false;
      // What is in the host's memory can be compared, and so shared.
      auto cache = place_.memory || !place_.allocator ? nullptr : std::make_unique<OrtSharedPrePackedWeightCache>(*place_.allocator);
      call(ep_->name, "OrtKernelImpl::PrePackWeight", [&] {
        return impl_->PrePackWeight(impl_, info_->constants[i].get(), static_cast<int>(i), place_.allocator, cache.get(), &is_packed);
      });
      packed_[i] = is_packed;
      if (cache && !cache->buffers.empty()) take_shared(std::move(cache), static_cast<int>(i));
    }
  }

  void take_shared(std::unique_ptr<OrtSharedPrePackedWeightCache> cache, int input) {
    if (!RH_HAS(*impl_, 24, SetSharedPrePackedWeight)) {
      fail(ErrorCode::ep_fail, "{}: its kernel of {} shares packed weights, but has no SetSharedPrePackedWeight", ep_->name,
           info_->node->op_text());
    }
    std::vector<const void*> buffers;
    for (const auto& buffer : cache->buffers) buffers.push_back(buffer.get());
    call(ep_->name, "OrtKernelImpl::SetSharedPrePackedWeight",
         [&] { return impl_->SetSharedPrePackedWeight(impl_, buffers.data(), cache->sizes.data(), buffers.size(), input); });
    shared_.push_back(std::move(cache));
  }

  std::shared_ptr<Ep> ep_;
  std::unique_ptr<OrtKernelInfo> info_;
  KernelPlace place_;
  OrtKernelImpl* impl_ = nullptr;
  std::vector<Alias> aliases_;
  std::vector<bool> packed_;                                            // by input
  std::vector<std::unique_ptr<OrtSharedPrePackedWeightCache>> shared_;  // outlive the plugin's kernel
};

}  // namespace

UnitState::UnitState(std::shared_ptr<ComputeInfos> infos, size_t index, const std::string& node)
    : infos_(std::move(infos)), info_(*infos_->infos[index]), context_{node} {
  if (!info_.Compute) fail(ErrorCode::ep_fail, "{}: the OrtNodeComputeInfo of '{}' has no Compute", infos_->ep->name, node);
}

UnitState::~UnitState() {
  if (is_made_ && info_.ReleaseState) tell([&] { info_.ReleaseState(&info_, state_); });
}

void UnitState::make() {
  if (is_made_) return;
  if (info_.CreateState) {
    call(infos_->ep->name, "OrtNodeComputeInfo::CreateState", [&] { return info_.CreateState(&info_, &context_, &state_); });
  }
  is_made_ = true;
}

Status UnitState::compute(OrtKernelContext& context) const {
  return rh::plugin::compute(infos_->ep->name, "OrtNodeComputeInfo::Compute", context,
                             [&] { return info_.Compute(&info_, state_, &context); });
}

std::unique_ptr<Kernel> make_unit_kernel(std::shared_ptr<const UnitState> state, KernelPlace place) {
  return std::make_unique<UnitKernel>(std::move(state), std::move(place));
}

std::unique_ptr<Kernel> make_node_kernel(std::shared_ptr<Ep> ep, const OrtKernelRegistry::Entry& entry, std::unique_ptr<OrtKernelInfo> info,
                                         KernelPlace place) {
  return std::make_unique<NodeKernel>(std::move(ep), entry, std::move(info), std::move(place));
}

}  // namespace rh::plugin
