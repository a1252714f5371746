#include "cli/credentials/keyring.hpp"

#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>

#include "api-client/base/shared_library.hpp"

namespace ws::cli {
namespace {

constexpr std::chrono::seconds patience{3};

// Declarations from the headers of libsecret and GLib, so that the build needs neither.
struct GCancellable;
struct GError {
  std::uint32_t domain;
  int code;
  char* message;
};
struct SchemaAttribute {
  const char* name;
  int type;  // 0: text
};
struct Schema {
  const char* name;
  int flags;
  SchemaAttribute attributes[32];
  int reserved;
  void* reserved_pointers[7];
};
constexpr Schema schema{"ws.key", 0, {{"key_id", 0}, {nullptr, 0}}, 0, {}};

/// The result of a call, or why it failed.
struct Answer {
  std::optional<std::string> secret = {};
  std::string trouble = {};
};

}  // namespace

struct Keyring::Library {
  int (*store)(const Schema*,
               const char* collection,
               const char* label,
               const char* secret,
               GCancellable*,
               GError**,
               ...) = nullptr;
  char* (*look_up)(const Schema*, GCancellable*, GError**, ...) = nullptr;
  int (*clear)(const Schema*, GCancellable*, GError**, ...) = nullptr;
  void (*free_secret)(char*) = nullptr;
  void (*free_error)(GError*) = nullptr;
  GCancellable* (*make_cancellable)() = nullptr;
  void (*cancel)(GCancellable*) = nullptr;

  std::string taken(GError* error) const {
    if (error == nullptr) return {};
    std::string text = error->message == nullptr ? "unknown reason" : error->message;
    free_error(error);
    return text;
  }
};

namespace {

Failure unusable(const std::string& why) {
  return {.kind = Failure::Kind::disk,
          .what = "the keyring cannot be used: " + why,
          .hint = "keep the key in a file instead: --store file"};
}

/// Runs `work` in a separate thread with a timeout, since the keyring service may never respond.
template <class Cancel, class Work>
Result<Answer> within_limit(GCancellable* cancellable, Cancel cancel, Work work) {
  auto promise = std::make_shared<std::promise<Answer>>();
  std::future<Answer> answer = promise->get_future();
  std::thread([promise, work = std::move(work)] { promise->set_value(work()); }).detach();
  if (answer.wait_for(patience) != std::future_status::ready) {
    cancel(cancellable);
    return fail(unusable("it did not answer within 3 s"));
  }
  Answer got = answer.get();
  if (!got.trouble.empty()) return fail(unusable(got.trouble));
  return got;
}

}  // namespace

bool Keyring::is_likely(const Environment& environment) {
  if (environment.text("DBUS_SESSION_BUS_ADDRESS")) return true;
  const auto folder = environment.text("XDG_RUNTIME_DIR");
  std::error_code ignored;
  return folder && std::filesystem::exists(std::filesystem::path(*folder) / "bus", ignored);
}

Result<Keyring> Keyring::open(const std::string& library) {
  WS_LET(SharedLibrary opened,
         SharedLibrary::open(library, "install libsecret (Debian: apt install libsecret-1-0), or use --store file"));
  auto functions = std::make_shared<Library>();
  opened.find(functions->store, "secret_password_store_sync");
  opened.find(functions->look_up, "secret_password_lookup_sync");
  opened.find(functions->clear, "secret_password_clear_sync");
  opened.find(functions->free_secret, "secret_password_free");
  opened.find(functions->free_error, "g_error_free");
  opened.find(functions->make_cancellable, "g_cancellable_new");
  opened.find(functions->cancel, "g_cancellable_cancel");
  WS_TRY(opened.complete());
  return Keyring(std::move(functions));
}

Result<void> Keyring::check() const {
  const auto found = look_up("none");
  if (!found && found.error().kind != Failure::Kind::not_found) return fail(found.error());
  return {};
}

Result<void> Keyring::store(const std::string& key_id, const std::string& label, const std::string& secret) const {
  GCancellable* cancellable = library_->make_cancellable();
  const auto work = [library = library_, cancellable, key_id, label, secret] {
    GError* error = nullptr;
    const int stored = library->store(&schema,
                                      nullptr,
                                      label.c_str(),
                                      secret.c_str(),
                                      cancellable,
                                      &error,
                                      "key_id",
                                      key_id.c_str(),
                                      static_cast<char*>(nullptr));
    Answer answer{.trouble = library->taken(error)};
    if (stored == 0 && answer.trouble.empty()) answer.trouble = "it did not accept the key";
    return answer;
  };
  WS_TRY(within_limit(cancellable, library_->cancel, work));
  WS_LET(const std::string read_back, look_up(key_id));
  if (read_back != secret) return fail(unusable("it does not contain what was stored"));
  return {};
}

Result<std::string> Keyring::look_up(const std::string& key_id) const {
  GCancellable* cancellable = library_->make_cancellable();
  const auto work = [library = library_, cancellable, key_id] {
    GError* error = nullptr;
    char* secret =
        library->look_up(&schema, cancellable, &error, "key_id", key_id.c_str(), static_cast<char*>(nullptr));
    Answer answer{.trouble = library->taken(error)};
    if (secret != nullptr) {
      answer.secret = secret;
      library->free_secret(secret);
    }
    return answer;
  };
  WS_LET(const Answer answer, within_limit(cancellable, library_->cancel, work));
  if (!answer.secret) return fail(Failure::Kind::not_found, "the keyring does not hold the key " + key_id);
  return *answer.secret;
}

Result<void> Keyring::remove(const std::string& key_id) const {
  GCancellable* cancellable = library_->make_cancellable();
  const auto work = [library = library_, cancellable, key_id] {
    GError* error = nullptr;
    library->clear(&schema, cancellable, &error, "key_id", key_id.c_str(), static_cast<char*>(nullptr));
    return Answer{.trouble = library->taken(error)};
  };
  WS_TRY(within_limit(cancellable, library_->cancel, work));
  return {};
}

}  // namespace ws::cli
