#include "cli/terminal/progress.hpp"

#include <fmt/format.h>

#include "cli/terminal/table.hpp"

namespace ws::cli {
namespace {

constexpr std::chrono::milliseconds quiet_start{300};
constexpr std::chrono::milliseconds least_pause{100};

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

void ProgressLine::update(std::string_view what, std::uint64_t done, std::uint64_t total) {
  if (style_ == ProgressStyle::none) return;
  const Instant now = std::chrono::steady_clock::now();
  if (now - began_ < quiet_start || now - shown_at_ < least_pause) return;
  shown_at_ = now;
  const std::string count = total == 0 ? fmt::format("{}", done) : fmt::format("{} of {}", done, total);
  switch (style_) {
    case ProgressStyle::line: {
      const std::string text =
          cut(fmt::format("{} {}", what, count), static_cast<std::size_t>(terminal_.columns()) - 1);
      terminal_.write(Stream::err, "\r\033[K" + text);
      shown_ = true;
      return;
    }
    case ProgressStyle::plain: return terminal_.write(Stream::err, fmt::format("{} {}\n", what, count));
    case ProgressStyle::json:
      return terminal_.write(
          Stream::err,
          fmt::format("{{\"v\":1,\"progress\":{{\"stage\":\"{}\",\"done\":{},\"total\":{}}}}}\n", what, done, total));
    case ProgressStyle::none: return;
  }
}

void ProgressLine::clear() {
  if (!shown_) return;
  terminal_.write(Stream::err, "\r\033[K");
  shown_ = false;
}

}  // namespace ws::cli
