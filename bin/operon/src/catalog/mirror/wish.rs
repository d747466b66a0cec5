//! The images that a mirror should hold, each with where it comes from and where it goes.

use std::collections::BTreeMap;

use operon_image::{CopyTarget, is_path};
use operon_oci::Reference;

use super::destination::Destination;

/// An image that the mirror should hold.
#[derive(Debug)]
pub(super) struct Wish {
    /// What the catalog says.
    pub(super) text: String,
    /// Where it comes from and goes to, or why it cannot be copied.
    pub(super) route: Result<(Reference, CopyTarget), String>,
}

/// Finds out where images go. A tag that two images would have is given to neither after the first.
pub(super) fn wishes(images: &[&str], to: &Destination) -> Vec<Wish> {
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    let mut wishes = Vec::new();
    for text in images {
        let route = route(text, to).and_then(|(source, target)| {
            if let CopyTarget::Registry(reference) = &target
                && let (Some(tag), None) = (reference.tag(), reference.digest())
            {
                let place = format!("{}:{tag}", reference.name());
                let first = taken.entry(place.clone()).or_insert_with(|| source.name());
                if *first != source.name() {
                    return Err(format!(
                        "`{place}` is for `{first}:{tag}` already; mirror one of them with another prefix"
                    ));
                }
            }
            Ok((source, target))
        });
        wishes.push(Wish { text: (*text).to_owned(), route });
    }
    wishes
}

fn route(text: &str, to: &Destination) -> Result<(Reference, CopyTarget), String> {
    if is_path(text) {
        return Err(format!(
            "`{text}` is a path, and no image can be copied from it; build one with `operon bundle build` and \
             name it in the catalog"
        ));
    }
    let bare = text.strip_prefix("docker://").unwrap_or(text);
    let source = Reference::parse(bare).map_err(|error| error.to_string())?;
    let target = to.target(&source).map_err(|error| error.to_string())?;
    Ok((source, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_copied_is_said_and_the_rest_has_a_way() {
        let to: Destination = "r.local/m".parse().expect("a destination");
        let images =
            ["ghcr.io/a/b:v1", "quay.io/a/b:v1", "quay.io/a/b:v2", "../bundles/x", "Not/An/Image"];
        let found: Vec<String> = wishes(&images, &to)
            .into_iter()
            .map(|wish| match wish.route {
                Ok((_, target)) => super::super::destination::shown(&target),
                Err(problem) => problem,
            })
            .collect();
        assert_eq!(found[0], "r.local/m/a/b:v1");
        assert!(found[1].contains("is for `ghcr.io/a/b:v1` already"), "{found:?}");
        assert_eq!(found[2], "r.local/m/a/b:v2");
        assert!(found[3].contains("is a path"), "{found:?}");
        assert!(found[4].contains("capital letters"), "{found:?}");
    }
}
