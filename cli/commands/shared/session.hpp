/// One run of one command: what the user gave, and everything a command may reach - made when it is first asked for.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api-client/base/clock.hpp"
#include "api-client/base/random.hpp"
#include "api-client/base/result.hpp"
#include "api-client/client/client.hpp"
#include "api-client/http/curl.hpp"
#include "api-client/http/transport.hpp"
#include "cli/credentials/credential_store.hpp"
#include "cli/grammar/command.hpp"
#include "cli/output/printer.hpp"
#include "cli/settings/settings.hpp"
#include "cli/state/shown_ids.hpp"
#include "cli/terminal/terminal.hpp"

namespace ws::cli {

class OutcomeLog;

/// What a second signal does to a command that ends in its own time.
enum class SecondSignal { kills, is_told };

/// What outlives a command, made by `main`.
struct World {
  const Environment& environment;
  Terminal& terminal;
  const Clock& clock;
  Random& random;
  const std::atomic<bool>& cancelled;
  int (*caught_signal)();  ///< the signal that asked us to stop, or 0
  /// From now on a signal is left to the command, however long it takes; else the process ends a second later.
  void (*end_in_own_time)(SecondSignal second) = nullptr;
  bool (*has_caught_second)() = nullptr;  ///< a second signal, where it `is_told`; a third one kills
};

/// The key a command uses, and what is known of it.
struct Key {
  Credential credential = {};
  std::optional<StoredCredential> stored = {};  ///< empty: it came by the environment
};

class Session {
 public:
  Session(const World& world, const Command& command, Parsed arguments);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Settings, format and colour; to be called once, before anything else. `find_view` null: nothing is shown to a
  /// person. Fails with `usage`.
  Result<void> open(FindView find_view);

  const Command& command() const { return command_; }
  const Parsed& arguments() const { return arguments_; }
  bool has(std::string_view flag) const { return arguments_.has(flag); }
  /// Another text in place of the word or of the flag's value: the id that a name stands for.
  void replace_word(std::size_t place, std::string text) { arguments_.words[place] = std::move(text); }
  void replace_value(std::string_view flag, std::string text);
  /// A word of a batch that names nothing: its row fails, the others go on.
  void refuse_word(std::size_t place, Failure why) { refused_words_.insert_or_assign(place, std::move(why)); }
  const std::map<std::size_t, Failure>& refused_words() const { return refused_words_; }
  Terminal& terminal() { return world_.terminal; }
  const World& world() const { return world_; }
  const Settings& settings() const { return settings_; }
  /// Those of the settings that this command's flags name.
  SettingFlags setting_flags() const;
  const Paths& paths() const { return paths_; }
  Printer& printer() { return *printer_; }
  Format format() const { return printer_->format(); }

  /// A line on stderr for people; not with --quiet. Where errors are one line of JSON it waits for `print_notes`: a run
  /// that fails says that line alone. On a terminal it is broken at the width, further lines are indented.
  void note(std::string_view text, std::size_t indent = 0);
  void print_notes();
  /// Called when all that the command prints has been written: what a run that is killed before needs to tell the same
  /// again goes only then.
  void after_output(std::function<void()> act) { after_output_.push_back(std::move(act)); }
  void output_done();
  /// From now on `last` is this one where a thing of its kind is meant: "document", "asset".
  void remember_last(std::string_view kind, std::string_view id);
  /// What this user was shown at the server; empty where no server is known.
  std::optional<ShownIds> shown_ids();
  /// Whether failures are JSON: with `--json`, or a JSON format that was named. `--jq` alone names none.
  bool has_json_errors() const;
  /// A failure that does not end the command by itself: what was done so far is printed too.
  void print_failure(const Failure& failure, ExitCode exit);
  /// Answers "yes" for --yes; asks where a person is there. Fails with `usage` naming --yes where nobody is, and with
  /// `forbidden`, before it asks, where the stored key is known to lack what one of the `operations` needs: the answer
  /// would be in vain.
  Result<bool> confirm(std::string_view question, const std::vector<std::string_view>& operations = {});
  /// The same, but `--yes` is no answer: the word itself must be typed. False where nobody can.
  bool confirm_word(std::string_view question, std::string_view word);

  /// The server from now on, unless a flag names another.
  void use_server(const std::string& base_url);
  /// Where neither flag nor environment nor profile names a server: the stored key of this base URL or origin is
  /// meant. It only chooses among the keys that are stored. Fails with `auth` where there is none.
  Result<void> prefer_server(const std::string& base_url, const std::string& origin);
  /// Of the clients made from now on; a command has 10.
  void allow_retries(int retries) { retries_ = retries; }
  /// The key that is used where no server is named: of the profile or Workspace asked for, else the current one.
  Result<std::optional<StoredCredential>> stored_key();
  /// From flag, environment, profile, or the stored credential. Fails with `usage` and the command to run.
  Result<BaseUrl> base_url();
  /// The environment variable that holds a key or names its file; empty where none does.
  std::string key_variable() const;
  CredentialStore& credentials() { return credentials_; }
  /// Fails with `auth` and the command to run where there is none for the base URL.
  Result<Key> key();
  /// What is sent with the calls of a client that uses `key`: it, and its second key where that is the same person's.
  void add_keys(ClientOptions& options, const Key& key);
  /// The key from now on, whatever else names one. Before the first call of `client`.
  void use_key(Key key) { chosen_key_ = std::move(key); }
  /// The failure, with a better hint where the cause is the key, its scopes, or the base URL.
  Failure with_hint(Failure failure);
  /// The network; libcurl is loaded now. `connections`: exchanges at a time, as the first call of this has it.
  Result<http::Transport*> transport(std::size_t connections = http::CurlOptions{}.max_connections);
  /// What the changes of this command came to.
  OutcomeLog& outcomes() { return *outcomes_; }
  /// With the key. Fails as `base_url`, `key`, `transport` do. `connections`: as of `transport`.
  Result<Client*> client(std::size_t connections = http::CurlOptions{}.max_connections);
  /// Without a key: for the two operations that have none.
  Result<Client*> keyless_client();
  /// With a key that is not the one of the command: of a login.
  Result<std::unique_ptr<Client>> client_with(Credential credential);
  Result<ClientOptions> client_options();

 private:
  bool has_person() const;
  Result<Settings> settings_here() const;
  Result<PrinterOptions> printer_options(FindView find_view);
  Result<std::unique_ptr<Client>> make_client(ClientOptions options);
  Failure no_key_for_workspace() const;
  Failure with_hint_at_cause(Failure failure);
  Failure with_base_url_hint(Failure failure);
  Failure with_refused_key(Failure failure);
  Failure with_nearest_file(Failure failure);
  StoredCredential sent_key(const StoredCredential& used, const Failure& failure);
  Result<void> check_scope_of(std::string_view operation);
  std::string hint_for_scope(const Key& used, const std::string& scope);
  std::string hint_for_scope_of_token(const Key& used,
                                      const std::string& scope,
                                      const std::vector<StoredCredential>& stored);
  std::optional<StoredCredential> stored_key_with(const Key& used,
                                                  const std::string& scope,
                                                  const std::vector<StoredCredential>& stored);
  Result<void> check_server_of_environment_key() const;
  Result<std::optional<Key>> environment_key(const BaseUrl& url);
  Result<std::chrono::milliseconds> seconds(std::string_view place, const std::string& text) const;

  World world_;
  const Command& command_;
  Parsed arguments_;
  std::map<std::size_t, Failure> refused_words_;
  Paths paths_;
  CredentialStore credentials_;
  Settings settings_;
  std::unique_ptr<Printer> printer_;
  std::unique_ptr<OutcomeLog> outcomes_;
  std::unique_ptr<http::Transport> transport_;
  std::optional<Key> chosen_key_ = {};
  std::unique_ptr<Client> client_;
  std::unique_ptr<Client> keyless_client_;
  std::string held_notes_;
  std::vector<std::function<void()>> after_output_;
  int retries_ = 10;
};

/// "ws/0.1.0", and the bare number.
std::string_view user_agent();
std::string_view version();

/// Whether the command may fill a folder with `--output`, and it names one: it ends in `/` or is a folder, or several
/// things are asked for and no format is, which would make one file of them.
bool fills_folder(const Session& session);

}  // namespace ws::cli
