#include "cli/output/jq.hpp"

#include <limits>

#include <unistd.h>

extern "C" {
#include <jq.h>
}

#include "api-client/base/descriptor.hpp"
#include "api-client/base/shared_library.hpp"

namespace ws::cli {
namespace {

struct Library {
  decltype(&::jq_init) init = nullptr;
  decltype(&::jq_teardown) teardown = nullptr;
  decltype(&::jq_set_error_cb) set_error_cb = nullptr;
  decltype(&::jq_compile) compile = nullptr;
  decltype(&::jq_start) start = nullptr;
  decltype(&::jq_next) next = nullptr;
  decltype(&::jq_format_error) format_error = nullptr;
  decltype(&::jq_set_attr) set_attr = nullptr;
  decltype(&::jq_set_input_cb) set_input_cb = nullptr;
  decltype(&::jq_set_debug_cb) set_debug_cb = nullptr;
  decltype(&::jq_halted) halted = nullptr;
  decltype(&::jq_get_exit_code) exit_code = nullptr;
  decltype(&::jq_get_error_message) halt_message = nullptr;
  decltype(&::jv_string) string = nullptr;
  decltype(&::jv_array) array = nullptr;
  decltype(&::jv_invalid) invalid = nullptr;
  decltype(&::jv_get_kind) kind = nullptr;
  decltype(&::jv_free) free = nullptr;
  decltype(&::jv_copy) copy = nullptr;
  decltype(&::jv_parse_sized) parse = nullptr;
  decltype(&::jv_dump_string) dump = nullptr;
  decltype(&::jv_string_value) text = nullptr;
  decltype(&::jv_string_length_bytes) length = nullptr;
  decltype(&::jv_invalid_has_msg) has_message = nullptr;
  decltype(&::jv_invalid_get_msg) message = nullptr;
};

Result<Library> load(const std::string& file_name) {
  WS_LET(SharedLibrary opened, SharedLibrary::open(file_name, "--jq needs libjq (Debian: apt install libjq1)"));
  Library jq;
  opened.find(jq.init, "jq_init");
  opened.find(jq.teardown, "jq_teardown");
  opened.find(jq.set_error_cb, "jq_set_error_cb");
  opened.find(jq.compile, "jq_compile");
  opened.find(jq.start, "jq_start");
  opened.find(jq.next, "jq_next");
  opened.find(jq.format_error, "jq_format_error");
  opened.find(jq.set_attr, "jq_set_attr");
  opened.find(jq.set_input_cb, "jq_set_input_cb");
  opened.find(jq.set_debug_cb, "jq_set_debug_cb");
  opened.find(jq.halted, "jq_halted");
  opened.find(jq.exit_code, "jq_get_exit_code");
  opened.find(jq.halt_message, "jq_get_error_message");
  opened.find(jq.string, "jv_string");
  opened.find(jq.array, "jv_array");
  opened.find(jq.invalid, "jv_invalid");
  opened.find(jq.kind, "jv_get_kind");
  opened.find(jq.free, "jv_free");
  opened.find(jq.copy, "jv_copy");
  opened.find(jq.parse, "jv_parse_sized");
  opened.find(jq.dump, "jv_dump_string");
  opened.find(jq.text, "jv_string_value");
  opened.find(jq.length, "jv_string_length_bytes");
  opened.find(jq.has_message, "jv_invalid_has_msg");
  opened.find(jq.message, "jv_invalid_get_msg");
  WS_TRY(opened.complete());
  return jq;
}

/// Extracts the message: "jq: error: syntax error, ... at <top-level>, line 1:" becomes one line without prefix.
std::string tidy(std::string text) {
  for (const std::string_view noise : {"jq: error: ", "jq: error ", " (Unix shell quoting issues?)"}) {
    if (const std::size_t at = text.find(noise); at != std::string::npos) text.erase(at, noise.size());
  }
  if (const std::size_t at = text.find(" at <top-level>"); at != std::string::npos) text.erase(at);
  return text.substr(0, text.find('\n'));
}

}  // namespace

struct JqProgram::Impl {
  Library jq = {};
  jq_state* state = nullptr;
  std::string complaint = {};  // the first error message of libjq

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (state != nullptr) jq.teardown(&state);
  }

  /// Takes ownership of `value`.
  std::string take_text(jv value) const {
    std::string text(jq.text(value), static_cast<std::size_t>(jq.length(jq.copy(value))));
    jq.free(value);
    return text;
  }

  static void on_error(void* data, jv message) {
    auto& self = *static_cast<Impl*>(data);
    if (self.jq.kind(message) != JV_KIND_STRING) message = self.jq.dump(message, 0);
    std::string text = self.take_text(message);
    if (self.complaint.empty()) self.complaint = tidy(std::move(text));
  }

  /// `debug`: a line on stderr, as jq has it.
  static void on_debug(void* data, jv message) {
    auto& self = *static_cast<Impl*>(data);
    const std::string line = "[\"DEBUG:\"," + self.take_text(self.jq.dump(message, JV_PRINT_ASCII)) + "]\n";
    static_cast<void>(write_all(STDERR_FILENO, line));
  }

  /// For `input` and `inputs`: there is none but the document.
  static jv on_input(jq_state* /*state*/, void* data) { return static_cast<Impl*>(data)->jq.invalid(); }

  /// What `halt` and `halt_error` come to.
  Result<void> end_of_halt() const {
    const jv code = jq.exit_code(state);
    const bool is_halt = jq.kind(code) == JV_KIND_INVALID;
    jq.free(code);
    jv message = jq.halt_message(state);
    if (is_halt) {
      jq.free(message);
      return {};
    }
    if (jq.kind(message) != JV_KIND_STRING) message = jq.dump(message, 0);
    return fail(Failure::Kind::internal, "--jq: halt_error: " + tidy(take_text(message)));
  }
};

JqProgram::JqProgram(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JqProgram::JqProgram(JqProgram&&) noexcept = default;
JqProgram& JqProgram::operator=(JqProgram&&) noexcept = default;
JqProgram::~JqProgram() = default;

Result<JqProgram> JqProgram::compile(const std::string& expression, const std::string& library) {
  auto impl = std::make_unique<Impl>();
  WS_LET(impl->jq, load(library));
  impl->state = impl->jq.init();
  if (impl->state == nullptr) return fail(Failure::Kind::internal, "libjq does not start");
  impl->jq.set_error_cb(impl->state, Impl::on_error, impl.get());
  impl->jq.set_input_cb(impl->state, Impl::on_input, impl.get());
  impl->jq.set_debug_cb(impl->state, Impl::on_debug, impl.get());
  // Without it `import` and `modulemeta` abort the process; there are no modules here.
  impl->jq.set_attr(impl->state, impl->jq.string("JQ_LIBRARY_PATH"), impl->jq.array());
  if (impl->jq.compile(impl->state, expression.c_str()) == 0) {
    return fail(Failure::Kind::usage, "--jq: " + impl->complaint, "the expression was `" + expression + "`");
  }
  return JqProgram(std::move(impl));
}

Result<void> JqProgram::run(std::string_view json, const std::function<void(std::string_view)>& take) {
  const Library& jq = impl_->jq;
  if (json.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return fail(Failure::Kind::internal, "--jq: the document is too large");
  }
  const jv document = jq.parse(json.data(), static_cast<int>(json.size()));
  if (jq.kind(document) == JV_KIND_INVALID) {
    jq.free(document);
    return fail(Failure::Kind::internal, "--jq: libjq cannot read the document");
  }
  jq.start(impl_->state, document, 0);
  while (true) {
    jv result = jq.next(impl_->state);
    if (jq.kind(result) == JV_KIND_INVALID) {
      const bool failed = jq.has_message(jq.copy(result)) != 0;
      if (!failed) {
        jq.free(result);
        return jq.halted(impl_->state) != 0 ? impl_->end_of_halt() : Result<void>();
      }
      // The message can be any value: `error({"a": 1})` is allowed.
      return fail(Failure::Kind::internal, "--jq: " + tidy(impl_->take_text(jq.format_error(jq.message(result)))));
    }
    if (jq.kind(result) != JV_KIND_STRING) result = jq.dump(result, 0);
    take(impl_->take_text(result));
  }
}

}  // namespace ws::cli
