//! A change that has been sent, and the truth about it.
//!
//! wg-easy writes its database before it does what can fail, so an error is no proof that nothing
//! happened. What may have been applied is read back, and the answer says one of three things: it is in
//! place, it is not, or that could not be told.

use super::answer::Words;
use super::{Done, Failure};
use crate::diagnostics::Outcome;
use crate::wg_easy::record::ClientList;
use crate::wg_easy::{ClientId, Error, WgEasy};

/// What reading back found.
pub(super) enum Found {
    /// The change is in place.
    InPlace,
    /// It is not.
    NotInPlace,
    /// The client is no longer there: somebody deleted it meanwhile.
    Gone,
    /// That cannot be told.
    Unknown,
}

/// Whether a client that is not to be found is gone. A 404 alone does not say so, since a proxy that has
/// lost its way to wg-easy answers with one too: the list has to be there, and the client not in it.
pub(super) async fn is_gone(wg_easy: &WgEasy, id: ClientId) -> bool {
    let Ok(body) = wg_easy.clients().await else {
        return false;
    };
    ClientList::from_body(body)
        .is_ok_and(|list| list.skipped() == 0 && list.client(id.as_u64()).is_none())
}

/// How a change is spoken of.
pub(super) struct Change {
    /// That it is in place, such as "client 5 is deleted".
    pub(super) in_place: String,
    /// That it is not, such as "client 5 is still there".
    pub(super) not_in_place: String,
    /// Where to look when it cannot be told, such as "get_client".
    pub(super) look_with: &'static str,
}

impl Change {
    /// What became of a change that wg-easy refused or may not have carried out: `answer` is given with
    /// a warning when reading back finds it in place.
    pub(super) async fn settle(
        self,
        error: Error,
        read_back: impl Future<Output = Found>,
        answer: impl FnOnce(Words) -> super::Answer,
    ) -> Done {
        let Self {
            in_place,
            not_in_place,
            look_with,
        } = self;
        if !error.may_have_been_applied() {
            return Done {
                outcome: Outcome::Failed,
                // How things are was not looked at: what was refused may be in place already.
                answer: Err(Failure::Change(format!("Nothing was changed. {error}"))),
            };
        }
        let still_open = match error {
            Error::Timeout { .. } => {
                format!(
                    "wg-easy has taken it and may still carry it out: look with {look_with} before you try again. "
                )
            }
            _ => String::new(),
        };
        match read_back.await {
            Found::InPlace => Done {
                outcome: Outcome::Applied,
                answer: Ok(answer(Words(format!(
                    "wg-easy did not answer as it should, but reading back shows that {in_place}. Its tunnel may \
                     not have been reloaded: see wg-easy's log."
                )))),
            },
            Found::NotInPlace => Done {
                outcome: Outcome::NotApplied,
                answer: Err(Failure::Change(format!(
                    "The change is not in place: reading back shows that {not_in_place}. {still_open}{error}"
                ))),
            },
            Found::Gone => Done {
                outcome: Outcome::NotApplied,
                answer: Err(Failure::Change(format!(
                    "The client is gone: it was there before the change, and reading back finds no such client. {error}"
                ))),
            },
            Found::Unknown => Done {
                outcome: Outcome::Unknown,
                answer: Err(Failure::Change(format!(
                    "The change was sent, and whether it is in place could not be determined. Look with {look_with} \
                     before you try again. {error}"
                ))),
            },
        }
    }
}
