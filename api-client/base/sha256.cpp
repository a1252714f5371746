// Uses the deprecated functions (SHA256_Init and the like): EVP runs the same code, but its first use in a process
// costs 2 ms, and it links all of libcrypto in, which adds 20,000 relocations to every start.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "api-client/base/sha256.hpp"

#include <cerrno>

#include <openssl/sha.h>

#include "api-client/base/ascii.hpp"
#include "api-client/base/descriptor.hpp"

namespace ws {

Sha256 Sha256::of(std::string_view data) {
  Bytes bytes{};
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, data.data(), data.size());
  SHA256_Final(bytes.data(), &context);
  return Sha256(bytes);
}

std::optional<Sha256> Sha256::of_file(int file, std::uint64_t most) {
  Sha256Stream stream;
  std::array<char, std::size_t{128} << 10U> buffer;
  for (std::uint64_t offset = 0;;) {
    const ssize_t count = read_some_at(file, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (count < 0) return std::nullopt;
    if (count == 0) return stream.finish();
    stream.update({buffer.data(), static_cast<std::size_t>(count)});
    offset += static_cast<std::uint64_t>(count);
    if (offset > most) {
      errno = EFBIG;
      return std::nullopt;
    }
  }
}

std::optional<Sha256> Sha256::from_hex(std::string_view text) {
  if (text.size() != 64) return std::nullopt;
  Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = hex_digit(text[2 * i]);
    const int low = hex_digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return Sha256(bytes);
}

std::string Sha256::hex() const {
  std::string text(2 * bytes_.size(), '0');
  char* digit = text.data();
  for (const std::uint8_t byte : bytes_) {
    *digit++ = "0123456789abcdef"[byte >> 4U];
    *digit++ = "0123456789abcdef"[byte & 0x0FU];
  }
  return text;
}

namespace {

// What a stream holds: the header need not know OpenSSL's types.
SHA256_CTX* sha256_of(evp_md_ctx_st* held) { return reinterpret_cast<SHA256_CTX*>(held); }
SHA_CTX* sha1_of(evp_md_ctx_st* held) { return reinterpret_cast<SHA_CTX*>(held); }

}  // namespace

void Sha256Stream::release(evp_md_ctx_st* context) noexcept { delete sha256_of(context); }

Sha256Stream::Sha256Stream() : context_(reinterpret_cast<evp_md_ctx_st*>(new SHA256_CTX)) {
  SHA256_Init(sha256_of(context_.get()));
}

void Sha256Stream::update(std::string_view data) { SHA256_Update(sha256_of(context_.get()), data.data(), data.size()); }

Sha256 Sha256Stream::finish() {
  Sha256::Bytes bytes{};
  SHA256_Final(bytes.data(), sha256_of(context_.get()));
  SHA256_Init(sha256_of(context_.get()));
  return Sha256(bytes);
}

void Sha1Stream::release(evp_md_ctx_st* context) noexcept { delete sha1_of(context); }

Sha1Stream::Sha1Stream() : context_(reinterpret_cast<evp_md_ctx_st*>(new SHA_CTX)) {
  SHA1_Init(sha1_of(context_.get()));
}

void Sha1Stream::update(std::string_view data) { SHA1_Update(sha1_of(context_.get()), data.data(), data.size()); }

Sha1Stream::Bytes Sha1Stream::finish() {
  Bytes bytes{};
  SHA1_Final(bytes.data(), sha1_of(context_.get()));
  SHA1_Init(sha1_of(context_.get()));
  return bytes;
}

}  // namespace ws
