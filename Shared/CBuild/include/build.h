#ifndef RTM_BUILD_H
#define RTM_BUILD_H

// The commit that this build was made of, or "unknown". The manifest takes it from the environment (RTM_COMMIT).
const char *rtm_build_commit(void);

#endif
