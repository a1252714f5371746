#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/contract/checks.hpp"
#include "api-client/contract/validate.hpp"

namespace ws::contract {

namespace {

Json to_json(const std::vector<Step>& loc) {
  Json steps = Json::array();
  for (const Step& step : loc) {
    std::visit([&](const auto& value) { steps.push_back(value); }, step);
  }
  return steps;
}

}  // namespace

Violation json_invalid(std::string_view reason, std::size_t position) {
  return {.loc = {std::string("body"), position},
          .type = "json_invalid",
          .message = "JSON decode error",
          .input = Json::object(),
          .context = Json{{"error", std::string(reason)}}};
}

Violation extra_forbidden(std::vector<Step> loc, const Json& input) {
  return {.loc = std::move(loc),
          .type = "extra_forbidden",
          .message = "Extra inputs are not permitted",
          .input = excerpt(input)};
}

Json to_json(std::span<const Violation> violations) {
  Json detail = Json::array();
  for (const Violation& violation : violations) {
    Json entry = {{"loc", to_json(violation.loc)},
                  {"msg", violation.message},
                  {"type", violation.type},
                  {"input", *violation.input}};
    if (!violation.context.is_null()) entry["ctx"] = *violation.context;
    detail.push_back(std::move(entry));
  }
  return {{"detail", std::move(detail)}, {"code", "validation_error"}};
}

std::string render(std::span<const Step> loc) {
  std::string text;
  for (const Step& step : loc) {
    if (const auto* name = std::get_if<std::string>(&step)) {
      if (!text.empty()) text += '.';
      text += *name;
    } else {
      text += fmt::format("[{}]", std::get<std::size_t>(step));
    }
  }
  return text;
}

std::string render(const Violation& violation) { return render(violation.loc) + ": " + violation.message; }

}  // namespace ws::contract
