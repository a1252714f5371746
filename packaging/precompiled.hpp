// What nearly every file includes, compiled once where WS_PRECOMPILE is on. No file relies on it: each includes what it
// uses, and the presets without it prove that.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
// json.hpp ends with an inline function behind the literal "..."_json, which nobody here uses. It alone makes the
// compiler instantiate a whole parser again in every file, half of what an empty file costs. As a template nobody
// instantiates it.
#define _json(text, size) \
  _json(text, size);      \
  template <class>        \
  nlohmann::json never_instantiated(text, size)
#include <nlohmann/json.hpp>
#undef _json
