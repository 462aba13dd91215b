#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#elif __has_include(<postgresql/libpq-fe.h>)
// Debian's folder, where nobody has asked pkg-config.
#include <postgresql/libpq-fe.h>
#else
#error "libpq's header is missing: 'make setup' installs it (Debian: libpq-dev)"
#endif
