#include "server-mock/pipeline/content.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "api-client/base/ascii.hpp"
#include "server-mock/store/blobs.hpp"

namespace ws::mock {
namespace {

class BlobSource final : public http::BodySource {
 public:
  BlobSource(BlobReader reader, std::uint64_t begin, std::uint64_t size_bytes)
      : reader_(std::move(reader)), size_bytes_(size_bytes), at_(begin), end_(begin + size_bytes) {}

  std::uint64_t size_bytes() const override { return size_bytes_; }
  std::size_t read(std::span<char> room) override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), end_ - at_));
    const auto read = reader_.read(at_, room.first(count));
    if (!read) return 0;
    at_ += *read;
    return *read;
  }

 private:
  BlobReader reader_;
  std::uint64_t size_bytes_;
  std::uint64_t at_;
  std::uint64_t end_;
};

/// Accepts only digits. A number that does not fit saturates, since it is larger than any file.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  if (text.empty() || !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  std::uint64_t number = 0;
  const auto error = std::from_chars(text.data(), text.data() + text.size(), number).ec;
  return error == std::errc() ? number : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

Slice wanted_slice(const http::Request& request, std::string_view etag, std::uint64_t size_bytes) {
  const Slice whole = {.size_bytes = size_bytes};
  const Slice none = {.kind = Slice::Kind::unsatisfiable};
  const auto range = request.find("Range");
  if (!range || request.method != "GET") return whole;
  const auto if_range = request.find("If-Range");
  if (if_range && *if_range != etag) return whole;
  const std::size_t equals = range->find('=');
  if (equals == std::string_view::npos || !equal_ignoring_case(trimmed(range->substr(0, equals)), "bytes")) {
    return whole;
  }
  const std::string_view spec = trimmed(range->substr(equals + 1));
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos || spec.find(',') != std::string_view::npos) return whole;
  const auto first = parse_number(trimmed(spec.substr(0, dash)));
  const auto last = parse_number(trimmed(spec.substr(dash + 1)));
  if (dash == 0) {
    if (!last) return whole;
    if (*last == 0 || size_bytes == 0) return none;
    const std::uint64_t size = std::min(*last, size_bytes);
    return {.kind = Slice::Kind::part, .begin = size_bytes - size, .size_bytes = size};
  }
  const bool open = dash + 1 == spec.size();
  if (!first || (!last && !open) || (last && *last < *first)) return whole;
  if (*first >= size_bytes) return none;
  const std::uint64_t end = open ? size_bytes : std::min(*last, size_bytes - 1) + 1;
  return {.kind = Slice::Kind::part, .begin = *first, .size_bytes = end - *first};
}

std::string content_range(const Slice& slice, std::uint64_t size_bytes) {
  if (slice.kind == Slice::Kind::unsatisfiable) return fmt::format("bytes */{}", size_bytes);
  return fmt::format("bytes {}-{}/{}", slice.begin, slice.begin + slice.size_bytes - 1, size_bytes);
}

Result<std::unique_ptr<http::BodySource>> open_slice(World& world, const BlobBody& blob, const Slice& slice) {
  WS_LET(BlobReader reader, world.blobs.open(blob.blob));
  return std::unique_ptr<http::BodySource>(
      std::make_unique<BlobSource>(std::move(reader), slice.begin, slice.size_bytes));
}

}  // namespace ws::mock
