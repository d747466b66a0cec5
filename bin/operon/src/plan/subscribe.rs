//! `--subscribe`: what if a package had a Subscription, or its Subscription followed another channel.
//!
//! Names are looked up at once, so that a misspelt one is an error of the command and not a plan without a
//! solution.

use anyhow::{anyhow, bail};
use operon_catalog::{Channel, Package, nearest};
use operon_kinds::Subscription;
use operon_object::{Object, Value, known, map};
use operon_resolve::SourceName;

use super::{
    arguments::SubscribeArgument,
    situation::{Situation, VisibleCatalog, find_catalog},
};
use crate::{catalog::find::find_channel, output::clean};

/// Adds a Subscription to a situation, or changes the one that the package has.
pub(super) fn add(situation: &mut Situation, wanted: &SubscribeArgument) -> anyhow::Result<()> {
    let position = match &wanted.catalog {
        Some(name) => find_catalog(&situation.catalogs, name)?,
        None => first_with_package(&situation.catalogs, &wanted.package)?,
    };
    let chosen = &situation.catalogs[position];
    let package = find_package(chosen, &wanted.package)?;
    let channel = match &wanted.channel {
        Some(name) => find_channel(package, name)?,
        None => default_channel(package)?,
    };
    let (channel, source) = (channel.name().to_owned(), chosen.name.clone());
    let known: Vec<Object> = subscriptions(situation, &wanted.package).cloned().collect();
    if let [object] = known.as_slice() {
        let subscription = Subscription::read(object);
        let name = subscription.name().to_owned();
        let moves =
            subscription.channel() != channel || subscription.source().as_ref() != Some(&source);
        let remark = if moves {
            format!(
                "Subscription {name} follows {channel} from {source} here instead of {}",
                followed(subscription)
            )
        } else {
            format!("Subscription {name} asks for this already")
        };
        if moves {
            situation.next = "change the Subscription";
            let mut changed = object.clone();
            follow(&mut changed, &channel, &source);
            situation.objects_mut().insert(changed);
        }
        situation.subscribed.push(name);
        situation.remarks.push(remark);
        return Ok(());
    }
    if known.len() > 1 {
        bail!(
            "namespace `{}` has {} Subscriptions to `{}` already\nhint: only one of them can be \
             fulfilled; delete the others first",
            situation.namespace,
            known.len(),
            wanted.package
        );
    }
    let object = new_subscription(situation, &wanted.package, &channel, &source);
    situation.next = "create the Subscription";
    situation.subscribed.push(object.name().to_owned());
    situation.objects_mut().insert(object);
    Ok(())
}

/// Returns the Subscriptions of the namespace to a package.
pub(crate) fn subscriptions<'s>(
    situation: &'s Situation,
    package: &str,
) -> impl Iterator<Item = &'s Object> {
    let objects = situation.world().objects.within(&known::SUBSCRIPTION, &situation.namespace);
    objects.filter(move |object| Subscription::read(object).package() == package)
}

/// Lets a Subscription follow a channel of a catalog.
pub(crate) fn follow(subscription: &mut Object, channel: &str, source: &SourceName) {
    for (field, text) in
        [("channel", channel), ("source", &source.name), ("sourceNamespace", &source.namespace)]
    {
        subscription.set(&["spec", field], text);
    }
}

/// Returns a Subscription that does not exist yet, with a name that none of the namespace has.
pub(crate) fn new_subscription(
    situation: &Situation,
    package: &str,
    channel: &str,
    source: &SourceName,
) -> Object {
    let world = situation.world();
    let is_free = |name: &String| {
        world.objects.get(&known::SUBSCRIPTION, &situation.namespace, name).is_none()
    };
    let numbered = (2..).map(|number| format!("{package}-{number}"));
    let mut names = std::iter::once(package.to_owned()).chain(numbered);
    let name = names.find(is_free).expect("bug: there are more numbers than Subscriptions");
    let kind = known::SUBSCRIPTION;
    let mut object =
        Object::new("operators.coreos.com/v1alpha1", kind.name(), &situation.namespace, &name);
    let spec: Value = map! { "name" => package };
    object.set(&["spec"], spec);
    follow(&mut object, channel, source);
    object
}

fn followed(subscription: Subscription<'_>) -> String {
    let channel = match subscription.channel() {
        "" => "any channel",
        channel => channel,
    };
    match subscription.source() {
        Some(source) => format!("{channel} from {source}"),
        None => channel.to_owned(),
    }
}

fn default_channel(package: Package<'_>) -> anyhow::Result<Channel<'_>> {
    package.default_channel().ok_or_else(|| {
        let name = package.name();
        anyhow!("package `{name}` has no default channel\nhint: --subscribe {name}/CHANNEL")
    })
}

fn first_with_package(catalogs: &[VisibleCatalog], package: &str) -> anyhow::Result<usize> {
    let has = |catalog: &VisibleCatalog| {
        catalog.catalog().is_some_and(|catalog| catalog.package(package).is_some())
    };
    catalogs.iter().position(has).ok_or_else(|| no_such_package(catalogs, package))
}

/// Says that no visible catalog has such a package.
pub(crate) fn no_such_package(catalogs: &[VisibleCatalog], package: &str) -> anyhow::Error {
    let readable = catalogs.iter().filter_map(VisibleCatalog::catalog);
    let names = readable.flat_map(|catalog| catalog.packages()).map(Package::name);
    let mut hints: Vec<String> = Vec::new();
    hints.extend(nearest(package, names).map(|near| format!("did you mean `{near}`?")));
    let unread = catalogs.iter().filter(|catalog| catalog.content.is_err());
    hints.extend(unread.map(|catalog| {
        let reason = catalog.content.as_ref().err().map_or("", String::as_str);
        format!("catalog `{}` was not looked at: {reason}", catalog.name)
    }));
    let hints: String = hints.iter().map(|hint| format!("\nhint: {}", clean(hint))).collect();
    anyhow!("no package `{package}` in any visible catalog{hints}")
}

fn find_package<'c>(chosen: &'c VisibleCatalog, name: &str) -> anyhow::Result<Package<'c>> {
    match &chosen.content {
        Ok(catalog) => {
            catalog.package(name).ok_or_else(|| no_such_package(std::slice::from_ref(chosen), name))
        }
        Err(reason) => bail!("catalog `{}` is not available: {reason}", chosen.name),
    }
}
