// Replaces libsecret on machines without a desktop: implements the functions that `cli/credentials/keyring.cpp` opens
// at run time, on a plain file. FAKE_SECRET_FILE names the file; FAKE_SECRET_MODE is empty, `hang` or `refuse`.
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <thread>

namespace {

struct Error {
  std::uint32_t domain;
  int code;
  char* message;
};

std::string setting(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): it is never changed
  return value == nullptr ? "" : value;
}

std::map<std::string, std::string> load() {
  std::map<std::string, std::string> all;
  std::ifstream stream(setting("FAKE_SECRET_FILE"));
  std::string key;
  std::string secret;
  while (stream >> key >> secret) all[key] = secret;
  return all;
}

void save(const std::map<std::string, std::string>& all) {
  std::ofstream stream(setting("FAKE_SECRET_FILE"), std::ios::trunc);
  for (const auto& [key, secret] : all) stream << key << ' ' << secret << '\n';
}

/// Returns whether the call should proceed.
bool begin(Error** error) {
  if (setting("FAKE_SECRET_MODE") == "hang") std::this_thread::sleep_for(std::chrono::hours{1});
  if (setting("FAKE_SECRET_MODE") != "refuse") return true;
  *error = new Error{0, 0, ::strdup("nobody provides org.freedesktop.secrets")};
  return false;
}

}  // namespace

extern "C" {

int secret_password_store_sync(
    const void*, const char*, const char*, const char* secret, void*, Error** error, ...) {  // NOLINT
  if (!begin(error)) return 0;
  va_list arguments;
  va_start(arguments, error);
  va_arg(arguments, const char*);
  auto all = load();
  all[va_arg(arguments, const char*)] = secret;
  va_end(arguments);
  save(all);
  return 1;
}

char* secret_password_lookup_sync(const void*, void*, Error** error, ...) {  // NOLINT
  if (!begin(error)) return nullptr;
  va_list arguments;
  va_start(arguments, error);
  va_arg(arguments, const char*);
  const auto all = load();
  const auto found = all.find(va_arg(arguments, const char*));
  va_end(arguments);
  return found == all.end() ? nullptr : ::strdup(found->second.c_str());
}

int secret_password_clear_sync(const void*, void*, Error** error, ...) {  // NOLINT
  if (!begin(error)) return 0;
  va_list arguments;
  va_start(arguments, error);
  va_arg(arguments, const char*);
  auto all = load();
  all.erase(va_arg(arguments, const char*));
  va_end(arguments);
  save(all);
  return 1;
}

void secret_password_free(char* secret) { std::free(secret); }
void g_error_free(Error* error) {
  std::free(error->message);
  delete error;
}
void* g_cancellable_new() { return nullptr; }
void g_cancellable_cancel(void*) {}

}  // extern "C"
