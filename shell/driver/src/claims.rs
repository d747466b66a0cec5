//! Which namespaces are in progress, and which shared objects each is writing.
//!
//! Namespaces are decided and written concurrently. Two of them may want the same object outside of
//! both, such as a CRD or a ClusterRole. Only one writes it at a time; the others are decided again
//! afterwards, when they see what it wrote.
//!
//! Claims save work and keep conflicts from users. Correctness rests on the versions that writes carry, as
//! with two controllers side by side. So writes that hang lose their claims at their deadline.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use operon_object::ObjectKey;

use crate::Lane;

#[derive(Debug, Default)]
pub(crate) struct Claims {
    in_progress: BTreeMap<String, Progress>,
    /// The namespaces that wait for a claim, by what they wait for.
    waiting: BTreeMap<Claim, VecDeque<String>>,
}

/// A namespace in progress.
#[derive(Debug)]
struct Progress {
    /// The lane of its task.
    lane: Lane,
    state: State,
    /// The task exceeded its deadline, so it no longer takes a place from others.
    is_overdue: bool,
}

#[derive(Debug)]
enum State {
    Deciding,
    Executing(BTreeSet<Claim>),
    Waiting,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// The verdict rests on the operators of other namespaces.
    Elsewhere,
    Object(ObjectKey),
}

/// Whether a verdict may be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claimed {
    Yes,
    /// Another namespace is writing one of the objects. The namespace is returned by
    /// [`Claims::end`] when it may be decided again.
    Later,
    /// One of the objects has changed since the decision.
    Outdated,
}

/// A task that exceeded its deadline.
#[derive(Debug)]
pub(crate) struct Overdue {
    /// Whether the task is a decision.
    pub(crate) was_deciding: bool,
    /// The namespaces that waited for it and are decided again.
    pub(crate) released: Vec<String>,
}

impl Claims {
    /// Starts work on a namespace: it is decided on a lane.
    pub(crate) fn begin(&mut self, namespace: &str, lane: Lane) {
        let progress = Progress { lane, state: State::Deciding, is_overdue: false };
        self.in_progress.insert(namespace.to_owned(), progress);
    }

    /// Notes the lane on which the effects of a namespace are executed.
    pub(crate) fn execute_on(&mut self, namespace: &str, lane: Lane) {
        if let Some(progress) = self.in_progress.get_mut(namespace) {
            progress.lane = lane;
            progress.is_overdue = false;
        }
    }

    /// Frees the place and the claims of a namespace whose task exceeded its deadline. Of its effects, at most
    /// the one that hangs is still executed.
    pub(crate) fn mark_overdue(&mut self, namespace: &str) -> Overdue {
        let Some(progress) = self.in_progress.get_mut(namespace) else {
            return Overdue { was_deciding: false, released: Vec::new() };
        };
        progress.is_overdue = true;
        let was_deciding = matches!(progress.state, State::Deciding);
        if let State::Executing(claims) = &mut progress.state {
            claims.clear();
        }
        Overdue { was_deciding, released: self.release() }
    }

    /// Returns `true` if the task of a namespace exceeded its deadline.
    pub(crate) fn is_overdue(&self, namespace: &str) -> bool {
        self.in_progress.get(namespace).is_some_and(|progress| progress.is_overdue)
    }

    /// Claims the objects outside its namespace that a verdict writes.
    pub(crate) fn claim(
        &mut self,
        namespace: &str,
        objects: BTreeSet<ObjectKey>,
        looks_elsewhere: bool,
        is_current: impl Fn(&ObjectKey) -> bool,
    ) -> Claimed {
        if !objects.iter().all(is_current) {
            return Claimed::Outdated;
        }
        let elsewhere = looks_elsewhere.then_some(Claim::Elsewhere);
        let claims: BTreeSet<Claim> =
            elsewhere.into_iter().chain(objects.into_iter().map(Claim::Object)).collect();
        let contested = claims.iter().find(|claim| self.is_held(claim)).cloned();
        let state = match &contested {
            None => State::Executing(claims),
            Some(_) => State::Waiting,
        };
        if let Some(progress) = self.in_progress.get_mut(namespace) {
            progress.state = state;
        }
        match contested {
            None => Claimed::Yes,
            Some(claim) => {
                self.waiting.entry(claim).or_default().push_back(namespace.to_owned());
                Claimed::Later
            }
        }
    }

    /// Ends work on a namespace; returns the namespaces that waited for it and are decided again.
    pub(crate) fn end(&mut self, namespace: &str) -> Vec<String> {
        self.in_progress.remove(namespace);
        self.release()
    }

    /// Returns the namespaces that waited for claims that nothing holds now.
    fn release(&mut self) -> Vec<String> {
        let free: Vec<Claim> =
            self.waiting.keys().filter(|claim| !self.is_held(claim)).cloned().collect();
        let mut released = Vec::new();
        for claim in free {
            if let Some(queue) = self.waiting.get_mut(&claim) {
                released.extend(queue.pop_front());
                if queue.is_empty() {
                    self.waiting.remove(&claim);
                }
            }
        }
        released.iter().for_each(|namespace| drop(self.in_progress.remove(namespace)));
        released
    }

    /// Returns `true` if work on a namespace has not ended.
    pub(crate) fn is_busy(&self, namespace: &str) -> bool {
        self.in_progress.contains_key(namespace)
    }

    /// Returns `true` if no namespace is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_progress.is_empty()
    }

    /// Returns `true` if effects of a namespace are being executed.
    pub(crate) fn is_writing(&self) -> bool {
        self.in_progress.values().any(|progress| matches!(progress.state, State::Executing(_)))
    }

    /// Counts the namespaces that occupy a place of a lane.
    pub(crate) fn active(&self, lane: Lane) -> usize {
        self.count(lane, |state| !matches!(state, State::Waiting))
    }

    /// Counts the namespaces that occupy a place of a lane with a decision.
    pub(crate) fn deciding(&self, lane: Lane) -> usize {
        self.count(lane, |state| matches!(state, State::Deciding))
    }

    fn count(&self, lane: Lane, is_counted: impl Fn(&State) -> bool) -> usize {
        let is_counted = |progress: &&Progress| {
            progress.lane == lane && !progress.is_overdue && is_counted(&progress.state)
        };
        self.in_progress.values().filter(is_counted).count()
    }

    fn is_held(&self, claim: &Claim) -> bool {
        self.in_progress.values().any(|progress| match &progress.state {
            State::Executing(claims) => claims.contains(claim),
            State::Deciding | State::Waiting => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use operon_object::known;

    use super::*;

    fn roles(names: &[&str]) -> BTreeSet<ObjectKey> {
        names.iter().map(|name| known::CLUSTER_ROLE.key("", name)).collect()
    }

    #[test]
    fn shared_objects_are_written_by_one_namespace_at_a_time() {
        let mut claims = Claims::default();
        ["a", "b", "c", "d"].iter().for_each(|namespace| claims.begin(namespace, Lane::Quick));
        assert_eq!(claims.claim("a", roles(&["x"]), false, |_| true), Claimed::Yes);
        assert_eq!(claims.claim("b", roles(&["x", "y"]), false, |_| true), Claimed::Later);
        assert_eq!(claims.claim("c", roles(&["x"]), false, |_| true), Claimed::Later);
        assert_eq!(claims.claim("d", roles(&["z"]), false, |_| true), Claimed::Yes);
        assert_eq!(claims.active(Lane::Quick), 2);
        // Writes that are slow occupy another worker.
        claims.execute_on("d", Lane::SlowWrites);
        assert_eq!(claims.active(Lane::Quick), 1);
        assert!(claims.end("d").is_empty());
        assert_eq!(claims.end("a"), ["b"]);
        // A namespace that wants something else by now does not keep the others waiting.
        claims.begin("b", Lane::Quick);
        assert_eq!(claims.claim("b", roles(&["y"]), false, |_| true), Claimed::Yes);
        assert_eq!(claims.end("b"), ["c"]);
        assert!(claims.is_idle());
    }

    #[test]
    fn overdue_writes_lose_their_claims() {
        let mut claims = Claims::default();
        ["a", "b", "c"].iter().for_each(|namespace| claims.begin(namespace, Lane::Quick));
        assert_eq!(claims.claim("a", roles(&["x"]), true, |_| true), Claimed::Yes);
        assert_eq!(claims.claim("b", roles(&["x"]), false, |_| true), Claimed::Later);
        assert_eq!(claims.claim("c", BTreeSet::new(), true, |_| true), Claimed::Later);
        let Overdue { was_deciding, released } = claims.mark_overdue("a");
        assert_eq!((was_deciding, released.len()), (false, 2), "{released:?}");
        assert_eq!((claims.active(Lane::Quick), claims.is_writing()), (0, true));
        claims.begin("b", Lane::Quick);
        assert_eq!(claims.claim("b", roles(&["x"]), false, |_| true), Claimed::Yes);
        // The first one ends while the other writes, and takes nothing from it.
        assert!(claims.end("a").is_empty() && claims.is_busy("b"));
        claims.begin("a", Lane::Quick);
        assert_eq!(claims.claim("a", roles(&["x"]), false, |_| true), Claimed::Later);
    }

    #[test]
    fn outdated_verdicts_are_not_executed() {
        let mut claims = Claims::default();
        claims.begin("a", Lane::Quick);
        assert_eq!(claims.claim("a", roles(&["x"]), false, |_| false), Claimed::Outdated);
        assert!(claims.end("a").is_empty());
    }

    #[test]
    fn verdicts_that_rest_on_other_namespaces_follow_each_other() {
        let mut claims = Claims::default();
        ["a", "b"].iter().for_each(|namespace| claims.begin(namespace, Lane::Quick));
        assert_eq!(claims.claim("a", BTreeSet::new(), true, |_| true), Claimed::Yes);
        assert_eq!(claims.claim("b", BTreeSet::new(), true, |_| true), Claimed::Later);
        assert_eq!(claims.end("a"), ["b"]);
    }
}
