// OrtEpApi: profiling events.
#include "capi/guard.h"
#include "capi/table.h"
#include "providers/plugin/profiling.h"

namespace rh::capi::ep_api {

OrtStatus* ORT_API_CALL CreateProfilingEvent(OrtProfilingEventCategory category, int32_t process, int32_t thread, const char* name,
                                             int64_t timestamp_us, int64_t duration_us, const char* const* keys, const char* const* values,
                                             size_t count, OrtProfilingEvent** out) {
  return guard([&] {
    checked(out, "out") = nullptr;
    checked_array(keys, count, "arg_keys");
    checked_array(values, count, "arg_values");
    auto event = std::make_unique<OrtProfilingEvent>();
    if (category < OrtProfilingEventCategory_SESSION || category > OrtProfilingEventCategory_API) {
      fail(ErrorCode::invalid_argument, "argument 'category' is {}, expected 0 to {}", static_cast<int>(category),
           static_cast<int>(OrtProfilingEventCategory_API));
    }
    TraceEvent& made = event->event;
    made.category = static_cast<TraceEvent::Category>(category);
    made.process = process;
    made.thread = thread;
    made.name = &checked(name, "event_name");
    made.begin_us = timestamp_us;
    made.duration_us = duration_us;
    for (size_t i = 0; i < count; ++i) made.arguments[&checked(keys[i], "arg_keys[i]")] = &checked(values[i], "arg_values[i]");
    *out = event.release();
  });
}

void ORT_API_CALL ReleaseProfilingEvent(OrtProfilingEvent* event) { delete event; }

OrtStatus* ORT_API_CALL ProfilingEvent_GetCategory(const OrtProfilingEvent* event, OrtProfilingEventCategory* out) {
  return guard([&] { checked(out, "out") = static_cast<OrtProfilingEventCategory>(checked(event, "event").event.category); });
}

OrtStatus* ORT_API_CALL ProfilingEvent_GetName(const OrtProfilingEvent* event, const char** out) {
  return guard([&] { checked(out, "out") = checked(event, "event").event.name.c_str(); });
}

OrtStatus* ORT_API_CALL ProfilingEvent_GetTimestampUs(const OrtProfilingEvent* event, int64_t* out) {
  return guard([&] { checked(out, "out") = checked(event, "event").event.begin_us; });
}

OrtStatus* ORT_API_CALL ProfilingEvent_GetDurationUs(const OrtProfilingEvent* event, int64_t* out) {
  return guard([&] { checked(out, "out") = checked(event, "event").event.duration_us; });
}

OrtStatus* ORT_API_CALL ProfilingEvent_GetArgValue(const OrtProfilingEvent* event, const char* key, const char** out) {
  return guard([&] {
    const auto& arguments = checked(event, "event").event.arguments;
    const auto at = arguments.find(&checked(key, "key"));
    checked(out, "out") = at == arguments.end() ? nullptr : at->second.c_str();
  });
}

OrtStatus* ORT_API_CALL ProfilingEventsContainer_AddEvents(OrtProfilingEventsContainer* container, const OrtProfilingEvent* const* events,
                                                           size_t count) {
  return guard([&] {
    OrtProfilingEventsContainer& target = checked(container, "events_container");
    checked_array(events, count, "events");
    for (size_t i = 0; i < count; ++i) target.events.push_back(checked(events[i], "events[i]").event);
  });
}

}  // namespace rh::capi::ep_api
