"""The seccomp profile: an allow list without what an intruder would call. That the program runs under it, and not
under less, is for the container tests."""

import re
import unittest

from essence import ROOT, Essence, load

ALLOW = "SCMP_ACT_ALLOW"

# Whatever else changes, these stay out. `execve` alone is let in: the engine makes it to start the program, and
# the program gives it up itself.
NEVER = """
accept accept4 acct add_key adjtimex bpf capset chroot clock_settime delete_module execveat fanotify_init finit_module
fork fsconfig fsmount fsopen init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp kexec_file_load
kexec_load keyctl kill linkat listen lookup_dcookie memfd_create mknod mknodat mount mount_setattr move_mount name_to_handle_at
open_by_handle_at open_tree perf_event_open personality pidfd_getfd pidfd_open pivot_root process_vm_readv
process_vm_writev ptrace quotactl reboot renameat2 request_key setgid setns setuid settimeofday socketcall splice swapon
sysfs syslog umount2 unlinkat unshare userfaultfd vfork vmsplice
""".split()

# What the program's own sandbox needs.
SANDBOX = ["landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self", "prctl", "prlimit64", "seccomp", "setrlimit"]


class Seccomp(Essence, unittest.TestCase):
    def test_it_allows_what_is_named_and_nothing_an_intruder_would_call(self):
        def faults(profile):
            if profile.get("defaultAction") not in ("SCMP_ACT_ERRNO", "SCMP_ACT_KILL_PROCESS"):
                yield "what is not named is allowed"
            if set(profile.get("architectures", [])) != {"SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"}:
                yield "another architecture's calls are allowed, or one of ours has none"
            allowed = {}
            for rule in profile["syscalls"]:
                for name in rule["names"]:
                    if not re.fullmatch(r"[a-z0-9_]+", name):
                        yield f"{name} is not the name of a call"
                    if rule["action"] == ALLOW:
                        allowed.setdefault(name, []).append(rule.get("args"))
            if bad := allowed.keys() & set(NEVER):
                yield f"allowed: {sorted(bad)}"
            if missing := set(SANDBOX) - allowed.keys():
                yield f"the program cannot give up its rights without {sorted(missing)}"
            families = [arguments and (arguments[0]["index"], arguments[0]["op"], arguments[0]["value"])
                        for arguments in allowed.get("socket", [])]
            if sorted(families, key=str) != sorted([(0, "SCMP_CMP_EQ", family) for family in (1, 2, 10)], key=str):
                yield "other sockets than local, IPv4 and IPv6 ones"

        profile = load("seccomp.json")
        rules = [rule["names"] for rule in profile["syscalls"]]
        sockets = rules.index(["socket"])
        sandbox = next(index for index, names in enumerate(rules) if "landlock_add_rule" in names)
        self.holds(profile, faults, [
            (("defaultAction",), ALLOW),
            (("architectures",),),
            (("syscalls", 0, "names"), ["mmap", "ptrace"]),
            (("syscalls", 0, "names"), ["*"]),
            (("syscalls", sockets, "args"),),
            (("syscalls", sandbox),),
        ])

    def test_every_call_is_named_once(self):
        names = [name for rule in load("seccomp.json")["syscalls"] if not rule.get("args") for name in rule["names"]]
        self.assertEqual(len(names), len(set(names)))

    def test_the_pod_says_where_the_profile_goes(self):
        self.assertIn("localhostProfile: wg-easy-mcp.json", (ROOT / "policy/kubernetes/pod.yaml").read_text())


if __name__ == "__main__":
    unittest.main()
