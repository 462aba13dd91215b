#if !__has_include(<openssl/kdf.h>)
#error "OpenSSL's headers are missing: 'make setup' installs them (Debian: libssl-dev)"
#endif
#include <openssl/opensslv.h>
#if OPENSSL_VERSION_MAJOR < 3
#error "OpenSSL 3.0 or newer is needed"
#endif
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/x509.h>
