//! Why an operator stays as it is: what blocks it, and where it stands in its channel.

use operon_catalog::{
    Channel,
    journey::{Installed as Standing, Origin, Routes},
};
use operon_resolve::{Kept, Part, Request};

use super::situation::Question;

/// Says what keeps an operator from moving on, if that is more than the resolution.
pub(super) fn blocked_words(
    question: &Question<'_>,
    operator: &str,
    request: Option<&Request>,
) -> Option<String> {
    let preview = &question.preview;
    if preview.arriving.contains(operator) {
        return Some("being installed".to_owned());
    }
    let successor = question.universe.installed.iter().find(|other| other.replaces == operator);
    if let Some(successor) = successor {
        return Some(format!("being replaced by {}", successor.name));
    }
    if preview.problems.contains_key(operator) {
        return Some("has a problem, see below".to_owned());
    }
    let name = &request?.name;
    if let Some((_, reason, _)) = preview.held.iter().find(|(held, _, _)| held == name) {
        return Some(match reason.as_str() {
            "Paused" => "paused".to_owned(),
            _ => "blocked, see below".to_owned(),
        });
    }
    let has_no_solution = |part: &&Part| part.result.is_err() && part.requests.contains(name);
    if question.resolution.parts.iter().any(|part| has_no_solution(&part)) {
        return Some("no solution, see below".to_owned());
    }
    if preview.failed.iter().any(|(failed, _, _)| failed == name) {
        return Some("blocked, see below".to_owned());
    }
    preview.busy.contains(name).then(|| "in progress".to_owned())
}

/// Says why a Subscription follows nothing: its catalog, package or channel cannot be found.
pub(super) fn gone_words(question: &Question<'_>, request: &Request) -> String {
    let Some(source) = &request.source else {
        return "its Subscription names no catalog".to_owned();
    };
    let Some(catalog) = question.catalog(source) else {
        return match question.universe.sources.iter().any(|known| known.name == *source) {
            true => format!("catalog {} cannot be read", source.name),
            false => format!("catalog {} does not exist", source.name),
        };
    };
    match catalog.package(&request.package) {
        None => format!("catalog {} has no package {}", source.name, request.package),
        Some(_) if request.channel.is_empty() => "its package has no default channel".to_owned(),
        Some(_) => format!("catalog {} has no channel {}", source.name, request.channel),
    }
}

/// Says where in its channel an operator stands that is not updated.
pub(super) fn standing_words(
    question: &Question<'_>,
    kept: &Kept,
    request: &Request,
    channel: Channel<'_>,
) -> String {
    let pin = request.allowed.as_ref().map(|allowed| allowed.because.as_str());
    let pin = pin.filter(|because| !because.is_empty());
    if channel.head().is_some_and(|head| head.name() == kept.name) {
        return "at the head".to_owned();
    }
    let standing = Standing {
        name: kept.name.clone(),
        version: question.installed(&kept.name).map(|installed| installed.version.clone()),
        origin: Origin::Unknown,
    };
    let routes = Routes::v0(channel);
    match (routes.next(&standing), pin) {
        (None, _) => "no update in this channel".to_owned(),
        (Some(next), Some(pin)) => {
            let label = routes.at(next).label();
            format!("{}; {label} is available", pin.trim_start_matches("it is "))
        }
        (Some(next), None) => {
            let label = routes.at(next).label();
            format!("its update {label} does not go with the rest")
        }
    }
}
