//! The handle that tests hold.

use std::{
    net::{SocketAddr, TcpListener},
    sync::{Arc, atomic::Ordering},
    thread::JoinHandle,
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::oneshot;

use crate::{
    client::Client,
    config,
    fault::{Entry, Fault, FaultHandle, Matcher},
    hold::{Gate, Hold, Place},
    keys,
    log::Received,
    pool, serve,
    settings::{Account, Settings, Tls},
    shared::Shared,
    state::State,
    tls::{self, Identity},
    totp,
};

/// A running wg-easy. It serves from a thread of its own, so that ordinary tests can use it, and
/// stops when dropped.
pub struct Simulator {
    shared: Arc<Shared>,
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

    /// The account as it is.
    #[must_use]
    pub fn account(&self) -> Account {
        self.shared.state().account.clone()
    }

    /// Changes the account: password, second factor, role, disabled. Cookies stay valid.
    pub fn update_account(&self, change: impl FnOnce(&mut Account)) {
        change(&mut self.shared.state().account);
    }

    /// Switches logins by password off or on.
    pub fn set_password_login_disabled(&self, disabled: bool) {
        self.shared.state().settings.password_login_disabled = disabled;
    }

    /// Makes every cookie handed out so far worthless, as a new session secret does.
    pub fn invalidate_cookies(&self) {
        self.shared.state().cookie_key = keys::random();
    }

    /// The second-factor code of this moment; `None` without a second factor.
    #[must_use]
    pub fn totp_code(&self) -> Option<String> {
        let state = self.shared.state();
        totp::code(
            state.account.totp_secret.as_deref()?,
            state.now().as_second(),
        )
    }

    /// Adds a client behind the API's back. Panics when the pool is full.
    pub fn add_client(&self, name: &str) -> u64 {
        self.shared
            .state()
            .create(name.to_owned(), None)
            .expect("the pool has an address left")
    }

    /// Adds many clients quickly.
    pub fn add_clients(&self, count: usize) {
        self.shared.state().seed(count);
    }

    /// A client, keys included.
    #[must_use]
    pub fn client(&self, id: u64) -> Option<Client> {
        self.shared.state().clients.get(&id).cloned()
    }

    /// All clients by id.
    #[must_use]
    pub fn clients(&self) -> Vec<Client> {
        self.shared.state().clients.values().cloned().collect()
    }

    /// Changes a client behind the API's back, without any check; false if there is none.
    pub fn update_client(&self, id: u64, change: impl FnOnce(&mut Client)) -> bool {
        self.shared
            .state()
            .clients
            .get_mut(&id)
            .map(change)
            .is_some()
    }

    /// Removes a client behind the API's back; false if there is none.
    pub fn remove_client(&self, id: u64) -> bool {
        self.shared.state().clients.remove(&id).is_some()
    }

    /// How many clients there are.
    #[must_use]
    pub fn client_count(&self) -> usize {
        self.shared.state().clients.len()
    }

    /// The configuration of a client, byte for byte.
    #[must_use]
    pub fn configuration(&self, id: u64) -> Option<String> {
        let state = self.shared.state();
        state
            .clients
            .get(&id)
            .map(|client| config::text(client, &state.instance))
    }

    /// The tunnel's own public key.
    #[must_use]
    pub fn server_public_key(&self) -> String {
        self.shared.state().instance.keys.public.clone()
    }

    /// Takes the tunnel down: reads of its figures fail, changes are applied and answered 500.
    pub fn set_tunnel_down(&self, down: bool) {
        self.shared.state().tunnel_down = down;
    }

    /// Lets only the reload after a change fail: reads work, changes are applied and answered 500.
    pub fn set_reload_fails(&self, fails: bool) {
        self.shared.state().reload_fails = fails;
    }

    /// Whether a bad value, or the tunnel, makes every change answer 500 at the moment.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        !self.shared.state().reloads()
    }

    /// Lets `/api/information` fail, as when the release check reaches nobody.
    pub fn set_release_check_fails(&self, fails: bool) {
        self.shared.state().release_check_fails = fails;
    }

    /// Replaces the IPv4 pool; clients keep their addresses. Panics when it is no network.
    pub fn set_ipv4_cidr(&self, cidr: &str) {
        let mut state = self.shared.state();
        state.instance.ipv4 = pool::Cidr::parse(cidr).expect("a network in CIDR notation");
        state.instance.ipv4_text = cidr.to_owned();
    }

    /// The simulator's time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.shared.state().now()
    }

    /// Moves the simulator's clock ahead. The job that runs every minute does not run by itself for it.
    pub fn advance_clock(&self, by: Duration) {
        self.shared.state().clock_offset +=
            SignedDuration::try_from(by).expect("a reasonable time");
    }

    /// Runs the job that disables expired clients and drops expired links.
    pub fn run_minute_job(&self) {
        self.shared.state().run_minute_job();
    }

    /// Plans a fault. Of several that fit a request, the one planned first strikes.
    pub fn fault(&self, matcher: Matcher, fault: Fault) -> FaultHandle {
        let entry = Entry::new(matcher, fault);
        let handle = entry.handle();
        self.shared.journal().faults.push(entry);
        handle
    }

    /// Forgets all planned faults.
    pub fn clear_faults(&self) {
        self.shared.journal().faults.clear();
    }

    /// Parks matching requests before anything is applied.
    #[must_use = "dropping the hold lets the requests go"]
    pub fn hold(&self, matcher: Matcher) -> Hold {
        self.hold_at(matcher, Place::Arrival)
    }

    /// Parks matching requests after they were applied, before they are answered.
    #[must_use = "dropping the hold lets the requests go"]
    pub fn hold_answer(&self, matcher: Matcher) -> Hold {
        self.hold_at(matcher, Place::Answer)
    }

    fn hold_at(&self, matcher: Matcher, place: Place) -> Hold {
        let gate = Gate::new(matcher, place);
        self.shared.journal().gates.push(Arc::clone(&gate));
        Hold::new(gate)
    }

    /// Everything received since the start or the last reset.
    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        self.shared.journal().requests.clone()
    }

    /// How many requests of this method and path were received; both may be `*` or end in it.
    #[must_use]
    pub fn count(&self, method: &str, path: &str) -> usize {
        count(&self.shared.journal().requests, method, path)
    }

    /// Waits until so many requests were received. Panics after twenty seconds.
    pub fn wait_count(&self, method: &str, path: &str, least: usize) {
        let what = format!("{least} of {method} {path}");
        self.shared
            .wait_until(&what, |requests| count(requests, method, path) >= least);
    }

    /// Waits until something holds about the received requests. Panics after twenty seconds.
    pub fn wait_until(&self, what: &str, holds: impl FnMut(&[Received]) -> bool) {
        self.shared.wait_until(what, holds);
    }

    /// How many requests asked for a change.
    #[must_use]
    pub fn writes(&self) -> usize {
        self.shared
            .journal()
            .requests
            .iter()
            .filter(|request| request.is_write())
            .count()
    }

    /// How many changes were applied, whatever the answer was.
    #[must_use]
    pub fn applied(&self) -> usize {
        self.shared.state().applied
    }

    /// How many logins were attempted on the login routes, second steps included.
    #[must_use]
    pub fn logins(&self) -> usize {
        self.shared.state().logins
    }

    /// How often a password was hashed: login routes, and every request with Basic.
    #[must_use]
    pub fn password_checks(&self) -> usize {
        self.shared.state().password_checks
    }

    /// How many TCP connections were accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.accepted.load(Ordering::SeqCst)
    }

    /// How many of them are open.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// Waits until at most so many connections are open. Panics after twenty seconds.
    pub fn wait_open_connections(&self, most: usize) {
        self.shared
            .wait_until("connections to close", |_| self.open_connections() <= most);
    }

    /// Forgets the received requests and sets the counters to zero.
    pub fn reset_log(&self) {
        self.shared.reset_log();
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

fn count(requests: &[Received], method: &str, path: &str) -> usize {
    let fits = |pattern: &str, text: &str| match pattern.strip_suffix('*') {
        Some(start) => text.starts_with(start),
        None => text == pattern,
    };
    requests
        .iter()
        .filter(|request| fits(method, &request.method) && fits(path, &request.path))
        .count()
}

async fn run_jobs(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(Duration::from_secs(60)).await;
        shared.state().run_minute_job();
    }
}
