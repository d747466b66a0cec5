//! Scopes: the names under which the requirements for an image may be found, most specific first.

use super::identity::fold_host;
use crate::Reference;

/// Returns the scopes of an image in a registry.
pub(super) fn of_image(image: &Reference) -> Vec<String> {
    let name = fold_host(&image.name());
    let identity = match (image.digest(), image.tag()) {
        (Some(digest), _) => format!("{name}@{digest}"),
        (None, Some(tag)) => format!("{name}:{tag}"),
        (None, None) => name.clone(),
    };
    let mut scopes = vec![identity];
    scopes.extend(parents(&name));
    let host = name.split('/').next().unwrap_or_default();
    // Upstream: wildcards match the host without its port.
    let mut domain = host.split(':').next().unwrap_or_default();
    while let Some((_, parent)) = domain.split_once('.') {
        scopes.push(format!("*.{parent}"));
        domain = parent;
    }
    scopes
}

/// Returns the scopes of an image in local files: its path and the directories above it, without `/`.
pub(super) fn of_path(path: &str) -> Vec<String> {
    parents(path).filter(|scope| !scope.is_empty() && scope != "/").collect()
}

/// Returns a name of parts between slashes, then the same without its last part, and so on.
fn parents(name: &str) -> impl Iterator<Item = String> {
    fn parent<'n>(name: &&'n str) -> Option<&'n str> {
        name.rsplit_once('/').map(|(parent, _)| parent)
    }
    std::iter::successors(Some(name), parent).map(str::to_owned)
}

/// Checks a scope of a transport for local files: these are absolute paths in their shortest form.
pub(super) fn check_path(scope: &str) -> Result<(), &'static str> {
    if scope == "/" {
        return Err("use the scope \"\" in place of \"/\"");
    }
    let Some(rest) = scope.strip_prefix('/') else {
        return Err("must be an absolute path");
    };
    if rest.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err("must be a path without `//`, `.`, `..` and a slash at the end");
    }
    Ok(())
}
