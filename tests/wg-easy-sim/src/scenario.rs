//! The handle's view of the instance: looking at it and changing it behind the API's back.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::{client::Client, config, keys, pool, settings::Account, simulator::Simulator, totp};

impl Simulator {
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
}
