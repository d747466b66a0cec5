//! The APIs that a cluster provides by itself, as its discovery lists them.
//!
//! Subresources such as `deployments/scale` are no APIs of their own and are passed over.

use std::collections::BTreeSet;

use operon_constraint::GroupVersionKind;
use operon_document::json::Node;

use crate::metadata::{member, text};

/// Adds the APIs of an APIResourceList.
pub(crate) fn read(list: Node<'_>, apis: &mut Option<BTreeSet<GroupVersionKind>>) {
    let apis = apis.get_or_insert_default();
    let group_version = text(Some(list), "groupVersion");
    let (group, version) = group_version.split_once('/').unwrap_or(("", &group_version));
    for resource in member(list, "resources").into_iter().flat_map(Node::elements) {
        let kind = text(Some(resource), "kind");
        if kind.is_empty() || text(Some(resource), "name").contains('/') {
            continue;
        }
        let [group, version] = [group, version].map(str::to_owned);
        apis.insert(GroupVersionKind { group, version, kind });
    }
}
