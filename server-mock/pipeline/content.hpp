/// Responses with binary content: byte ranges (RFC 9110, 13 and 14) and the source that the transport reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/http/message.hpp"
#include "server-mock/services/shared/service.hpp"
#include "server-mock/store/world.hpp"

namespace ws::mock {

struct Slice {
  enum class Kind { whole, part, unsatisfiable };
  Kind kind = Kind::whole;
  std::uint64_t begin = 0;
  std::uint64_t size_bytes = 0;

  bool operator==(const Slice&) const = default;
};

/// Evaluates `Range` and `If-Range`. A single byte range is served. Malformed and multiple ranges, other units, and an
/// `If-Range` that does not match give the whole content, as the standard allows. Pure.
Slice wanted_slice(const http::Request& request, std::string_view etag, std::uint64_t size_bytes);

/// "bytes 0-9/100"; "bytes */100" if the range cannot be satisfied.
std::string content_range(const Slice& slice, std::uint64_t size_bytes);

/// Fails if the content no longer exists.
Result<std::unique_ptr<http::BodySource>> open_slice(World& world, const BlobBody& blob, const Slice& slice);

}  // namespace ws::mock
