/* Lets a program live CLOCK_AHEAD seconds ahead of the system: what time it is, and how old files
 * are. How long something takes is told by the real clock. Compiled and loaded by clocks.py. */

#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static long ahead(void)
{
    static long seconds = -1;
    if (seconds < 0) {
        const char *said = getenv("CLOCK_AHEAD");
        seconds = said ? atol(said) : 0;
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    REAL(clock_gettime);
    int failed = real(clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += ahead();
    return failed;
}

int gettimeofday(struct timeval *now, void *zone)
{
    REAL(gettimeofday);
    int failed = real(now, zone);
    if (!failed) now->tv_sec += ahead();
    return failed;
}

time_t time(time_t *now)
{
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (now) *now = found.tv_sec;
    return found.tv_sec;
}

#define AGED(found) \
    if (!failed) { \
        (found)->st_atim.tv_sec += ahead(); \
        (found)->st_mtim.tv_sec += ahead(); \
        (found)->st_ctim.tv_sec += ahead(); \
    } \
    return failed

#define BY_PATH(name, type) \
    int name(const char *path, struct type *found) \
    { REAL(name); int failed = real(path, found); AGED(found); }
#define BY_NUMBER(name, type) \
    int name(int file, struct type *found) \
    { REAL(name); int failed = real(file, found); AGED(found); }
#define BY_FOLDER(name, type) \
    int name(int folder, const char *path, struct type *found, int flags) \
    { REAL(name); int failed = real(folder, path, found, flags); AGED(found); }

BY_PATH(stat, stat)
BY_PATH(stat64, stat64)
BY_PATH(lstat, stat)
BY_PATH(lstat64, stat64)
BY_NUMBER(fstat, stat)
BY_NUMBER(fstat64, stat64)
BY_FOLDER(fstatat, stat)
BY_FOLDER(fstatat64, stat64)

int statx(int folder, const char *path, int flags, unsigned mask, struct statx *found)
{
    REAL(statx);
    int failed = real(folder, path, flags, mask, found);
    if (!failed) {
        found->stx_atime.tv_sec += ahead();
        found->stx_btime.tv_sec += ahead();
        found->stx_ctime.tv_sec += ahead();
        found->stx_mtime.tv_sec += ahead();
    }
    return failed;
}
