//! `--subscribe`: what if there were a Subscription to a package, or if one followed another channel.
//!
//! Names are looked up at once, so that a misspelt one is an error of the question and not a plan
//! without an answer.

use anyhow::{anyhow, bail};
use operon_catalog::{Channel, Package, nearest};
use operon_resolve::Request;

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
    let same_package = |request: &&mut Request| request.package == wanted.package;
    let mut known: Vec<&mut Request> = situation.requests.iter_mut().filter(same_package).collect();
    if let [request] = known.as_mut_slice() {
        let moves = request.channel != channel || request.source.as_ref() != Some(&source);
        let remark = if moves {
            format!(
                "Subscription {} follows {channel} from {source} here instead of {}",
                request.name,
                followed(request)
            )
        } else {
            format!("Subscription {} asks for this already", request.name)
        };
        request.channel = channel;
        request.source = Some(source);
        if moves {
            situation.next = "change the Subscription";
        }
        situation.subscribed.push(request.name.clone());
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
    let name = free_name(&situation.requests, &wanted.package);
    situation.next = "create the Subscription";
    situation.subscribed.push(name.clone());
    situation.requests.push(Request {
        name,
        package: wanted.package.clone(),
        channel,
        source: Some(source),
        ..Request::default()
    });
    Ok(())
}

fn followed(request: &Request) -> String {
    let channel = if request.channel.is_empty() { "any channel" } else { &request.channel };
    match &request.source {
        Some(source) => format!("{channel} from {source}"),
        None => channel.to_owned(),
    }
}

fn free_name(requests: &[Request], package: &str) -> String {
    let is_free = |name: &String| requests.iter().all(|request| request.name != *name);
    let numbered = (2..).map(|number| format!("{package}-{number}"));
    let mut names = std::iter::once(package.to_owned()).chain(numbered);
    names.find(is_free).expect("bug: there are more numbers than Subscriptions")
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
    let unread = catalogs.iter().filter(|catalog| catalog.opened.is_err());
    hints.extend(unread.map(|catalog| {
        let reason = catalog.opened.as_ref().err().map_or("", String::as_str);
        format!("catalog `{}` was not looked at: {reason}", catalog.name)
    }));
    let hints: String = hints.iter().map(|hint| format!("\nhint: {}", clean(hint))).collect();
    anyhow!("no package `{package}` in any visible catalog{hints}")
}

fn find_package<'c>(chosen: &'c VisibleCatalog, name: &str) -> anyhow::Result<Package<'c>> {
    match &chosen.opened {
        Ok(opened) => opened
            .catalog()
            .package(name)
            .ok_or_else(|| no_such_package(std::slice::from_ref(chosen), name)),
        Err(reason) => bail!("catalog `{}` is not available: {reason}", chosen.name),
    }
}
