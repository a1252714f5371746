// GSSAPI as far as Debian's libgit2.a asks for it, to log in at web proxies and git servers; Debian has no archive of
// it. `ws` reads and writes objects alone and opens no remote, so nothing calls these; were one called, it would fail.
extern "C" {

__attribute__((visibility("hidden"))) void* GSS_C_NT_HOSTBASED_SERVICE = nullptr;

#define WS_NO_GSSAPI(name) \
  __attribute__((visibility("hidden"))) unsigned name() { return 0xd0000U; /* GSS_S_FAILURE */ }
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
