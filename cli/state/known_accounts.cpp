#include "cli/state/known_accounts.hpp"

#include <nlohmann/json.hpp>

#include "api-client/base/files.hpp"
#include "api-client/base/json.hpp"
#include "api-client/base/sha256.hpp"

namespace ws::cli {
namespace {

std::string account_file_of(std::string_view key) { return Sha256::of(key).hex().substr(0, 32) + ".json"; }

}  // namespace

std::optional<sync::Account> KnownAccounts::find(std::string_view key) const {
  const auto text = read_file(folder_ / account_file_of(key));
  const auto value = text ? parse_bounded(*text) : fail(Failure(text.error()));
  if (!value) return std::nullopt;
  const auto member = [&](std::string_view name) { return find_text(*value, name).value_or(""); };
  return sync::Account{.id = member("id"),
                       .name = member("name"),
                       .signs_as = member("signs_as"),
                       .workspace_id = member("workspace_id"),
                       .workspace_name = member("workspace_name")};
}

Result<void> KnownAccounts::keep(std::string_view key, const sync::Account& account) const {
  WS_TRY(make_folders(folder_, 0700));
  const Json value = {{"v", 1},
                      {"id", account.id},
                      {"name", account.name},
                      {"signs_as", account.signs_as},
                      {"workspace_id", account.workspace_id},
                      {"workspace_name", account.workspace_name}};
  return write_file(folder_ / account_file_of(key), dump(value, 2) + "\n", 0600);
}

}  // namespace ws::cli
