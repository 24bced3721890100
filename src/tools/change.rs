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
            return Done::new(
                Outcome::Failed,
                Err(Failure::Change(format!("Nothing was changed. {error}"))),
            );
        }
        // Only wg-easy's own 500 says that it has come to an end with the change. In all other cases it
        // may still be at it, and that it is not in place at this moment is no proof of anything.
        let has_ended = matches!(error, Error::ServerError { status: 500, .. });
        match read_back.await {
            Found::InPlace => Done::new(
                Outcome::Applied,
                Ok(answer(Words(format!(
                    "wg-easy did not answer as it should, but reading back shows that {in_place}. Its tunnel may \
                     not have been reloaded: see wg-easy's log."
                )))),
            ),
            Found::NotInPlace if has_ended => Done::new(
                Outcome::NotApplied,
                Err(Failure::Change(format!(
                    "The change is not in place: reading back shows that {not_in_place}. {error}"
                ))),
            ),
            Found::NotInPlace => Done::new(
                Outcome::Unknown,
                Err(Failure::Change(format!(
                    "Whether the change comes into place could not be determined: reading back shows that \
                     {not_in_place} at this moment, but wg-easy may still be working on it. Look with {look_with} \
                     before you try again. {error}"
                ))),
            ),
            Found::Gone => Done::new(
                Outcome::NotApplied,
                Err(Failure::Change(format!(
                    "The client is gone: it was there before the change, and reading back finds no such client. {error}"
                ))),
            ),
            Found::Unknown => Done::new(
                Outcome::Unknown,
                Err(Failure::Change(format!(
                    "The change was sent, and whether it is in place could not be determined. Look with {look_with} \
                     before you try again. {error}"
                ))),
            ),
        }
    }
}
