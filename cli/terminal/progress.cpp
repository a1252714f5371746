#include "cli/terminal/progress.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api-client/base/json.hpp"
#include "cli/terminal/clean.hpp"
#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

constexpr std::chrono::milliseconds quiet_start{300};
constexpr std::chrono::milliseconds least_pause{100};

std::string_view name(Counted counted) {
  switch (counted) {
    case Counted::items: return "items";
    case Counted::bytes: return "bytes";
    case Counted::seconds: return "seconds";
  }
  return "items";
}

std::string amount(std::uint64_t done, std::uint64_t total, Counted counted) {
  const auto mebibytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1U << 20U); };
  switch (counted) {
    case Counted::bytes:
      if (total == 0) return fmt::format("{:.1f} MiB", mebibytes(done));
      return fmt::format(
          "{:.1f} of {:.1f} MiB, {} %", mebibytes(done), mebibytes(total), std::min(done, total) * 100 / total);
    case Counted::seconds: return fmt::format("{} s", done);
    case Counted::items: break;
  }
  return total == 0 ? std::to_string(done) : fmt::format("{} of {}", done, total);
}

}  // namespace

Result<ProgressStyle> parse_progress(const std::optional<std::string>& text, const Terminal& terminal) {
  if (!text || *text == "auto") {
    if (!terminal.is_terminal(Stream::err) || terminal.is_quiet()) return ProgressStyle::none;
    return terminal.is_plain() ? ProgressStyle::plain : ProgressStyle::line;
  }
  if (*text == "plain") return ProgressStyle::plain;
  if (*text == "json") return ProgressStyle::json;
  if (*text == "none") return ProgressStyle::none;
  return fail(Failure::Kind::usage, "--progress takes auto, plain, json or none, not `" + *text + "`");
}

ProgressLine::ProgressLine(Terminal& terminal, ProgressStyle style)
    : terminal_(terminal), style_(style), began_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(
    std::string_view stage, std::uint64_t done, std::uint64_t total, Counted counted, std::string_view more) {
  if (style_ == ProgressStyle::none) return;
  const Instant now = std::chrono::steady_clock::now();
  if (now - began_ < quiet_start || now - shown_at_ < least_pause) return;
  shown_at_ = now;
  if (style_ == ProgressStyle::json) {
    const Json progress = {{"stage", stage}, {"done", done}, {"total", total}, {"unit", name(counted)}};
    terminal_.write(Stream::err, dump(Json{{"v", 1}, {"progress", progress}}) + "\n");
    return;
  }
  std::string text = fmt::format("{}{}{}", stage, stage.empty() ? "" : " ", amount(done, total, counted));
  if (!more.empty()) text += fmt::format(", {}", more);
  text = clean(text, Breaks::space);
  if (style_ == ProgressStyle::plain) return terminal_.write(Stream::err, text + "\n");
  terminal_.write(Stream::err, "\r\033[K" + cut(text, static_cast<std::size_t>(terminal_.columns()) - 1));
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  terminal_.write(Stream::err, "\r\033[K");
  shown_ = false;
}

}  // namespace ws::cli
