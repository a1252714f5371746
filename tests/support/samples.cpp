#include "tests/support/samples.hpp"

#include <algorithm>

namespace ws::test {

using contract::Field;
using contract::Kind;
using contract::Presence;
using contract::Schema;
using contract::Type;

std::string text_of(std::int64_t count, int width) {
  const std::string_view character = width == 1 ? "a" : width == 2 ? "é" : "😀";
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) text += character;
  return text;
}

Json sample(const Type& type) {
  switch (type.kind) {
    case Kind::string: return text_of(type.min.value_or(1));
    case Kind::integer: return type.min.value_or(1);
    case Kind::number: return 0.5;
    case Kind::boolean: return true;
    case Kind::uuid: return sample_uuid;
    case Kind::date_time: return "2026-11-20T10:00:00.000Z";
    case Kind::choice: return type.values.front();
    case Kind::array: {
      Json items = Json::array();
      for (std::int64_t i = 0; i < std::max<std::int64_t>(1, type.min.value_or(1)); ++i) {
        items.push_back(sample(*type.items));
      }
      return items;
    }
    case Kind::object: return sample(*type.object);
    case Kind::free_object: return {{"anything", 1}};
    case Kind::text_map: return {{"name", "text"}};
    case Kind::any: return nullptr;
  }
  return nullptr;
}

Json sample(const Schema& schema) {
  Json object = Json::object();
  for (const Field& field : schema.fields) {
    if (field.presence == Presence::required) object[std::string(field.name)] = sample(field.type);
  }
  return object;
}

Json full_sample(const Schema& schema) {
  Json object = Json::object();
  for (const Field& field : schema.fields) {
    object[std::string(field.name)] =
        field.type.kind == Kind::object ? full_sample(*field.type.object) : sample(field.type);
  }
  return object;
}

}  // namespace ws::test
