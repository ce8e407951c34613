#include "explain_page.h"

#include <explain_page_files.h>

namespace rh::cli {

namespace {

void put(std::string& page, const std::string& mark, const std::string& content) {
  const size_t at = page.find(mark);
  if (at != std::string::npos) page.replace(at, mark.size(), content);
}

// Text of the model must not end the script element that it stands in.
std::string for_script(const nlohmann::json& report) {
  const std::string text = report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string result;
  for (char c : text) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

std::string explain_page(const nlohmann::json& report) {
  std::string page = kExplainHtml;
  put(page, "/*STYLE*/", kExplainCss);
  put(page, "/*SCRIPT*/", std::string(kLayoutJs) + kViewJs + kExplainJs);
  put(page, "/*DATA*/", for_script(report));
  return page;
}

}  // namespace rh::cli
