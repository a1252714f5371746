/// Hashes as the state keeps them: blobs of their bytes.
#pragma once

#include <cstring>
#include <string_view>

#include "api-client/base/sha256.hpp"
#include "sync-engine/git/object.hpp"

namespace ws::sync {

inline std::string_view bytes_of(const git::ObjectId& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}
inline std::string_view bytes_of(const Sha256& hash) {
  return {reinterpret_cast<const char*>(hash.bytes().data()), hash.bytes().size()};
}

inline git::ObjectId object_of(std::string_view bytes) {
  git::ObjectId id;
  if (bytes.size() == id.bytes.size()) std::memcpy(id.bytes.data(), bytes.data(), bytes.size());
  return id;
}
inline Sha256 hash_of(std::string_view bytes) {
  Sha256::Bytes hash{};
  if (bytes.size() == hash.size()) std::memcpy(hash.data(), bytes.data(), bytes.size());
  return Sha256(hash);
}

}  // namespace ws::sync
