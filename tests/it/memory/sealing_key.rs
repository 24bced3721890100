//! The key that questions are sealed with, found in the memory of a server by what it has sealed.
//!
//! Nobody is told the key, so it is looked for: of all the places in memory where 32 bytes look like
//! chance, it is the one that gives the seal of a question that was really asked.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::image::Image;

/// The key, if exactly one place in memory holds it.
pub(super) fn find(image: &Image, state: &str) -> [u8; 32] {
    let state = URL_SAFE_NO_PAD.decode(state).unwrap();
    let (sealed, tag) = state.split_at(state.len() - 32);
    let nonce = &sealed[1..17];
    let bindings = bindings(image, nonce);
    let places = (0..image.0.len() - 32).step_by(8);
    let found: Vec<[u8; 32]> = places
        .filter_map(|at| image.0[at..].first_chunk().copied())
        .filter(looks_random)
        .filter(|key| {
            bindings.iter().any(|binding| {
                let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
                mac.update(sealed);
                mac.update(binding);
                mac.verify_slice(tag).is_ok()
            })
        })
        .collect();
    let [key] = found.as_slice() else {
        panic!("the key is in {} places of memory", found.len())
    };
    *key
}

/// What the seal covers beside the state is in the table of open questions, around the nonce: two
/// digests. How the compiler has arranged the entry is not known here.
fn bindings(image: &Image, nonce: &[u8]) -> Vec<[u8; 64]> {
    let mut bindings = Vec::new();
    for at in image.positions(nonce) {
        for offset in (0..=176).step_by(8) {
            let Some(start) = (at + offset).checked_sub(96) else {
                continue;
            };
            let Some(both) = image.0.get(start..start + 64) else {
                continue;
            };
            let (one, other) = both.split_at(32);
            for pair in [[one, other], [other, one]] {
                let pair: [u8; 64] = pair.concat().try_into().unwrap();
                let halves = pair.as_chunks::<32>().0;
                if halves.iter().all(looks_random) {
                    bindings.push(pair);
                }
            }
        }
    }
    bindings.sort_unstable();
    bindings.dedup();
    bindings
}

/// Of 32 random bytes some 30 are different; fewer than 24 are in one of a million.
fn looks_random(bytes: &[u8; 32]) -> bool {
    // What is no secret has zeros, mostly.
    if bytes.iter().filter(|byte| **byte == 0).count() > 8 {
        return false;
    }
    let mut seen = [false; 256];
    let mut different = 0;
    for byte in bytes {
        different += usize::from(!std::mem::replace(&mut seen[usize::from(*byte)], true));
    }
    different >= 24
}
