//! The handle that tests hold.

use std::{
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use tokio::sync::oneshot;

use crate::{
    serve,
    settings::{Settings, Tls},
    shared::Shared,
    state::State,
    tls::{self, Identity},
};

/// A running wg-easy. It serves from a thread of its own, so that ordinary tests can use it, and
/// stops when dropped.
pub struct Simulator {
    pub(crate) shared: Arc<Shared>,
    address: SocketAddr,
    identity: Identity,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Simulator {
    /// Starts a simulator; it answers as soon as this returns. Panics when the port is taken.
    #[must_use]
    pub fn start(settings: Settings) -> Self {
        let (acceptor, identity) = tls::acceptor(settings.tls).unzip();
        let listener = TcpListener::bind(("127.0.0.1", settings.port)).expect("the port is free");
        listener
            .set_nonblocking(true)
            .expect("a socket can be made non-blocking");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let shared = Arc::new(Shared::new(State::new(settings)));
        let (stop, stopped) = oneshot::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("wg-easy-sim".to_owned())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .expect("a runtime starts");
                let local = tokio::task::LocalSet::new();
                local.block_on(&runtime, async move {
                    let listener = tokio::net::TcpListener::from_std(listener)
                        .expect("the socket is non-blocking");
                    let jobs = Arc::clone(&serving);
                    tokio::select! {
                        _ = serve::accept(serving, listener, acceptor) => {}
                        () = run_jobs(jobs) => {}
                        _ = stopped => {}
                    }
                });
            });
        let thread = Some(thread.expect("a thread starts"));
        Self {
            shared,
            address,
            identity: identity.unwrap_or_default(),
            stop: Some(stop),
            thread,
        }
    }

    /// The base URL, with the proxy's prefix.
    #[must_use]
    pub fn url(&self) -> String {
        let state = self.shared.state();
        let scheme = if state.settings.tls == Tls::Off {
            "http://127.0.0.1"
        } else {
            "https://localhost"
        };
        format!("{scheme}:{}{}", self.port(), state.settings.prefix)
    }

    /// The port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The root certificate to trust (with [`Tls::SelfSigned`]: the certificate itself); empty without TLS.
    #[must_use]
    pub fn ca_pem(&self) -> &str {
        &self.identity.ca_pem
    }

    /// The pin of the server's own certificate.
    #[must_use]
    pub fn leaf_pin(&self) -> &str {
        &self.identity.leaf_pin
    }

    /// The pin of the root in [`Self::ca_pem`].
    #[must_use]
    pub fn root_pin(&self) -> &str {
        &self.identity.root_pin
    }

    /// The pin of the intermediate of [`Tls::WithIntermediate`].
    #[must_use]
    pub fn intermediate_pin(&self) -> &str {
        &self.identity.intermediate_pin
    }

    /// The pin of the certificate that [`Tls::WithUnrelated`] sends along.
    #[must_use]
    pub fn unrelated_pin(&self) -> &str {
        &self.identity.unrelated_pin
    }

    /// Stops: connections break and the port refuses.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Simulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulator")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

async fn run_jobs(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(Duration::from_secs(60)).await;
        shared.state().run_minute_job();
    }
}
