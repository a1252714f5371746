// Three front matters of any bytes merge or conflict, alike from both sides, in time.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api-client/base/markdown.hpp"
#include "sync-engine/merge/merge.hpp"
#include "tests/fuzz/target.hpp"

namespace {

/// Up to the next byte 0xFF, as a document with front matter.
std::string take_document(std::string_view& bytes) {
  const std::size_t end = bytes.find('\xFF');
  std::string document = "---\n" + std::string(bytes.substr(0, end)) + "\n---\ntext\n";
  bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  return document;
}

}  // namespace

void ws_fuzz_one(std::string_view bytes) {
  using ws::sync::merge::merge_markdown;
  const std::string base = take_document(bytes);
  const std::string ours = take_document(bytes);
  const std::string theirs = take_document(bytes);
  static_cast<void>(ws::markdown::body_offset(base));
  const auto one = merge_markdown(base, ours, theirs);
  const auto other = merge_markdown(base, theirs, ours);
  if (!one || !other || one->is_clean() != other->is_clean()) std::abort();
  if (one->is_clean() && one->text() != other->text()) std::abort();
}
