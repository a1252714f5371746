#include "sync-engine/merge/text_form.hpp"

namespace ws::sync::merge {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Three opinions on one trait; one that has none agrees with everybody. False: they cannot be united.
template <class T>
bool merge_trait(const std::optional<T>& base,
                 const std::optional<T>& ours,
                 const std::optional<T>& theirs,
                 std::optional<T>& merged) {
  if (!ours || !theirs || ours == theirs) {
    merged = ours ? ours : theirs;
    if (!merged) merged = base;
    return true;
  }
  if (!base) return false;
  merged = *ours == *base ? theirs : ours;
  return true;
}

}  // namespace

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end == std::string_view::npos ? text.size() : end + 1);
  text.remove_prefix(line.size());
  return line;
}

std::optional<PlainText> take_form(std::string_view text) {
  PlainText plain;
  if (text.starts_with(byte_order_mark)) {
    plain.form.byte_order_mark = true;
    text.remove_prefix(byte_order_mark.size());
  }
  if (text.empty()) return plain;
  plain.lines.reserve(text.size() + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_crlf = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (text[i] == '\r' && !is_crlf) return std::nullopt;
    if (is_crlf) ++i;
    plain.lines += text[i];
    if (text[i] != '\n') continue;
    const auto ends = is_crlf ? TextForm::Ends::crlf : TextForm::Ends::lf;
    if (plain.form.ends && *plain.form.ends != ends) return std::nullopt;
    plain.form.ends = ends;
  }
  plain.form.final_newline = plain.lines.back() == '\n';
  if (!*plain.form.final_newline) plain.lines += '\n';
  return plain;
}

std::string with_form(std::string_view lines, const TextForm& form) {
  std::string text;
  text.reserve(lines.size() + 4);
  if (form.byte_order_mark) text += byte_order_mark;
  if (!form.final_newline.value_or(true) && lines.ends_with('\n')) lines.remove_suffix(1);
  const bool crlf = form.ends == TextForm::Ends::crlf;
  for (const char c : lines) {
    if (c == '\n' && crlf) text += '\r';
    text += c;
  }
  return text;
}

std::optional<TextForm> merge_forms(const TextForm& base, const TextForm& ours, const TextForm& theirs) {
  TextForm merged;
  if (!merge_trait(base.ends, ours.ends, theirs.ends, merged.ends)) return std::nullopt;
  if (!merge_trait(base.final_newline, ours.final_newline, theirs.final_newline, merged.final_newline)) {
    return std::nullopt;
  }
  merged.byte_order_mark = ours.byte_order_mark == base.byte_order_mark ? theirs.byte_order_mark : ours.byte_order_mark;
  return merged;
}

}  // namespace ws::sync::merge
