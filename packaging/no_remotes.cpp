// The libraries of git's remotes (SSH, TLS, GSSAPI) as far as Debian's libgit2.a asks for them. `ws` reads and writes
// objects alone and opens no remote. What libgit2 calls when it starts does nothing and succeeds; everything else
// fails. So `ws` contains neither libssh2 nor mbedTLS nor, for libssh2's sake, all of libcrypto: 20,000 relocations
// that the loader made at each start, and the certificates of the system that were read at each start of libgit2.
#include <cstddef>

#define WS_STUB(name, result) \
  __attribute__((visibility("hidden"))) long name() { return result; }
#define WS_SUCCEEDS(name) WS_STUB(name, 0)
#define WS_FAILS(name) WS_STUB(name, -1)
#define WS_NULL(name) WS_STUB(name, 0)

extern "C" {

WS_SUCCEEDS(libssh2_init)
WS_SUCCEEDS(libssh2_exit)
WS_NULL(libssh2_session_init_ex)
WS_NULL(libssh2_agent_init)
WS_NULL(libssh2_channel_open_ex)
WS_NULL(libssh2_hostkey_hash)
WS_NULL(libssh2_knownhost_init)
WS_NULL(libssh2_session_abstract)
WS_NULL(libssh2_session_hostkey)
WS_NULL(libssh2_userauth_list)
WS_FAILS(libssh2_agent_connect)
WS_FAILS(libssh2_agent_disconnect)
WS_FAILS(libssh2_agent_free)
WS_FAILS(libssh2_agent_get_identity)
WS_FAILS(libssh2_agent_list_identities)
WS_FAILS(libssh2_agent_userauth)
WS_FAILS(libssh2_channel_close)
WS_FAILS(libssh2_channel_free)
WS_FAILS(libssh2_channel_process_startup)
WS_FAILS(libssh2_channel_read_ex)
WS_FAILS(libssh2_channel_set_blocking)
WS_FAILS(libssh2_channel_write_ex)
WS_FAILS(libssh2_knownhost_checkp)
WS_FAILS(libssh2_knownhost_free)
WS_FAILS(libssh2_knownhost_readfile)
WS_FAILS(libssh2_session_disconnect_ex)
WS_FAILS(libssh2_session_free)
WS_FAILS(libssh2_session_handshake)
WS_FAILS(libssh2_session_last_error)
WS_FAILS(libssh2_session_method_pref)
WS_FAILS(libssh2_session_set_blocking)
WS_SUCCEEDS(libssh2_userauth_authenticated)  // 0: it is not
WS_FAILS(libssh2_userauth_keyboard_interactive_ex)
WS_FAILS(libssh2_userauth_password_ex)
WS_FAILS(libssh2_userauth_publickey)
WS_FAILS(libssh2_userauth_publickey_fromfile_ex)
WS_FAILS(libssh2_userauth_publickey_frommemory)

WS_SUCCEEDS(mbedtls_ctr_drbg_free)
WS_SUCCEEDS(mbedtls_ctr_drbg_init)
WS_SUCCEEDS(mbedtls_ctr_drbg_seed)
WS_SUCCEEDS(mbedtls_entropy_free)
WS_SUCCEEDS(mbedtls_entropy_init)
WS_SUCCEEDS(mbedtls_ssl_conf_authmode)
WS_SUCCEEDS(mbedtls_ssl_conf_ca_chain)
WS_SUCCEEDS(mbedtls_ssl_conf_ciphersuites)
WS_SUCCEEDS(mbedtls_ssl_conf_min_version)
WS_SUCCEEDS(mbedtls_ssl_conf_rng)
WS_SUCCEEDS(mbedtls_ssl_config_defaults)
WS_SUCCEEDS(mbedtls_ssl_config_free)
WS_STUB(mbedtls_ssl_get_ciphersuite_id, 1)  // libgit2 does not start without a cipher
WS_SUCCEEDS(mbedtls_x509_crt_free)
WS_SUCCEEDS(mbedtls_x509_crt_init)
WS_FAILS(mbedtls_x509_crt_parse_file)
WS_FAILS(mbedtls_x509_crt_parse_path)
WS_NULL(mbedtls_ssl_get_peer_cert)
WS_FAILS(mbedtls_ctr_drbg_random)
WS_FAILS(mbedtls_entropy_func)
WS_FAILS(mbedtls_ssl_close_notify)
WS_SUCCEEDS(mbedtls_ssl_free)
WS_FAILS(mbedtls_ssl_get_verify_result)
WS_FAILS(mbedtls_ssl_handshake)
WS_SUCCEEDS(mbedtls_ssl_init)
WS_FAILS(mbedtls_ssl_read)
WS_SUCCEEDS(mbedtls_ssl_set_bio)
WS_FAILS(mbedtls_ssl_set_hostname)
WS_FAILS(mbedtls_ssl_setup)
WS_FAILS(mbedtls_ssl_write)
WS_FAILS(mbedtls_x509_crt_verify_info)

__attribute__((visibility("hidden"))) void mbedtls_strerror(int, char* text, std::size_t size) {
  if (size > 0) *text = '\0';
}

__attribute__((visibility("hidden"))) void* GSS_C_NT_HOSTBASED_SERVICE = nullptr;

#define WS_NO_GSSAPI(name) WS_STUB(name, 0xd0000)  // GSS_S_FAILURE
WS_NO_GSSAPI(gss_delete_sec_context)
WS_NO_GSSAPI(gss_display_status)
WS_NO_GSSAPI(gss_import_name)
WS_NO_GSSAPI(gss_indicate_mechs)
WS_NO_GSSAPI(gss_init_sec_context)
WS_NO_GSSAPI(gss_release_buffer)
WS_NO_GSSAPI(gss_release_name)
WS_NO_GSSAPI(gss_release_oid_set)
#undef WS_NO_GSSAPI

}  // extern "C"

#undef WS_NULL
#undef WS_FAILS
#undef WS_SUCCEEDS
#undef WS_STUB
