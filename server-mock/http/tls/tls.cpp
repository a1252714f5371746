#include "server-mock/http/tls/tls.hpp"

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "api-client/base/files.hpp"
#include "api-client/base/handle.hpp"

namespace ws::mock::http {
namespace {

using Bio = Handle<BIO, BIO_free_all>;
using Certificate = Handle<X509, X509_free>;
using Key = Handle<EVP_PKEY, EVP_PKEY_free>;
using Extension = Handle<X509_EXTENSION, X509_EXTENSION_free>;
using Number = Handle<BIGNUM, BN_free>;
using Context = Handle<SSL_CTX, SSL_CTX_free>;
using Channel = Handle<SSL, SSL_free>;

constexpr long day_s = 86400;
constexpr std::size_t max_identity_bytes = std::size_t{1} << 20U;
constexpr int serial_bits = 127;  // RFC 5280, 4.1.2.2: positive, 20 octets at most

Bio memory(const std::string& text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

Certificate parse_certificate(const std::string& pem) {
  const Bio bio = memory(pem);
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
}

tl::unexpected<Failure> failed(std::string_view what) {
  char reason[256] = "unknown";
  if (const unsigned long code = ERR_peek_last_error(); code != 0) ERR_error_string_n(code, reason, sizeof reason);
  ERR_clear_error();
  return fail(Failure::Kind::invalid, fmt::format("{}: {}", what, reason));
}

bool extend(X509* certificate, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, id, value));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool set_serial(X509* certificate) {
  const Number number(BN_new());
  return number != nullptr && BN_rand(number.get(), serial_bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool set_name(X509* certificate) {
  X509_NAME* name = X509_get_subject_name(certificate);
  constexpr std::string_view common_name = "ws-mock on localhost";
  return X509_NAME_add_entry_by_txt(name,
                                    "CN",
                                    MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common_name.data()),
                                    static_cast<int>(common_name.size()),
                                    -1,
                                    0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1;
}

/// Adds the extensions of a CA, so that the certificate can be added to a trust store.
bool fill(X509* certificate, EVP_PKEY* key, const std::string& names) {
  return X509_set_version(certificate, X509_VERSION_3) == 1 && set_serial(certificate) && set_name(certificate) &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), -day_s) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), 365 * day_s) != nullptr &&
         X509_set_pubkey(certificate, key) == 1 &&
         extend(certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
         extend(certificate, NID_key_usage, "critical,digitalSignature,keyCertSign") &&
         extend(certificate, NID_ext_key_usage, "serverAuth") &&
         extend(certificate, NID_subject_key_identifier, "hash") &&
         extend(certificate, NID_subject_alt_name, names.c_str()) && X509_sign(certificate, key, EVP_sha256()) > 0;
}

}  // namespace

Result<TlsIdentity> read_tls_identity(const std::string& certificate_file, const std::string& key_file) {
  TlsIdentity identity;
  WS_LET(identity.certificate_pem, read_file(certificate_file, max_identity_bytes, Source::anything));
  WS_LET(identity.key_pem, read_file(key_file, max_identity_bytes, Source::anything));
  const Certificate certificate = parse_certificate(identity.certificate_pem);
  if (certificate == nullptr) return failed(fmt::format("{} holds no certificate in PEM", certificate_file));
  const Bio bio = memory(identity.key_pem);
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr));
  if (key == nullptr) return failed(fmt::format("{} holds no private key in PEM", key_file));
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return failed(fmt::format("the key {} does not belong to the certificate {}", key_file, certificate_file));
  }
  return identity;
}

Result<TlsIdentity> make_tls_identity(const std::vector<std::string>& names) {
  std::string alternatives = "DNS:localhost,IP:127.0.0.1,IP:::1";
  for (const std::string& name : names) {
    boost::system::error_code unknown;
    boost::asio::ip::make_address(name, unknown);
    alternatives += fmt::format(",{}:{}", unknown ? "DNS" : "IP", name);
  }
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  const Bio certificate_text(BIO_new(BIO_s_mem()));
  const Bio key_text(BIO_new(BIO_s_mem()));
  const bool made = key != nullptr && certificate != nullptr && certificate_text != nullptr && key_text != nullptr &&
                    fill(certificate.get(), key.get(), alternatives) &&
                    PEM_write_bio_X509(certificate_text.get(), certificate.get()) == 1 &&
                    PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
  if (!made) return failed("cannot make a certificate");
  return TlsIdentity{.certificate_pem = text_of(certificate_text.get()), .key_pem = text_of(key_text.get())};
}

std::string ask_over_tls(int socket, const std::string& request, std::size_t count) {
  const Context context(SSL_CTX_new(TLS_client_method()));
  const Channel channel(context == nullptr ? nullptr : SSL_new(context.get()));
  std::string answer(count, '\0');
  std::size_t had = 0;
  const bool is_asked = channel != nullptr && SSL_set_fd(channel.get(), socket) == 1 &&
                        SSL_connect(channel.get()) == 1 &&
                        SSL_write(channel.get(), request.data(), static_cast<int>(request.size())) > 0;
  while (is_asked && had < count) {
    const int got = SSL_read(channel.get(), answer.data() + had, static_cast<int>(count - had));
    if (got <= 0) break;
    had += static_cast<std::size_t>(got);
  }
  ERR_clear_error();
  answer.resize(had);
  return answer;
}

}  // namespace ws::mock::http
