// The one function of mbedTLS whose result libgit2 reads (see no_remotes.cpp): the members of an empty configuration.
#include <mbedtls/ssl.h>

void mbedtls_ssl_config_init(mbedtls_ssl_config* config) { *config = {}; }
