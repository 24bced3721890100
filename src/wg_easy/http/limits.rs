//! The limits of an exchange.

use std::time::Duration;

/// What an exchange may take. [`Default`] is what the product promises.
#[derive(Clone, Copy, Debug)]
pub(in crate::wg_easy) struct Limits {
    /// To a connection: name resolution, TCP, TLS. It is part of `headers` and shorter, so that a
    /// time-out tells whether the request can have been sent.
    pub(in crate::wg_easy) connecting: Duration,
    /// From the start to the response headers.
    pub(in crate::wg_easy) headers: Duration,
    /// From the start to the last byte of the body.
    pub(in crate::wg_easy) exchange: Duration,
    /// The most bytes of a success body.
    pub(in crate::wg_easy) success_body: usize,
    /// The bytes after which an error body is cut.
    pub(in crate::wg_easy) error_body: usize,
    /// How many reads are sent at a time.
    pub(in crate::wg_easy) reads: usize,
    /// How long an unused connection is kept. wg-easy closes it after five seconds; one that is given
    /// up before that cannot be closed under a request.
    pub(in crate::wg_easy) idle: Duration,
    /// How long a refused login is remembered.
    pub(in crate::wg_easy) refusal: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connecting: Duration::from_secs(10),
            headers: Duration::from_secs(15),
            exchange: Duration::from_secs(60),
            success_body: 8 << 20,
            error_body: 64 << 10,
            reads: 4,
            idle: Duration::from_secs(4),
            refusal: Duration::from_secs(10),
        }
    }
}
