#include "cli/output/failure.hpp"

#include <nlohmann/json.hpp>

#include "api-client/base/clean.hpp"
#include "cli/terminal/table.hpp"

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

constexpr std::size_t hanging_indent = 2;

std::string laid_out(std::string_view text, const Terminal& terminal) {
  return wrap_for(terminal, Stream::err, clean(text, Breaks::space), hanging_indent);
}

}  // namespace

std::string render_failure(const Failure& failure, ExitCode exit, const Terminal& terminal) {
  const bool is_signal = exit == ExitCode::interrupted || exit == ExitCode::terminated;
  // After Ctrl-C the only news is that a change was made, that its outcome is unknown, or how to continue.
  if (is_signal && failure.call.applied == Applied::no && failure.hint.empty()) return {};
  constexpr std::string_view word = "error:";
  const std::string what = laid_out(std::string(word) + " " + failure.what, terminal);
  std::string text = terminal.paint(Stream::err, Look::bad, word) + what.substr(word.size()) + "\n";
  const std::string why = circumstances(failure);
  if (!why.empty()) text += terminal.paint(Stream::err, Look::faint, "  " + laid_out(why, terminal)) + "\n";
  if (!failure.hint.empty()) text += "  " + laid_out(failure.hint, terminal) + "\n";
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
