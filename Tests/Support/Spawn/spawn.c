// Two of these calls are only declared with it, and Swift doesn't see them.
#define _GNU_SOURCE
#include "spawn_child.h"

#ifdef __linux__
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

int spawn_child(pid_t *pid, const char *program, char *const arguments[], char *const variables[], const char *directory,
                const int descriptors[3]) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int target = 0; target < 3; target++) {
        if (descriptors[target] == SPAWN_NULL)
            posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDWR, 0);
        else if (descriptors[target] != SPAWN_INHERIT)
            posix_spawn_file_actions_adddup2(&actions, descriptors[target], target);
    }
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (directory) posix_spawn_file_actions_addchdir_np(&actions, directory);

    // Signals that the test's own program ignores or blocks are none of the child's business.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

    int error = posix_spawn(pid, program, &actions, &attributes, arguments, variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}
#endif
