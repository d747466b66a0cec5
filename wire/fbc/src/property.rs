//! Known properties become typed fields of the bundle.

use operon_catalog::{
    BundleDeclaration, GroupVersionKind, PackageProperty, PackageRequirement, Place, Placed,
};
use operon_document::json::Node;

/// Notes what a property of a known type says.
pub(crate) fn interpret(bundle: &mut BundleDeclaration, kind: &str, value: Node<'_>, place: Place) {
    let text = |name| value.field(name).and_then(Node::as_str).unwrap_or_default().into_owned();
    let api =
        || GroupVersionKind { group: text("group"), version: text("version"), kind: text("kind") };
    match kind {
        "olm.package" => bundle.package_properties.push(Placed {
            value: PackageProperty {
                package: text("packageName"),
                version: text("version"),
                release: text("release"),
            },
            place,
        }),
        "olm.gvk" => bundle.provided_apis.push(api()),
        "olm.gvk.required" => bundle.required_apis.push(api()),
        "olm.package.required" => bundle.required_packages.push(PackageRequirement {
            package: text("packageName"),
            range: text("versionRange"),
            place,
        }),
        "olm.label" => bundle.labels.push(text("label")),
        _ => {}
    }
}
