#if !__has_include(<openssl/hmac.h>)
#error "OpenSSL's headers are missing: 'make setup' installs them (Debian: libssl-dev)"
#endif
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
