// Sessions made from models in memory, and models that are edited before their session starts.
#include "abi/model_builder.h"
#include "capi/guard.h"
#include "capi/session.h"
#include "capi/table.h"
#include "onnx/reader.h"

namespace rh::capi::model_editor {

namespace {

std::string data_folder(const OrtSessionOptions* options) {
  return options ? glance_at_settings(options->config.pairs()).external_data_folder.value_or("") : std::string();
}

OrtSession* new_edited_session(const OrtEnv& env, Model model) {
  auto session = std::make_unique<OrtSession>(env);
  session->editing = std::make_unique<OrtSession::Editing>();
  session->editing->signature = declared_signature(*model.graph);
  session->editing->model = std::move(model);
  return session.release();
}

}  // namespace

OrtStatus* ORT_API_CALL CreateSessionFromModel(const OrtEnv* env, const OrtModel* model, const OrtSessionOptions* options,
                                               OrtSession** out) {
  return guard([&] {
    checked(out, "out") = nullptr;
    auto session = std::make_unique<OrtSession>(checked(env, "env"));
    session->session = Session::create(abi::build_model(checked(model, "model")), session_options(*env, options));
    *out = session.release();
  });
}

OrtStatus* ORT_API_CALL CreateModelEditorSession(const OrtEnv* env, const ORTCHAR_T* path, const OrtSessionOptions* options,
                                                 OrtSession** out) {
  return guard([&] {
    checked(out, "out") = nullptr;
    checked(env, "env");
    *out = new_edited_session(*env, onnx::read_model(utf8(&checked(path, "model_path")), {.folder = data_folder(options)}));
  });
}

OrtStatus* ORT_API_CALL CreateModelEditorSessionFromArray(const OrtEnv* env, const void* data, size_t bytes,
                                                          const OrtSessionOptions* options, OrtSession** out) {
  return guard([&] {
    checked(out, "out") = nullptr;
    checked(env, "env");
    const auto* first = checked_array(static_cast<const std::byte*>(data), bytes, "model_data");
    *out = new_edited_session(*env, onnx::read_model(std::span(first, bytes), {.folder = data_folder(options)}));
  });
}

OrtStatus* ORT_API_CALL SessionGetOpsetForDomain(const OrtSession* session, const char* domain, int* out) {
  return guard([&] {
    int& version = checked(out, "opset");
    checked(domain, "domain");
    const auto& imports =
        checked(session, "session").editing ? session->editing->model.graph->opset_imports : session_of(session).opset_imports();
    const auto found = imports.find(domain);
    if (found == imports.end()) fail(ErrorCode::fail, "Domain not used by model: '{}'", domain);
    version = found->second;
  });
}

OrtStatus* ORT_API_CALL ApplyModelToModelEditorSession(OrtSession* session, OrtModel* model) {
  return guard([&] {
    if (!checked(session, "session").editing) fail(ErrorCode::model_loaded, "This session has already been initialized.");
    Graph& graph = *session->editing->model.graph;
    abi::add_to_graph(*graph.clone(), checked(model, "model"));  // an addition that does not fit leaves the graph as it was
    abi::add_to_graph(graph, *model);
    session->editing->signature = declared_signature(graph);
  });
}

OrtStatus* ORT_API_CALL FinalizeModelEditorSession(OrtSession* session, const OrtSessionOptions* options,
                                                   OrtPrepackedWeightsContainer* weights) {
  return guard([&] {
    if (checked(session, "session").session) return;
    if (!session->editing) fail(ErrorCode::fail, "the session could not be made when it was finalized before");
    const auto editing = std::move(session->editing);
    const KeepingScope keeping(weights ? &weights->kept : nullptr);
    session->session = Session::create(std::move(editing->model), session_options(*session->env, options));
  });
}

}  // namespace rh::capi::model_editor
