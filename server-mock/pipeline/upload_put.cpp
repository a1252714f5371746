#include <charconv>
#include <optional>

#include "api-client/base/ascii.hpp"
#include "server-mock/pipeline/assumption_effects.hpp"
#include "server-mock/pipeline/error_response.hpp"
#include "server-mock/pipeline/pipeline.hpp"

namespace ws::mock {
namespace {

std::optional<std::uint64_t> declared_bytes(const http::Request& head) {
  const auto field = head.find("Content-Length");
  std::uint64_t number = 0;
  if (!field || std::from_chars(field->data(), field->data() + field->size(), number).ec != std::errc()) {
    return std::nullopt;
  }
  return number;
}

/// Fields that say that the body is not the whole file, byte for byte.
std::optional<ApiError> coded_or_partial(const http::Request& head) {
  const auto coding = head.find("Content-Encoding");
  const bool is_coded = coding && !equal_ignoring_case(trimmed(*coding), "identity");
  if (!is_coded && !head.find("Content-Range")) return std::nullopt;
  return ApiError{.status = 400,
                  .code = "invalid_request",
                  .message = is_coded ? "An upload takes the bytes of the file, without a Content-Encoding"
                                      : "An upload takes the whole file in one PUT, without a Content-Range"};
}

ApiResult<UploadPut> begin_put(World& world, const http::Request& head) {
  if (auto api_error = coded_or_partial(head)) return refuse(std::move(*api_error));
  return UploadPut::begin(
      world, upload_secret(head.path), head.find("Content-Type").value_or(""), declared_bytes(head));
}

/// The upload in progress, or the error why it was refused.
class UploadSink final : public http::BodySink {
 public:
  UploadSink(ApiResult<UploadPut> put, std::weak_ptr<const bool> is_open)
      : put_(std::move(put)), is_open_(std::move(is_open)) {}

  bool wants_more() const override { return put_ && !api_error_ && !is_open_.expired(); }
  void take(std::string_view piece) override {
    if (auto taken = put_->take(piece); !taken) api_error_ = std::move(taken).error();
  }
  std::uint64_t taken_bytes() const override { return put_ ? put_->size_bytes() : 0; }
  ApiResult<void> finish(World& world) {
    if (!put_) return refuse(put_.error());
    if (api_error_) return refuse(*api_error_);
    return put_->finish(world);
  }

 private:
  ApiResult<UploadPut> put_;
  std::weak_ptr<const bool> is_open_;
  std::optional<ApiError> api_error_ = {};
};

}  // namespace

std::unique_ptr<http::BodySink> open_upload(Sandbox& sandbox,
                                            const http::Request& head,
                                            std::weak_ptr<const bool> is_open) {
  if (!is_upload(head.path) || head.method != "PUT") return nullptr;
  return std::make_unique<UploadSink>(begin_put(*sandbox.world, head), std::move(is_open));
}

Reply put_upload(Sandbox& sandbox, const http::Request& request, std::string_view request_id) {
  Reply reply = {.operation = upload_operation};
  const Assumptions& assumptions = sandbox.world->assumptions;
  std::string code;
  auto* sink = dynamic_cast<UploadSink*>(request.sink);
  if (sink == nullptr) {
    reply.response = render_allow(request.method, "PUT, OPTIONS", request_id, assumptions);
  } else if (const auto done = sink->finish(*sandbox.world); !done) {
    reply.response = render(done.error(), request_id, assumptions);
    code = done.error().code;
  }
  const std::string assumed = assumptions_behind(contract::Operation(), assumptions, reply.response.status(), code);
  if (!assumed.empty()) reply.response.header(assumed_header, assumed);
  return reply;
}

}  // namespace ws::mock
