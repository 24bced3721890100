//! The memory of another process.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

const PAGE: usize = 4096;
const ZEROS: [u8; PAGE] = [0; PAGE];

/// Everything that a process can write to, and so may have written a secret to.
pub(super) struct Image(pub(super) Vec<u8>);

impl Image {
    /// `None` where this user may not look.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
        let memory = File::open(format!("/proc/{pid}/mem")).ok()?;
        let mut image = Vec::new();
        for line in maps.lines() {
            let mut fields = line.split_whitespace();
            let (range, rights) = (fields.next()?, fields.next()?);
            if !rights.starts_with("rw") {
                continue;
            }
            let (start, end) = range.split_once('-')?;
            let number = |text| u64::from_str_radix(text, 16).unwrap();
            let (start, end) = (number(start), number(end));
            // A page at a time: the process may have given one back meanwhile, and some of the kernel's
            // own cannot be read. Most pages were never used, which take long to look through.
            for page in (start..end).step_by(PAGE) {
                let mut content = ZEROS;
                if memory.read_exact_at(&mut content, page).is_ok() && content != ZEROS {
                    image.extend(content);
                }
            }
        }
        assert!(image.len() > 10 * PAGE, "is that all?");
        Some(Self(image))
    }

    /// Memory that was given back often loses its first bytes to the allocator, so the second half
    /// counts as the whole.
    pub(super) fn count(&self, secret: &str) -> usize {
        self.positions(&secret.as_bytes()[secret.len() / 2..]).len()
    }

    /// Where some bytes are.
    pub(super) fn positions(&self, bytes: &[u8]) -> Vec<usize> {
        let mut positions = Vec::new();
        let mut from = 0;
        while let Some(at) = find(&self.0[from..], bytes) {
            positions.push(from + at);
            from += at + bytes.len();
        }
        positions
    }
}

fn find(all: &[u8], bytes: &[u8]) -> Option<usize> {
    all.windows(bytes.len()).position(|window| window == bytes)
}
