// What a plugin's library may export beside CreateEpFactories and ReleaseEpFactory, for Roundhouse alone: other hosts never ask for it.
#pragma once

#include "onnxruntime_ep_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Why a provider does not run a node: the codes of RhSessionGetReport's "refusals".
typedef enum RhRefusalCode {
  RhRefusalCode_OP = 0,
  RhRefusalCode_OPSET = 1,
  RhRefusalCode_TYPE = 2,
  RhRefusalCode_SHAPE = 3,
  RhRefusalCode_ATTRIBUTE = 4,
  RhRefusalCode_LAYOUT = 5,
  RhRefusalCode_CLAIMED_EARLIER = 6,
  RhRefusalCode_UNIT = 7,
  RhRefusalCode_COST = 8,
  RhRefusalCode_FORCED = 9,
  RhRefusalCode_UNSTATED = 10,
} RhRefusalCode;

/// A node that OrtEp::GetCapability left out of its answer.
typedef struct RhEpRefusal {
  size_t node_id;  ///< as Node_GetId gives it
  RhRefusalCode code;
  const char* reason;  ///< a sentence
} RhEpRefusal;

/// Exported as "RhEpGetRefusals": what the provider refused of the graph that its last GetCapability was asked about, valid until the next
/// call of that, or the provider's end.
typedef OrtStatus*(ORT_API_CALL* RhEpGetRefusalsFn)(_In_ const OrtEp* ep, _Outptr_ const RhEpRefusal** refusals, _Out_ size_t* count);

/// Exported as "RhEpUnitHostInputs": of the unit at position `unit` among those of the last GetCapability, in the order in which
/// EpGraphSupportInfo_AddNodesToFuse was told of them, the names of values from outside that it wants in host memory though the provider
/// works on a device. They are valid until the next GetCapability, or the provider's end.
typedef OrtStatus*(ORT_API_CALL* RhEpUnitHostInputsFn)(_In_ const OrtEp* ep, _In_ size_t unit, _Outptr_ const char* const** names,
                                                       _Out_ size_t* count);

/// Exported as "RhEpGetPasses": names of passes of the host (docs/passes.md), which it runs in this order over the nodes that the provider
/// took, those of its units and their bodies included; then the provider is asked again about what they gave. Asked once, when the session
/// is made; a name that the host does not have ends it. The names are valid until the provider's end.
typedef OrtStatus*(ORT_API_CALL* RhEpGetPassesFn)(_In_ const OrtEp* ep, _Outptr_ const char* const** names, _Out_ size_t* count);

/// How the run of the calling thread stands.
typedef enum RhRunState {
  RhRunState_GOES_ON = 0,
  RhRunState_IS_STOPPED = 1,  ///< its terminate flag is set, or its time is over
  RhRunState_ENDLESS = 2,     ///< nothing can stop it
} RhRunState;
typedef RhRunState(ORT_API_CALL* RhAskRunStateFn)(void);

/// Exported as "RhEpWatchRuns": told once, when the provider is made. What takes long within a run asks `ask` now and then, on the thread
/// on which the host called, and returns an error where the run is stopped.
typedef void(ORT_API_CALL* RhEpWatchRunsFn)(_In_ OrtEp* ep, _In_ RhAskRunStateFn ask);

/// At which addresses a provider reads the elements of initializers.
typedef enum RhInitializerAddresses {
  RhInitializerAddresses_ALIGNED = 0,       ///< such as their types allow: who exports nothing gets these
  RhInitializerAddresses_ANY_TO_CLAIM = 1,  ///< any in GetCapability; what it takes is aligned in Compile
  RhInitializerAddresses_ANY = 2,           ///< any in Compile too, of units whose constant initializers are dropped
} RhInitializerAddresses;

/// Exported as "RhEpInitializerAddresses": asked once, when the provider is made. Large initializers then stay where the model's file has
/// them until somebody takes them, and are no copies.
typedef RhInitializerAddresses(ORT_API_CALL* RhEpInitializerAddressesFn)(_In_ const OrtEp* ep);

#ifdef __cplusplus
}
#endif
