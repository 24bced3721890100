//! wg-easy takes a change and says nothing. This takes the fifteen seconds that an answer may take,
//! for all tools at the same time.

use super::{Case, GUARDED, Path};
use crate::support::{Era, is_error, refusal, structured};
use wg_easy_sim::Fault;

#[test]
fn a_change_that_is_never_answered_is_read_back() {
    let silent = [(Fault::Hang, false), (Fault::HangAfterApply, true)];
    std::thread::scope(|scope| {
        for guarded in &GUARDED {
            for (fault, applied) in silent.clone() {
                scope.spawn(move || {
                    let mut case = Case::new(guarded, Path::Dialog(Era::V2025_11_25));
                    let open = case.open(2);
                    case.sim.fault(guarded.write_matcher(2), fault);
                    let result = case.yes(&open, 2).result();
                    assert_eq!(case.is_in_place(2), applied, "{case:?}: {result}");
                    let audit = case.server.wait_for_audit(1);
                    let outcome = match applied {
                        true => "outcome=applied",
                        false => "outcome=unknown",
                    };
                    assert!(audit[0].ends_with(outcome), "{case:?}: {}", audit[0]);
                    if applied {
                        assert!(structured(&result)["warning"].is_string(), "{result}");
                        return;
                    }
                    assert!(is_error(&result));
                    let said = refusal(&result);
                    assert!(said.contains("did not answer in time"), "{said}");
                    // It has been taken and may still be carried out.
                    assert!(said.contains("could not be determined"), "{said}");
                });
            }
        }
    });
}
