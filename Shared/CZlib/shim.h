#if !__has_include(<zlib.h>)
#error "zlib's header is missing: 'make setup' installs it (Debian: zlib1g-dev)"
#endif
#include <zlib.h>
