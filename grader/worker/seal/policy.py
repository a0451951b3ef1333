"""What a sealed worker may ask of the kernel: a list of what is allowed, and nothing else.

Everything that computes on memory of one's own, and the pipes that are open already. No file can be
opened, no thread or process begun, no signal sent to another, no socket made. What is refused by
name gets the error that Python turns into the plainest sentence; whatever is not named here does
not exist (ENOSYS), as on a kernel older than the call.
"""

from __future__ import annotations

import errno
from typing import NamedTuple


class Checked(NamedTuple):
    """A call allowed for some values of one argument; `own` adds the worker's process id."""

    argument: int
    values: tuple[int, ...]
    error: int
    own: bool = False


# The hot ones first: an older kernel goes through the list for every call.
ALLOWED = """
    futex read write poll ppoll mmap munmap madvise mprotect brk mremap clock_gettime gettimeofday
    sched_yield rt_sigprocmask rt_sigreturn rt_sigaction rt_sigpending rt_sigsuspend rt_sigtimedwait
    sigaltstack readv writev close close_range fstat lseek dup dup2 dup3 msync mincore
    select pselect6 nanosleep clock_nanosleep clock_getres time times restart_syscall pause alarm
    setitimer getitimer getpid gettid getppid getpgid getpgrp getsid getuid geteuid getgid getegid
    getresuid getresgid getgroups getrusage getrlimit getpriority sched_getaffinity
    sched_getscheduler sched_getparam sched_get_priority_max sched_get_priority_min getcpu sysinfo
    uname getcwd getrandom umask membarrier rseq set_robust_list get_robust_list set_tid_address
    arch_prctl exit exit_group
"""

# Said to have been done, and not done: students call os.chdir.
IGNORED = "chdir fchdir"

# Refused, with the argument that says what a file is opened for: who would read finds no file, so
# that code which reads one if it is there goes on; who would write is told so.
OPENING = {"open": 1, "openat": 2}
# O_WRONLY, O_RDWR, O_CREAT: the same on both machines.
FOR_WRITING = 0o103

REFUSED: dict[int, str] = {
    errno.ENOENT: """
        stat lstat newfstatat access faccessat faccessat2 readlink readlinkat
    """,
    errno.EACCES: """
        openat2 creat mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat
        symlink symlinkat mknod mknodat chmod fchmod fchmodat chown fchown lchown fchownat utime
        utimes utimensat futimesat truncate ftruncate fallocate statfs fstatfs getdents
        getdents64 chroot name_to_handle_at open_by_handle_at memfd_create execve execveat
        setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr getxattr listxattr
        inotify_init inotify_init1 inotify_add_watch fanotify_init acct swapon
    """,
    errno.EPERM: """
        clone fork vfork socket socketpair connect bind listen accept accept4 sendto sendmsg
        recvfrom recvmsg setsockopt getsockopt shutdown tkill rt_sigqueueinfo rt_tgsigqueueinfo
        pidfd_open pidfd_send_signal pidfd_getfd ptrace process_vm_readv process_vm_writev
        process_madvise kcmp setpriority sched_setaffinity sched_setscheduler sched_setparam
        sched_setattr ioprio_set setrlimit setpgid setsid setuid setgid setreuid setregid setresuid
        setresgid setgroups setfsuid setfsgid capset unshare setns mount umount2 pivot_root bpf
        perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register add_key
        request_key keyctl shmget shmat shmctl semget msgget mq_open personality seccomp mlock
        mlock2 mlockall reboot sethostname setdomainname init_module finit_module delete_module
        kexec_load syslog settimeofday clock_settime adjtimex migrate_pages move_pages mbind
        set_mempolicy quotactl vhangup iopl ioperm
        landlock_create_ruleset landlock_add_rule landlock_restrict_self
        epoll_create epoll_create1 eventfd eventfd2 timerfd_create signalfd signalfd4
        splice tee vmsplice sendfile copy_file_range pipe pipe2
    """,
}

CHECKED: dict[str, Checked] = {
    "kill": Checked(0, (), errno.EPERM, own=True),
    "tgkill": Checked(0, (), errno.EPERM, own=True),
    # A limit of another process is as good as a signal to it.
    "prlimit64": Checked(0, (0,), errno.EPERM, own=True),
    # DUPFD, GETFD, SETFD, GETFL, SETFL, DUPFD_CLOEXEC, GETPIPE_SZ. With SETOWN the kernel would
    # send signals to others on the worker's behalf.
    "fcntl": Checked(1, (0, 1, 2, 3, 4, 1030, 1032), errno.EPERM),
    # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: nothing that types into a terminal.
    "ioctl": Checked(1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451), errno.ENOTTY),
    # GET_PDEATHSIG, GET_DUMPABLE, SET_NAME, GET_NAME, GET_SECCOMP, CAPBSET_READ, GET_NO_NEW_PRIVS,
    # and the naming of memory that newer allocators do.
    "prctl": Checked(0, (2, 3, 15, 16, 21, 23, 39, 0x53564D41), errno.EPERM),
}


def named() -> set[str]:
    """Every call that the policy speaks of."""
    return {*" ".join((ALLOWED, IGNORED, *REFUSED.values())).split(), *CHECKED, *OPENING}
