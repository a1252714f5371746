/// Bytes as an answer: which of them a request asks for (RFC 9110, 13 and 14), and where the transport reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "api-client/base/result.hpp"
#include "server-mock/http/body.hpp"
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

/// By `Range` and `If-Range`. One range of bytes is served; what is malformed, several ranges, another unit and what
/// `If-Range` calls old get the whole, as the standard allows. Pure.
Slice wanted_slice(const http::Request& request, std::string_view etag, std::uint64_t size_bytes);

/// "bytes 0-9/100"; of what cannot be satisfied "bytes */100".
std::string content_range(const Slice& slice, std::uint64_t size_bytes);

/// Fails where the bytes are gone.
Result<std::unique_ptr<http::BodySource>> open_slice(World& world, const BlobBody& blob, const Slice& slice);

}  // namespace ws::mock
