//! Packages that nobody wrote: versions, edges, APIs, needs and workloads by chance.
//!
//! All versions of a package are thought out in the beginning; publishing is showing more of them. What
//! comes out is always a catalog that can be read.

use operon_object::{Value, list, map};
use operon_resolve::SourceName;

use super::random::Random;
use crate::{Api, Bundle, Channel, Publication};

/// The names of packages.
const NAMES: [&str; 8] = ["ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen"];

/// A package, with the versions that are not published yet.
#[derive(Debug, Clone)]
pub(super) struct Package {
    pub(super) name: String,
    releases: Vec<Release>,
    published: usize,
}

#[derive(Debug, Clone)]
struct Release {
    bundle: Bundle,
    /// The channels that have it, each with its entry.
    entries: Vec<(&'static str, Value)>,
}

/// A catalog, with what it will publish.
#[derive(Debug, Clone)]
pub(super) struct Shop {
    pub(super) source: SourceName,
    pub(super) packages: Vec<Package>,
    pub(super) is_broken: bool,
}

impl Package {
    /// Returns the channels that can be subscribed to.
    pub(super) fn channels(&self) -> [&'static str; 2] {
        ["stable", "fast"]
    }

    /// Returns the versions that are published.
    pub(super) fn versions(&self) -> Vec<&str> {
        let published = &self.releases[..self.published];
        published.iter().map(|release| release.bundle.version.as_str()).collect()
    }
}

impl Shop {
    /// Thinks out a catalog.
    pub(super) fn invent(source: SourceName, names: &[&str], random: &mut Random) -> Self {
        let packages = names.iter().map(|name| invent_package(name, random)).collect();
        Self { source, packages, is_broken: false }
    }

    /// Returns what is published now.
    pub(super) fn publication(&self) -> Publication {
        let mut publication = Publication::default();
        for package in &self.packages {
            publication.defaults.insert(package.name.clone(), "stable".to_owned());
            for channel in package.channels() {
                let entries = package.releases[..package.published].iter().flat_map(|release| {
                    let of_channel = release.entries.iter().filter(|(name, _)| *name == channel);
                    of_channel.map(|(_, entry)| entry.clone())
                });
                publication.channels.push(Channel {
                    package: package.name.clone(),
                    name: channel.to_owned(),
                    entries: entries.collect(),
                });
            }
            let bundles = package.releases[..package.published].iter();
            publication.bundles.extend(bundles.map(|release| release.bundle.clone()));
        }
        publication
    }

    /// Publishes more; tells whether there was something.
    pub(super) fn publish_more(&mut self, random: &mut Random) -> bool {
        let mut waiting: Vec<&mut Package> = self
            .packages
            .iter_mut()
            .filter(|package| package.published < package.releases.len())
            .collect();
        if waiting.is_empty() {
            return false;
        }
        let index = random.below(waiting.len());
        let package = &mut waiting[index];
        let more = 1 + usize::from(random.happens(250));
        package.published = (package.published + more).min(package.releases.len());
        true
    }

    /// Repairs the workload of the newest version of a package under the same name, as authors do who
    /// should have made a new version.
    pub(super) fn repair(&mut self, random: &mut Random) {
        let index = random.below(self.packages.len());
        if let Some(package) = self.packages.get_mut(index) {
            let newest = package.published.saturating_sub(1);
            if let Some(release) = package.releases.get_mut(newest) {
                release.bundle.workload = "ready".to_owned();
            }
        }
    }
}

/// Returns so many names of packages, beginning with one.
pub(super) fn names(from: usize, count: usize) -> Vec<&'static str> {
    NAMES.iter().cycle().skip(from).take(count).copied().collect()
}

/// Returns the API of a package in a version.
pub(super) fn api_of(package: &str, version: &str) -> Api {
    let (first, rest) = package.split_at(1);
    Api {
        kind: format!("{}{rest}", first.to_uppercase()),
        version: version.to_owned(),
        group: format!("{package}.example.com"),
    }
}

fn invent_package(name: &str, random: &mut Random) -> Package {
    let count = 3 + random.below(4);
    let needs = random.happens(350).then(|| *random.pick(&NAMES).unwrap_or(&"ant"));
    let needs = needs.filter(|needed| *needed != name);
    let by_package = random.happens(300);
    let has_cluster_rights = random.happens(400);
    let has_webhook = random.happens(150);
    // The API grows up: a second version appears, and later the first is no longer served.
    let grown = 1 + random.below(3);
    let forgotten = grown + 1 + random.below(3);
    let is_removed = random.happens(300);
    // It brings an object under a name that other packages use, too.
    let is_sharing = random.happens(120);
    let pretended = random.happens(80).then(|| *random.pick(&NAMES).unwrap_or(&"ant"));
    let victim = random.happens(60).then(|| *random.pick(&NAMES).unwrap_or(&"ant"));
    let mut releases: Vec<Release> = Vec::new();
    for index in 0..count {
        let mut bundle = Bundle {
            package: name.to_owned(),
            version: format!("1.{index}.0"),
            workload: workload(random).to_owned(),
            ..Bundle::default()
        };
        provide(&mut bundle, index >= grown, index >= forgotten, is_removed);
        if let Some(needed) = needs {
            if by_package {
                let value = map! { "packageName" => needed, "versionRange" => ">=1.0.0" };
                bundle.properties.push(("olm.package.required".to_owned(), value));
            } else {
                let version = if random.happens(200) { "v1" } else { "v1alpha1" };
                bundle.requires.push(api_of(needed, version));
            }
        }
        if random.happens(40) {
            let value = map! { "supported" => false };
            bundle.properties.push(("olm.failForward".to_owned(), value));
        }
        furnish(&mut bundle, has_cluster_rights, has_webhook, random);
        if is_sharing {
            bundle.objects.push(settings("shared-settings", &bundle.version));
        }
        if let Some(victim) = victim.filter(|victim| *victim != name) {
            reach_out(&mut bundle, victim);
        }
        let mut entries = entries(name, &releases, index, random);
        if let Some(pretended) = pretended.filter(|_| index == 0) {
            // The first version says that it replaces another package's.
            for (_, entry) in &mut entries {
                entry.set(&["replaces"], format!("{pretended}.v1.0.0"));
            }
        }
        releases.push(Release { bundle, entries });
    }
    let published = 1 + random.below(2);
    Package { name: name.to_owned(), releases, published }
}

/// Has a bundle list what is not its own: the CRD of another package, and one of the engine's.
fn reach_out(bundle: &mut Bundle, victim: &str) {
    let objects = bundle.objects();
    let mut definitions = objects[0].at(&["spec", "customresourcedefinitions"]).clone();
    let api = api_of(victim, "v1alpha1");
    let own = definitions.get("owned").elements().iter().cloned();
    let others = [
        map! {
            "name" => format!("{victim}s.{}", api.group), "version" => "v1alpha1", "kind" => api.kind,
        },
        map! {
            "name" => "operatorgroups.operators.coreos.com", "version" => "v1", "kind" => "OperatorGroup",
        },
    ];
    let owned = Value::list(own.chain(others));
    definitions.set(&["owned"], owned);
    bundle.spec.set(&["customresourcedefinitions"], definitions);
}

fn settings(name: &str, version: &str) -> Value {
    map! {
        "apiVersion" => "v1",
        "kind" => "ConfigMap",
        "metadata" => map! { "name" => name },
        "data" => map! { "version" => version },
    }
}

fn workload(random: &mut Random) -> &'static str {
    let choices = [
        (70, "ready"),
        (8, "ready-after=3s"),
        (5, "ready-after=40s"),
        (5, "never"),
        (7, "crash"),
        (5, "crash-after=20s"),
    ];
    random.weighted(&choices).unwrap_or("ready")
}

fn provide(bundle: &mut Bundle, is_grown: bool, is_forgotten: bool, is_removed: bool) {
    let old = api_of(&bundle.package, "v1alpha1");
    let new = api_of(&bundle.package, "v1");
    let kind = old.kind.clone();
    let version = |name: &str, served: bool, storage: bool| map! { "name" => name, "served" => served, "storage" => storage };
    let versions = match (is_grown, is_forgotten) {
        (false, _) => list![version("v1alpha1", true, true)],
        (true, false) => list![version("v1alpha1", true, false), version("v1", true, true)],
        (true, true) if is_removed => list![version("v1", true, true)],
        (true, true) => list![version("v1alpha1", false, false), version("v1", true, true)],
    };
    if !(is_grown && is_forgotten) {
        bundle.provides.push(old);
    }
    if is_grown {
        bundle.provides.push(new);
    }
    bundle.definitions = Value::map([(kind, map! { "versions" => versions })]);
}

/// Adds rights for the whole cluster, webhooks and other objects.
fn furnish(bundle: &mut Bundle, rights: bool, webhook: bool, random: &mut Random) {
    let package = bundle.package.clone();
    if random.happens(150) {
        bundle.objects.push(settings(&format!("{package}-settings"), &bundle.version));
    }
    let mut spec = Value::default();
    if rights {
        let objects = bundle.objects();
        let mut install = objects[0].at(&["spec", "install"]).clone();
        let rule = map! {
            "apiGroups" => list![""], "resources" => list!["nodes"], "verbs" => list!["get"],
        };
        let permission = map! {
            "serviceAccountName" => format!("{package}-operator"), "rules" => list![rule],
        };
        install.set(&["spec", "clusterPermissions"], list![permission]);
        spec.set(&["install"], install);
    }
    if webhook {
        let rule = map! {
            "apiGroups" => list![format!("{package}.example.com")],
            "apiVersions" => list!["v1alpha1"],
            "operations" => list!["CREATE"],
            "resources" => list![format!("{package}s")],
        };
        let definition = map! {
            "type" => "ValidatingAdmissionWebhook",
            "generateName" => format!("v{package}.example.com"),
            "deploymentName" => format!("{package}-operator"),
            "containerPort" => 443,
            "targetPort" => 9443,
            "sideEffects" => "None",
            "failurePolicy" => "Fail",
            "admissionReviewVersions" => list!["v1"],
            "webhookPath" => "/validate",
            "rules" => list![rule],
        };
        spec.set(&["webhookdefinitions"], list![definition]);
    }
    bundle.spec = spec;
}

/// Thinks out where a release stands in its channels. Every release is in `fast`; `stable` has the
/// first, and of the others two of three.
fn entries(
    package: &str,
    before: &[Release],
    index: usize,
    random: &mut Random,
) -> Vec<(&'static str, Value)> {
    let mut entries = Vec::new();
    for channel in ["stable", "fast"] {
        if channel == "stable" && index > 0 && !random.happens(670) {
            continue;
        }
        let mut earlier = before.iter().rev().filter_map(|release| {
            let has = release.entries.iter().any(|(name, _)| *name == channel);
            has.then(|| release.bundle.name())
        });
        let mut entry = map! { "name" => format!("{package}.v1.{index}.0") };
        let (last, last_but_one) = (earlier.next(), earlier.next());
        match (last, last_but_one) {
            (Some(last), Some(replaced)) if random.happens(150) => {
                entry.set(&["replaces"], replaced);
                entry.set(&["skips"], list![last]);
            }
            (Some(last), _) => entry.set(&["replaces"], last),
            (None, _) => {}
        }
        if index > 1 && random.happens(200) {
            entry.set(&["skipRange"], format!(">=1.0.0 <1.{index}.0"));
        }
        entries.push((channel, entry));
    }
    entries
}
