#include "cli/output/failure.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/terminal/clean.hpp"

namespace ws::cli {
namespace {

std::string_view word_of(ExitCode exit) {
  for (const ExitCodeMeaning& meaning : exit_codes()) {
    if (meaning.code == exit) return meaning.name;
  }
  return "unexpected";
}

/// Request id and whether the change was made, for a support request; the message has operation, status and code.
std::string circumstances(const Failure& failure) {
  std::string text = failure.request_id.empty() ? std::string() : "request " + failure.request_id;
  if (failure.call.applied == Applied::unknown) {
    const bool is_staging = failure.call.operation == "sync.push";
    text += text.empty() ? "" : "; ";
    text += is_staging ? "it is not known whether the last changes were staged"
                       : "it is not known whether the change was made";
  }
  return text;
}

}  // namespace

std::string render_failure(const Failure& failure, ExitCode exit, const Terminal& terminal) {
  const bool is_signal = exit == ExitCode::interrupted || exit == ExitCode::terminated;
  // After Ctrl-C the only news is that a change was made, or that its outcome is unknown.
  if (is_signal && failure.call.applied == Applied::no) return {};
  std::string text = terminal.paint(Stream::err, Look::bad, "error:") + " " + clean(failure.what, Breaks::space) + "\n";
  const std::string why = circumstances(failure);
  if (!why.empty()) text += terminal.paint(Stream::err, Look::faint, "  " + clean(why, Breaks::space)) + "\n";
  if (!failure.hint.empty()) text += "  " + clean(failure.hint, Breaks::space) + "\n";
  return text;
}

Json failure_to_json(const Failure& failure, ExitCode exit) {
  Json error = Json::object();
  error["code"] = failure.code.empty() ? Json(word_of(exit)) : Json(failure.code);
  error["exit"] = number(exit);
  error["message"] = failure.what;
  error["hint"] = text_or_null(failure.hint);
  error["http_status"] = failure.call.http_status == 0 ? Json() : Json(failure.call.http_status);
  error["operation"] = text_or_null(failure.call.operation);
  error["request_id"] = text_or_null(failure.request_id);
  error["applied"] = name(failure.call.applied);
  error["retryable"] = failure.call.retryable;
  error["retry_after_ms"] = failure.call.retry_after ? Json(failure.call.retry_after->count()) : Json();
  error["idempotency_key"] = text_or_null(failure.call.idempotency_key);
  error["details"] = Json();
  if (!failure.call.details.empty()) {
    if (auto details = parse_bounded(failure.call.details)) error["details"] = std::move(*details);
  }
  return error;
}

std::string failure_line(const Failure& failure, ExitCode exit) {
  Json whole = Json::object();
  whole["error"] = failure_to_json(failure, exit);
  return escape_json(dump(whole)) + "\n";
}

}  // namespace ws::cli
