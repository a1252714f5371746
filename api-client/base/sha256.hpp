/// SHA-256 and SHA-1 by OpenSSL, with one fetched EVP_MD: 1 GB/s and more. The only file that calls hash functions.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "api-client/base/handle.hpp"

struct evp_md_ctx_st;

namespace ws {

/// The SHA-256 of some bytes.
class Sha256 {
 public:
  using Bytes = std::array<std::uint8_t, 32>;

  Sha256() = default;  ///< all zero; not the hash of anything
  explicit Sha256(const Bytes& bytes) : bytes_(bytes) {}
  static Sha256 of(std::string_view data);
  /// Of an open file, read piece by piece. Empty, with errno set, where it cannot be read; with EFBIG where it has more
  /// than `most` bytes.
  static std::optional<Sha256> of_file(int file, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());
  /// Parses 64 hexadecimal digits of either case; empty if `text` is anything else.
  static std::optional<Sha256> from_hex(std::string_view text);

  std::string hex() const;  ///< lower case, the form of the API's `content_sha256`
  const Bytes& bytes() const noexcept { return bytes_; }
  auto operator<=>(const Sha256&) const = default;

 private:
  Bytes bytes_ = {};
};

/// Hashes data that arrives in pieces. `finish` resets the object for the next
/// stream.
class Sha256Stream {
 public:
  Sha256Stream();
  void update(std::string_view data);
  Sha256 finish();

 private:
  static void release(evp_md_ctx_st* context) noexcept;
  Handle<evp_md_ctx_st, release> context_;
};

/// SHA-1 for git object names only; not for anything that must withstand an attacker.
class Sha1Stream {
 public:
  using Bytes = std::array<std::uint8_t, 20>;
  Sha1Stream();
  void update(std::string_view data);
  Bytes finish();

 private:
  static void release(evp_md_ctx_st* context) noexcept;
  Handle<evp_md_ctx_st, release> context_;
};

}  // namespace ws
