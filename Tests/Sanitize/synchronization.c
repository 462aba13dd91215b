// What ThreadSanitizer has to be told about `Mutex` on Linux. Preloaded into the tests by sanitize.sh.
//
// The sanitizer sees what its own compiler has instrumented. A lock that nobody else wants is taken and left by
// atomics that Swift inlines, so it sees them. One that is contended is handed over by the kernel, within
// libswiftSynchronization, which isn't instrumented: without this every value behind such a Mutex seems to be
// raced for. The two functions that wait and wake are wrapped here and say what they do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef void (*Annotation)(void *);
typedef SWIFT void (*LockSlow)(uint32_t thread, SELF void *mutex);
typedef SWIFT void (*UnlockSlow)(SELF void *mutex);

static Annotation acquire, release;
static LockSlow lock_slow;
static UnlockSlow unlock_slow;

SWIFT void wrapped_lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK_SLOW);
SWIFT void wrapped_unlock_slow(SELF void *mutex) __asm__(UNLOCK_SLOW);

SWIFT void wrapped_lock_slow(uint32_t thread, SELF void *mutex) {
    lock_slow(thread, mutex);
    if (acquire) acquire(mutex);
}

SWIFT void wrapped_unlock_slow(SELF void *mutex) {
    if (release) release(mutex);
    unlock_slow(mutex);
}

__attribute__((constructor)) static void begin(void) {
    lock_slow = (LockSlow)dlsym(RTLD_NEXT, LOCK_SLOW);
    unlock_slow = (UnlockSlow)dlsym(RTLD_NEXT, UNLOCK_SLOW);
    // Absent in the programs around the tests, which aren't instrumented: there nothing is said.
    acquire = (Annotation)dlsym(RTLD_DEFAULT, "__tsan_acquire");
    release = (Annotation)dlsym(RTLD_DEFAULT, "__tsan_release");
}
