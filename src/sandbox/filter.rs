//! A seccomp filter, put together as the classic BPF program that the kernel runs before every call.
//!
//! The compiler that comes with `seccompiler` knows one action for all that matches and compares call
//! numbers for equality alone. This filter needs three actions (see `calls`) and ranges of numbers: those of the x32
//! calling convention, and those of calls that nobody here has heard of.

use seccompiler::sock_filter;

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// It is made.
    Allow,
    /// It is not, and fails with this error number.
    Fail(u16),
    /// It is not, and the process ends at once. The kernel logs which call it was.
    Kill,
}

/// Part of an argument, compared with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// The argument, counted from 0.
    pub(super) argument: u32,
    /// Which half of it.
    pub(super) half: Half,
    /// The bits that are looked at.
    pub(super) mask: u32,
    /// What they have to be.
    pub(super) value: u32,
}

/// Half of a 64-bit argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    /// All that the kernel looks at where an argument is an `int`.
    Low,
    /// Only to be looked at in pointers.
    High,
}

/// A call whose arguments decide.
#[derive(Clone, Debug)]
pub(super) struct Examined {
    /// The call's number.
    pub(super) number: u32,
    /// Each is a list of conditions; one whose conditions all hold is a match.
    pub(super) alternatives: Vec<Vec<Condition>>,
    /// What becomes of a call that matches.
    pub(super) matching: Action,
    /// What becomes of any other.
    pub(super) otherwise: Action,
}

/// A filter before it is put together.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    /// The architecture that call numbers are meant for; calls made as on another one kill.
    pub(super) architecture: u32,
    /// Calls with this number or a greater one kill: another calling convention of the same
    /// architecture.
    pub(super) foreign: Option<u32>,
    /// Calls above this number fail as they would on a kernel that does not have them.
    pub(super) newest: u32,
    /// Calls whose arguments decide. They come first, since some of them are frequent; the kernel
    /// remembers of all other numbers what becomes of them, and does not run the program for those.
    pub(super) examined: Vec<Examined>,
    /// Calls whose number alone decides.
    pub(super) decided: Vec<(u32, Action)>,
}

const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const AND: u16 = 0x54; // BPF_ALU | BPF_AND | BPF_K
const JUMP: u16 = 0x05; // BPF_JMP | BPF_JA
const IF_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const IF_GREATER: u16 = 0x25; // BPF_JMP | BPF_JGT | BPF_K
const IF_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

// Where things are in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

impl Filter {
    /// The program.
    pub(super) fn program(&self) -> Vec<sock_filter> {
        let mut program = vec![
            statement(LOAD, ARCHITECTURE),
            branch(IF_EQUAL, self.architecture, 1, 0),
            Action::Kill.statement(),
            statement(LOAD, NUMBER),
        ];
        if let Some(foreign) = self.foreign {
            program.push(branch(IF_AT_LEAST, foreign, 0, 1));
            program.push(Action::Kill.statement());
        }
        program.push(branch(IF_GREATER, self.newest, 0, 1));
        program.push(Action::Fail(libc_enosys()).statement());
        for call in &self.examined {
            let block = call.block();
            program.push(branch(IF_EQUAL, call.number, 1, 0));
            program.push(statement(JUMP, length(&block)));
            program.extend(block);
        }
        for (number, action) in &self.decided {
            program.push(branch(IF_EQUAL, *number, 0, 1));
            program.push(action.statement());
        }
        program.push(Action::Allow.statement());
        program
    }
}

impl Examined {
    /// Statements that end in an action whatever the arguments are.
    fn block(&self) -> Vec<sock_filter> {
        let mut block = Vec::new();
        for conditions in &self.alternatives {
            // From the end, as a jump needs to know how much it jumps over.
            let mut alternative = vec![self.matching.statement()];
            for condition in conditions.iter().rev() {
                let mut test = vec![statement(LOAD, condition.offset())];
                if condition.mask != u32::MAX {
                    test.push(statement(AND, condition.mask));
                }
                test.push(branch(IF_EQUAL, condition.value, 1, 0));
                test.push(statement(JUMP, length(&alternative)));
                test.append(&mut alternative);
                alternative = test;
            }
            block.append(&mut alternative);
        }
        block.push(self.otherwise.statement());
        block
    }
}

impl Condition {
    fn offset(self) -> u32 {
        // The halves of an argument lie in memory as in the machine's own order, and both
        // architectures are little-endian.
        let half = match self.half {
            Half::Low => 0,
            Half::High => 4,
        };
        ARGUMENTS + 8 * self.argument + half
    }
}

impl Action {
    fn statement(self) -> sock_filter {
        statement(
            RETURN,
            match self {
                Self::Allow => libc::SECCOMP_RET_ALLOW,
                Self::Fail(error) => libc::SECCOMP_RET_ERRNO | u32::from(error),
                Self::Kill => libc::SECCOMP_RET_KILL_PROCESS,
            },
        )
    }
}

fn libc_enosys() -> u16 {
    super::calls::error_number(libc::ENOSYS)
}

fn statement(code: u16, k: u32) -> sock_filter {
    branch(code, k, 0, 0)
}

/// Jumps over `yes` statements if the comparison holds, over `no` if not.
fn branch(code: u16, k: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter {
        code,
        jt: yes,
        jf: no,
        k,
    }
}

fn length(statements: &[sock_filter]) -> u32 {
    // The kernel takes 4,096 statements at most.
    u32::try_from(statements.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
pub(super) mod machine {
    //! A machine that runs filters as the kernel does, so that every call can be tried without making it.

    use super::*;

    /// A call, as a filter sees it.
    #[derive(Clone, Copy, Debug)]
    pub(in crate::sandbox) struct Call {
        pub(in crate::sandbox) architecture: u32,
        pub(in crate::sandbox) number: u32,
        pub(in crate::sandbox) arguments: [u64; 6],
    }

    /// What a program says to a call: the value that the kernel would be given.
    pub(in crate::sandbox) fn run(program: &[sock_filter], call: Call) -> u32 {
        let mut data = Vec::new();
        data.extend(call.number.to_le_bytes());
        data.extend(call.architecture.to_le_bytes());
        data.extend([0; 8]);
        data.extend(
            call.arguments
                .iter()
                .flat_map(|argument| argument.to_le_bytes()),
        );
        let mut accumulator = 0;
        let mut next = 0;
        loop {
            let step = &program[next];
            next += 1;
            let offset = step.k as usize;
            let holds = match step.code {
                LOAD => {
                    accumulator = u32::from_le_bytes(data[offset..offset + 4].try_into().unwrap());
                    continue;
                }
                AND => {
                    accumulator &= step.k;
                    continue;
                }
                JUMP => {
                    next += offset;
                    continue;
                }
                RETURN => return step.k,
                IF_EQUAL => accumulator == step.k,
                IF_GREATER => accumulator > step.k,
                IF_AT_LEAST => accumulator >= step.k,
                other => panic!("no such instruction: {other:#x}"),
            };
            next += usize::from(if holds { step.jt } else { step.jf });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::machine::{Call, run};
    use super::*;
    use proptest::prelude::*;

    const HERE: u32 = 7;

    fn filter() -> Filter {
        let is = |argument, value| Condition {
            argument,
            half: Half::Low,
            mask: u32::MAX,
            value,
        };
        Filter {
            architecture: HERE,
            foreign: Some(0x4000_0000),
            newest: 400,
            examined: vec![Examined {
                number: 10,
                alternatives: vec![
                    vec![is(0, 1), is(1, 2)],
                    vec![Condition {
                        argument: 5,
                        half: Half::High,
                        mask: 0xf0,
                        value: 0x20,
                    }],
                ],
                matching: Action::Allow,
                otherwise: Action::Fail(1),
            }],
            decided: vec![(20, Action::Kill), (21, Action::Fail(38))],
        }
    }

    fn says(number: u32, arguments: [u64; 6]) -> u32 {
        let call = Call {
            architecture: HERE,
            number,
            arguments,
        };
        run(&filter().program(), call)
    }

    #[test]
    fn an_alternative_needs_all_of_its_conditions_and_one_alternative_is_enough() {
        let failed = libc::SECCOMP_RET_ERRNO | 1;
        for (arguments, said) in [
            ([1, 2, 0, 0, 0, 0], libc::SECCOMP_RET_ALLOW),
            ([1, 3, 0, 0, 0, 0], failed),
            ([0, 2, 0, 0, 0, 0], failed),
            // The upper half is not looked at where an argument is an int.
            ([1 | 1 << 40, 2, 0, 0, 0, 0], libc::SECCOMP_RET_ALLOW),
            ([0, 0, 0, 0, 0, 0x2f << 32], libc::SECCOMP_RET_ALLOW),
            ([0, 0, 0, 0, 0, 0x2f], failed),
        ] {
            assert_eq!(says(10, arguments), said, "{arguments:x?}");
        }
    }

    #[test]
    fn numbers_decide_and_those_out_of_range_are_not_made() {
        let enosys = libc::SECCOMP_RET_ERRNO | 38;
        for (number, said) in [
            (0, libc::SECCOMP_RET_ALLOW),
            (20, libc::SECCOMP_RET_KILL_PROCESS),
            (21, enosys),
            (400, libc::SECCOMP_RET_ALLOW),
            (401, enosys),
            (0x4000_0000, libc::SECCOMP_RET_KILL_PROCESS),
            (0x4000_0014, libc::SECCOMP_RET_KILL_PROCESS),
            (u32::MAX, libc::SECCOMP_RET_KILL_PROCESS),
        ] {
            assert_eq!(says(number, [0; 6]), said, "{number:x}");
        }
        let elsewhere = Call {
            architecture: HERE + 1,
            number: 0,
            arguments: [0; 6],
        };
        assert_eq!(
            run(&filter().program(), elsewhere),
            libc::SECCOMP_RET_KILL_PROCESS
        );
    }

    proptest! {
        #[test]
        fn every_call_comes_to_an_end(number in any::<u32>(), arguments in any::<[u64; 6]>()) {
            says(number, arguments);
        }
    }
}
