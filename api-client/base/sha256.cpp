// SHA256_Init and the like are deprecated; see `Sha256::of`.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "api-client/base/sha256.hpp"

#include <new>

#include <openssl/evp.h>
#include <openssl/sha.h>

#include "api-client/base/ascii.hpp"

namespace ws {
namespace {

/// Fetched once per process: a fetch for each hash costs more than hashing a small file.
const EVP_MD* algorithm() {
  static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  if (fetched == nullptr) throw std::bad_alloc();
  return fetched;
}

}  // namespace

/// Uses the deprecated functions because EVP is slow to start: the first EVP_MD_fetch of a process costs 2 ms, too much
/// for a program that hashes one key, and a third more for each short text.
Sha256 Sha256::of(std::string_view data) {
  Bytes bytes{};
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, data.data(), data.size());
  SHA256_Final(bytes.data(), &context);
  return Sha256(bytes);
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

void Sha256Stream::release(evp_md_ctx_st* context) noexcept { EVP_MD_CTX_free(context); }

Sha256Stream::Sha256Stream() : context_(EVP_MD_CTX_new()) {
  if (context_ == nullptr || EVP_DigestInit_ex2(context_.get(), algorithm(), nullptr) != 1) throw std::bad_alloc();
}

void Sha256Stream::update(std::string_view data) {
  if (EVP_DigestUpdate(context_.get(), data.data(), data.size()) != 1) throw std::bad_alloc();
}

Sha256 Sha256Stream::finish() {
  Sha256::Bytes bytes{};
  if (EVP_DigestFinal_ex(context_.get(), bytes.data(), nullptr) != 1 ||
      EVP_DigestInit_ex2(context_.get(), nullptr, nullptr) != 1) {
    throw std::bad_alloc();
  }
  return Sha256(bytes);
}

namespace {

const EVP_MD* sha1_algorithm() {
  static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  if (fetched == nullptr) throw std::bad_alloc();
  return fetched;
}

}  // namespace

void Sha1Stream::release(evp_md_ctx_st* context) noexcept { EVP_MD_CTX_free(context); }

Sha1Stream::Sha1Stream() : context_(EVP_MD_CTX_new()) {
  if (context_ == nullptr || EVP_DigestInit_ex2(context_.get(), sha1_algorithm(), nullptr) != 1) throw std::bad_alloc();
}

void Sha1Stream::update(std::string_view data) {
  if (EVP_DigestUpdate(context_.get(), data.data(), data.size()) != 1) throw std::bad_alloc();
}

Sha1Stream::Bytes Sha1Stream::finish() {
  Bytes bytes{};
  if (EVP_DigestFinal_ex(context_.get(), bytes.data(), nullptr) != 1 ||
      EVP_DigestInit_ex2(context_.get(), nullptr, nullptr) != 1) {
    throw std::bad_alloc();
  }
  return bytes;
}

}  // namespace ws
