//! Bundle documents: their properties are interpreted, their bodies only looked at.

use operon_catalog::{
    BundleDeclaration, Diagnostic, GroupVersionKind, PropertyDeclaration, RelatedImage, Rule,
    Summary,
};
use operon_document::json::{Node, canonical};

use crate::{document::DocumentReader, manifest, property, shapes};

/// Reads a bundle whose form was checked.
pub(crate) fn read(reader: &mut DocumentReader<'_>, root: Node<'_>) {
    let mut bundle = BundleDeclaration {
        name: reader.text(root, "name"),
        package: reader.text(root, "package").value,
        image: reader.text(root, "image"),
        properties: Vec::new(),
        package_properties: Vec::new(),
        provided_apis: Vec::new(),
        required_apis: Vec::new(),
        required_packages: Vec::new(),
        labels: Vec::new(),
        related_images: related_images(reader, root),
        object_count: 0,
        metadata_count: 0,
        summary: Summary::default(),
        place: reader.document_place(),
        broken: false,
    };
    let mut readable = true;
    for (index, property) in
        root.field("properties").into_iter().flat_map(Node::elements).enumerate()
    {
        if reader.budget.excess().is_some() {
            return;
        }
        readable &= read_property(reader, &mut bundle, index, property);
    }
    charge(reader, &bundle);
    // Upstream: a bundle with an unreadable inlined manifest fails to load at all.
    if readable {
        reader.declarations.bundles.push(bundle);
    }
}

/// Counts a bundle, without the elements of its lists, which were counted as they were read.
fn charge(reader: &DocumentReader<'_>, bundle: &BundleDeclaration) {
    let Summary { display_name, provider, keywords, blurb } = &bundle.summary;
    let texts = [&bundle.name.value, &bundle.package, &bundle.image.value];
    let texts = texts.into_iter().chain([display_name, provider, keywords, blurb]);
    let texts: Vec<&str> = texts.map(String::as_str).collect();
    reader.budget.charge::<BundleDeclaration>(&texts);
    reader.budget.charge_bundle();
}

fn related_images(reader: &DocumentReader<'_>, root: Node<'_>) -> Vec<RelatedImage> {
    let text = |node: Node<'_>, name| {
        node.field(name).and_then(Node::as_str).unwrap_or_default().into_owned()
    };
    reader.list(root, "relatedImages", |image| {
        let related = RelatedImage { name: text(image, "name"), image: text(image, "image") };
        reader.budget.charge::<RelatedImage>(&[&related.name, &related.image]);
        related
    })
}

const BESIDE_HELP: &str = "indent `all`, `any`, `not`, `cel`, `gvk` or `package` below `value`";

/// Recognises a slip that the documentation itself makes: an empty `value` with `all` beside it.
fn has_constraint_beside(property: Node<'_>) -> bool {
    let kinds = ["all", "any", "not", "cel", "gvk", "package"];
    property.members().any(|(key, _)| kinds.iter().any(|kind| key.folds_to(kind)))
}

/// Reads one property; `false` when the whole bundle has to be left out.
fn read_property(
    reader: &mut DocumentReader<'_>,
    bundle: &mut BundleDeclaration,
    index: usize,
    property: Node<'_>,
) -> bool {
    let kind = property.field("type").and_then(Node::as_str).unwrap_or_default();
    let place = reader.place(property.span());
    let Some(value) = property.field("value") else {
        bundle.broken = true;
        let message = format!("property {index} of type {kind:?} has no value");
        let mut finding = Diagnostic::new(Rule::PropertyMalformed, message).at(place);
        if has_constraint_beside(property) {
            finding = finding.help(BESIDE_HELP);
        }
        reader.report(finding);
        return true;
    };
    if value.members().next().is_none() && has_constraint_beside(property) {
        reader.report(
            Diagnostic::new(
                Rule::EmptyConstraintBeside,
                "this constraint is empty: what it should say stands beside its `value`",
            )
            .at(place)
            .why("fields beside `type` and `value` are dropped, so nothing is required")
            .help(BESIDE_HELP),
        );
    }
    if kind == "olm.bundle.object" {
        return read_object(reader, bundle, index, value);
    }
    if let Some(shape) = shapes::property_value(&kind)
        && let Err(mismatch) = shape.check(value)
    {
        bundle.broken = true;
        let field = if mismatch.path.is_empty() {
            "the value".to_owned()
        } else {
            format!("`{}`", mismatch.path)
        };
        let message = format!(
            "property {index} of type {kind:?} is malformed: {field} should be {}, but is {}",
            mismatch.expected, mismatch.found
        );
        let at = reader.place(mismatch.span);
        reader.report(Diagnostic::new(Rule::PropertyMalformed, message).at(at));
        return true;
    }
    if kind == "olm.csv.metadata" {
        bundle.metadata_count += 1;
        bundle.summary = manifest::metadata_summary(value);
        return true;
    }
    let property = PropertyDeclaration { kind: kind.into_owned(), value: canonical(value), place };
    reader.budget.check_name(&property.kind);
    // A property of a known type is held a second time, as its fields.
    let texts = [property.kind.as_str(), &property.value, &property.value];
    reader.budget.charge::<(PropertyDeclaration, GroupVersionKind)>(&texts);
    property::interpret(bundle, &property.kind, value, place);
    bundle.properties.push(property);
    true
}

fn read_object(
    reader: &mut DocumentReader<'_>,
    bundle: &mut BundleDeclaration,
    index: usize,
    value: Node<'_>,
) -> bool {
    bundle.object_count += 1;
    match manifest::read_object(value) {
        Ok(summary) => {
            if let Some(summary) = summary {
                bundle.summary = summary;
            }
            true
        }
        Err(defect) => {
            let place = reader.place(value.span());
            let message =
                format!("the manifest inlined as property {index} cannot be read: {defect}");
            reader.report(
                Diagnostic::new(Rule::BundleObjectUnreadable, message)
                    .at(place)
                    .why("the whole bundle is left out"),
            );
            false
        }
    }
}
