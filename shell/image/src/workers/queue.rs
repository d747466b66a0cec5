//! Which fetch begins next: limits by namespace and host, and turns between namespaces.
//!
//! A value without threads or clocks. Jobs wait here until their namespace and their host have room.

use std::collections::{BTreeMap, VecDeque};

/// How many fetches run at once. A slow registry holds its thread for minutes, so there are many more than
/// the cores would need; those that wait cost next to nothing.
pub const MAX_FETCHES: usize = 32;

/// How many fetches run at once for one namespace: an eighth of all, so that eight namespaces have to
/// misbehave before others wait.
pub const MAX_NAMESPACE_FETCHES: usize = 4;

/// How many fetches of one namespace ask one host at once: half of [`MAX_NAMESPACE_FETCHES`], so that a host
/// that hangs does not keep the namespace from its other hosts.
pub const MAX_HOST_FETCHES: usize = 2;

/// How many fetches of all namespaces ask one host at once: a quarter of all, so that a public registry that
/// is down does not hold every thread. It is not [`MAX_HOST_FETCHES`], because then one namespace could keep
/// all others from a registry that they share.
pub const MAX_SHARED_HOST_FETCHES: usize = 8;

/// How many fetches may run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FetchLimits {
    /// In total.
    pub(crate) total: usize,
    /// For one namespace.
    pub(crate) namespace: usize,
    /// For one namespace from one host.
    pub(crate) namespace_host: usize,
    /// From one host.
    pub(crate) host: usize,
}

impl FetchLimits {
    /// Returns the limits where the catalogs of several tenants are fetched.
    pub(crate) fn of_tenants() -> Self {
        Self {
            total: MAX_FETCHES,
            namespace: MAX_NAMESPACE_FETCHES,
            namespace_host: MAX_HOST_FETCHES,
            host: MAX_SHARED_HOST_FETCHES,
        }
    }

    /// Returns the limits for one user, who shares the threads with no other.
    pub(crate) fn of_one_user() -> Self {
        let total = MAX_FETCHES;
        Self { total, namespace: total, namespace_host: total, host: total }
    }
}

/// What a fetch counts for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FetchKey {
    /// The namespace that it is for.
    pub(crate) namespace: String,
    /// The host that it asks; empty if it asks none.
    pub(crate) host: String,
}

/// Jobs that wait, and how many of which kind run.
#[derive(Debug)]
pub(crate) struct FetchQueue<J> {
    limits: FetchLimits,
    /// The waiting jobs by namespace, each with its hosts in turn.
    waiting: BTreeMap<String, Turns<VecDeque<J>>>,
    /// The namespaces with waiting jobs, the next one first.
    turns: VecDeque<String>,
    running: BTreeMap<FetchKey, usize>,
}

/// Values by name, with an order in which they have their turn.
#[derive(Debug)]
struct Turns<T> {
    order: VecDeque<String>,
    values: BTreeMap<String, T>,
}

impl<J> FetchQueue<J> {
    pub(crate) fn new(limits: FetchLimits) -> Self {
        Self { limits, waiting: BTreeMap::new(), turns: VecDeque::new(), running: BTreeMap::new() }
    }

    /// Adds a job behind those of the same namespace and host.
    pub(crate) fn push(&mut self, key: FetchKey, job: J) {
        let FetchKey { namespace, host } = key;
        if !self.waiting.contains_key(&namespace) {
            self.turns.push_back(namespace.clone());
        }
        let hosts = self
            .waiting
            .entry(namespace)
            .or_insert_with(|| Turns { order: VecDeque::new(), values: BTreeMap::new() });
        if !hosts.values.contains_key(&host) {
            hosts.order.push_back(host.clone());
        }
        hosts.values.entry(host).or_default().push_back(job);
    }

    /// Takes the next job that may begin now; it counts as running until [`Self::finish`].
    pub(crate) fn next(&mut self) -> Option<(FetchKey, J)> {
        if self.running.values().sum::<usize>() >= self.limits.total {
            return None;
        }
        let key = self.turns.iter().find_map(|namespace| {
            let hosts = &self.waiting.get(namespace)?.order;
            let key = |host: &String| FetchKey { namespace: namespace.clone(), host: host.clone() };
            hosts.iter().map(key).find(|key| self.has_room(key))
        })?;
        let job = self.take(&key)?;
        *self.running.entry(key.clone()).or_default() += 1;
        Some((key, job))
    }

    /// Removes the first job of a key from those that wait; its namespace and its host go to the end.
    fn take(&mut self, key: &FetchKey) -> Option<J> {
        let hosts = self.waiting.get_mut(&key.namespace)?;
        let jobs = hosts.values.get_mut(&key.host)?;
        let job = jobs.pop_front();
        hosts.order.retain(|host| *host != key.host);
        if jobs.is_empty() {
            hosts.values.remove(&key.host);
        } else {
            hosts.order.push_back(key.host.clone());
        }
        self.turns.retain(|namespace| *namespace != key.namespace);
        if hosts.values.is_empty() {
            self.waiting.remove(&key.namespace);
        } else {
            self.turns.push_back(key.namespace.clone());
        }
        job
    }

    /// Records that a job has ended.
    pub(crate) fn finish(&mut self, key: &FetchKey) {
        if let Some(count) = self.running.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                self.running.remove(key);
            }
        }
    }

    fn has_room(&self, key: &FetchKey) -> bool {
        let FetchLimits { namespace, namespace_host, host, total: _ } = self.limits;
        let count = |counts: &dyn Fn(&FetchKey) -> bool| -> usize {
            self.running.iter().filter(|(key, _)| counts(key)).map(|(_, count)| count).sum()
        };
        let asks_no_host = key.host.is_empty();
        count(&|running| running.namespace == key.namespace) < namespace
            && (asks_no_host || count(&|running| running == key) < namespace_host)
            && (asks_no_host || count(&|running| running.host == key.host) < host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: FetchLimits = FetchLimits { total: 6, namespace: 3, namespace_host: 2, host: 4 };

    fn key(written: &str) -> FetchKey {
        let (namespace, host) = written.split_once('@').expect("a namespace and a host");
        FetchKey { namespace: namespace.to_owned(), host: host.to_owned() }
    }

    /// Begins everything that may begin, and returns it in order.
    fn begin(queue: &mut FetchQueue<u32>) -> Vec<String> {
        let next = || queue.next().map(|(key, _)| format!("{}@{}", key.namespace, key.host));
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn queue_limits_namespaces_hosts_and_the_total() {
        let claims: [(&[&str], &[&str]); 5] = [
            // One host of a namespace, then its other hosts.
            (&["a@x", "a@x", "a@x", "a@y"], &["a@x", "a@y", "a@x"]),
            // A namespace that asks no host is limited as a whole.
            (&["a@", "a@", "a@", "a@"], &["a@", "a@", "a@"]),
            // A host that several namespaces share.
            (
                &["a@x", "a@x", "b@x", "b@x", "c@x", "c@x", "c@y"],
                &["a@x", "b@x", "c@x", "a@x", "c@y"],
            ),
            // Everything together.
            (
                &["a@1", "a@2", "a@3", "b@4", "b@5", "b@6", "c@7"],
                &["a@1", "b@4", "c@7", "a@2", "b@5", "a@3"],
            ),
            (&[], &[]),
        ];
        for (pushed, begun) in claims {
            let mut queue = FetchQueue::new(LIMITS);
            (0..).zip(pushed).for_each(|(number, written)| queue.push(key(written), number));
            assert_eq!(begin(&mut queue), begun, "{pushed:?}");
        }
    }

    #[test]
    fn queue_begins_waiting_jobs_when_others_finish() {
        let mut queue = FetchQueue::new(LIMITS);
        for number in 0..40 {
            queue.push(key("bad@silent"), number);
        }
        queue.push(key("good@registry"), 100);
        assert_eq!(begin(&mut queue), ["bad@silent", "good@registry", "bad@silent"]);
        queue.finish(&key("good@registry"));
        assert_eq!(begin(&mut queue), Vec::<String>::new(), "the silent host has no more room");
        queue.push(key("good@registry"), 101);
        queue.finish(&key("bad@silent"));
        assert_eq!(begin(&mut queue), ["bad@silent", "good@registry"]);
    }

    /// Whatever is pushed and finished: no limit is exceeded, nothing that has room waits, and all jobs run
    /// once, those of one key in their order.
    #[test]
    fn queue_runs_every_job_once_within_its_limits() {
        let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut random = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below as u64).expect("small")
        };
        for _ in 0..200 {
            let mut queue = FetchQueue::new(LIMITS);
            let (mut running, mut begun) = (Vec::new(), BTreeMap::<FetchKey, Vec<u32>>::new());
            let mut pushed = BTreeMap::<FetchKey, Vec<u32>>::new();
            for number in 0..120 {
                if number < 60 || random(3) == 0 {
                    let hosts = ["", "x", "y", "z"];
                    let namespace = format!("n{}", random(4));
                    let key = FetchKey { namespace, host: hosts[random(4)].to_owned() };
                    pushed.entry(key.clone()).or_default().push(number);
                    queue.push(key, number);
                }
                if !running.is_empty() && random(2) == 0 {
                    queue.finish(&running.swap_remove(random(running.len())));
                }
                while let Some((key, job)) = queue.next() {
                    begun.entry(key.clone()).or_default().push(job);
                    running.push(key);
                }
                check_limits(&running);
            }
            while !running.is_empty() {
                queue.finish(&running.swap_remove(random(running.len())));
                while let Some((key, job)) = queue.next() {
                    begun.entry(key.clone()).or_default().push(job);
                    running.push(key);
                }
                check_limits(&running);
            }
            assert_eq!(begun, pushed);
            assert!(queue.waiting.is_empty() && queue.turns.is_empty() && queue.running.is_empty());
        }
    }

    fn check_limits(running: &[FetchKey]) {
        assert!(running.len() <= LIMITS.total);
        for key in running {
            let count = |counts: &dyn Fn(&FetchKey) -> bool| {
                running.iter().filter(|other| counts(other)).count()
            };
            assert!(count(&|other| other.namespace == key.namespace) <= LIMITS.namespace);
            if !key.host.is_empty() {
                assert!(count(&|other| other == key) <= LIMITS.namespace_host);
                assert!(count(&|other| other.host == key.host) <= LIMITS.host);
            }
        }
    }
}
