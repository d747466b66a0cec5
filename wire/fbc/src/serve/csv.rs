//! A ClusterServiceVersion made from `olm.csv.metadata`, for clients that know nothing else.
//!
//! Upstream: fields stand in the order of the Go struct, empty ones are left out as `omitempty`
//! does, and HTML characters are escaped; clients compare these bytes.

use operon_catalog::Bundle;
use operon_document::{
    encode_base64,
    json::{Kind, Node, Tape, byte_value, canonical, write_string},
};

/// Makes the text of a ClusterServiceVersion from a bundle's metadata.
pub(super) fn synthesize(bundle: Bundle<'_>, document: Node<'_>, package: Node<'_>) -> String {
    let metadata = document
        .field("properties")
        .into_iter()
        .flat_map(Node::elements)
        .find(|property| {
            property.field("type").and_then(Node::as_str).as_deref() == Some("olm.csv.metadata")
        })
        .and_then(|property| property.field("value"));
    let field = |name: &str| metadata.and_then(|metadata| metadata.field(name));

    let mut csv = Writer::default();
    csv.raw("{\"kind\":\"ClusterServiceVersion\",\"apiVersion\":\"operators.coreos.com/v1alpha1\"");
    csv.raw(",\"metadata\":{\"name\":").text(bundle.name());
    csv.optional_map("labels", field("labels")).optional_map("annotations", field("annotations"));
    csv.raw(
        "},\"spec\":{\"install\":{\"strategy\":\"deployment\",\"spec\":{\"deployments\":null}}",
    );
    let version = bundle.version().map(|version| version.to_string()).unwrap_or_default();
    csv.raw(",\"version\":").text(&version);
    csv.optional_text("maturity", field("maturity"));
    csv.raw(",\"customresourcedefinitions\":").definitions(field("crdDescriptions"), CRD_FIELDS);
    csv.raw(",\"apiservicedefinitions\":")
        .definitions(field("apiServiceDefinitions"), API_SERVICE_FIELDS);
    csv.optional_list("nativeAPIs", field("nativeAPIs"), NATIVE_API_FIELDS);
    csv.optional_text("minKubeVersion", field("minKubeVersion"));
    csv.raw(",\"displayName\":").node_text(field("displayName"));
    let description =
        field("description").filter(|text| is_set(*text)).or_else(|| package.field("description"));
    csv.optional_text("description", description);
    csv.optional_text_list("keywords", field("keywords"));
    csv.optional_list("maintainers", field("maintainers"), MAINTAINER_FIELDS);
    csv.raw(",\"provider\":").object(field("provider"), LINK_FIELDS);
    csv.optional_list("links", field("links"), LINK_FIELDS);
    if let Some(icon) = package.field("icon").filter(|icon| !icon.is_null()) {
        csv.raw(",\"icon\":[").object(Some(icon), ICON_FIELDS).raw("]");
    }
    csv.optional_list("installModes", field("installModes"), INSTALL_MODE_FIELDS);
    csv.raw(",\"cleanup\":{\"enabled\":false}");
    csv.optional_list("relatedImages", document.field("relatedImages"), RELATED_IMAGE_FIELDS);
    csv.raw("},\"status\":{\"cleanup\":{}}}");
    csv.finish()
}

/// How Go prints a field of a struct.
#[derive(Clone, Copy)]
enum Print {
    /// Always, as a string.
    Text,
    /// Always, as base64 without the line breaks it may have been written with.
    Base64,
    /// As a string, unless empty.
    OptionalText,
    /// Always, as a bool.
    Bool,
    /// As a number, unless zero.
    OptionalNumber,
    /// As a list of strings, unless empty.
    OptionalTexts,
    /// As a list of structs, unless empty.
    OptionalList(&'static [(&'static str, Print)]),
    /// As whatever JSON was given, unless absent.
    OptionalRaw,
}

type Fields = &'static [(&'static str, Print)];

const LINK_FIELDS: Fields = &[("name", Print::OptionalText), ("url", Print::OptionalText)];
const MAINTAINER_FIELDS: Fields = &[("name", Print::OptionalText), ("email", Print::OptionalText)];
const NATIVE_API_FIELDS: Fields =
    &[("group", Print::Text), ("version", Print::Text), ("kind", Print::Text)];
const ICON_FIELDS: Fields = &[("base64data", Print::Base64), ("mediatype", Print::Text)];
const INSTALL_MODE_FIELDS: Fields = &[("type", Print::Text), ("supported", Print::Bool)];
const RELATED_IMAGE_FIELDS: Fields = &[("name", Print::Text), ("image", Print::Text)];
const RESOURCE_FIELDS: Fields =
    &[("name", Print::Text), ("kind", Print::Text), ("version", Print::Text)];
const DESCRIPTOR_FIELDS: Fields = &[
    ("path", Print::Text),
    ("displayName", Print::OptionalText),
    ("description", Print::OptionalText),
    ("x-descriptors", Print::OptionalTexts),
    ("value", Print::OptionalRaw),
];
const CRD_FIELDS: Fields = &[
    ("name", Print::Text),
    ("version", Print::Text),
    ("kind", Print::Text),
    ("displayName", Print::OptionalText),
    ("description", Print::OptionalText),
    ("resources", Print::OptionalList(RESOURCE_FIELDS)),
    ("statusDescriptors", Print::OptionalList(DESCRIPTOR_FIELDS)),
    ("specDescriptors", Print::OptionalList(DESCRIPTOR_FIELDS)),
    ("actionDescriptors", Print::OptionalList(DESCRIPTOR_FIELDS)),
];
const API_SERVICE_FIELDS: Fields = &[
    ("name", Print::Text),
    ("group", Print::Text),
    ("version", Print::Text),
    ("kind", Print::Text),
    ("deploymentName", Print::OptionalText),
    ("containerPort", Print::OptionalNumber),
    ("displayName", Print::OptionalText),
    ("description", Print::OptionalText),
    ("resources", Print::OptionalList(RESOURCE_FIELDS)),
    ("statusDescriptors", Print::OptionalList(DESCRIPTOR_FIELDS)),
    ("specDescriptors", Print::OptionalList(DESCRIPTOR_FIELDS)),
    ("actionDescriptors", Print::OptionalList(DESCRIPTOR_FIELDS)),
];

fn is_set(node: Node<'_>) -> bool {
    node.as_str().is_some_and(|text| !text.is_empty())
}

#[derive(Default)]
struct Writer {
    out: Vec<u8>,
}

impl Writer {
    fn raw(&mut self, text: &str) -> &mut Self {
        self.out.extend_from_slice(text.as_bytes());
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        write_string(text, true, &mut self.out);
        self
    }

    fn node_text(&mut self, node: Option<Node<'_>>) -> &mut Self {
        self.text(&node.and_then(Node::as_str).unwrap_or_default())
    }

    fn key(&mut self, name: &str) {
        if !self.out.ends_with(b"{") {
            self.out.push(b',');
        }
        self.text(name).raw(":");
    }

    fn optional_text(&mut self, name: &str, node: Option<Node<'_>>) -> &mut Self {
        if let Some(text) = node.filter(|node| is_set(*node)) {
            self.key(name);
            self.node_text(Some(text));
        }
        self
    }

    fn optional_map(&mut self, name: &str, node: Option<Node<'_>>) -> &mut Self {
        if let Some(map) = node.filter(|node| node.members().next().is_some()) {
            self.key(name);
            self.json(map);
        }
        self
    }

    /// Appends any JSON value, sorted and with HTML characters escaped.
    fn json(&mut self, node: Node<'_>) {
        let escaped =
            canonical(node).replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
        self.raw(&escaped);
    }

    fn optional_text_list(&mut self, name: &str, node: Option<Node<'_>>) -> &mut Self {
        if let Some(list) = node.filter(|node| node.elements().next().is_some()) {
            self.key(name);
            self.raw("[");
            for (index, element) in list.elements().enumerate() {
                self.raw(if index == 0 { "" } else { "," }).node_text(Some(element));
            }
            self.raw("]");
        }
        self
    }

    fn optional_list(&mut self, name: &str, node: Option<Node<'_>>, fields: Fields) -> &mut Self {
        if let Some(list) = node.filter(|node| node.elements().next().is_some()) {
            self.key(name);
            self.raw("[");
            for (index, element) in list.elements().enumerate() {
                self.raw(if index == 0 { "" } else { "," }).object(Some(element), fields);
            }
            self.raw("]");
        }
        self
    }

    fn definitions(&mut self, node: Option<Node<'_>>, fields: Fields) -> &mut Self {
        self.raw("{");
        for name in ["owned", "required"] {
            self.optional_list(name, node.and_then(|node| node.field(name)), fields);
        }
        self.raw("}")
    }

    fn object(&mut self, node: Option<Node<'_>>, fields: Fields) -> &mut Self {
        self.raw("{");
        for (name, print) in fields {
            let value = node.and_then(|node| node.field(name));
            match print {
                Print::Text => {
                    self.key(name);
                    self.node_text(value);
                }
                Print::Base64 => {
                    let bytes = value.and_then(|value| byte_value(value).ok()).unwrap_or_default();
                    self.key(name);
                    self.text(&encode_base64(&bytes));
                }
                Print::OptionalText => {
                    self.optional_text(name, value);
                }
                Print::Bool => {
                    self.key(name);
                    self.raw(if value.and_then(Node::as_bool) == Some(true) {
                        "true"
                    } else {
                        "false"
                    });
                }
                Print::OptionalNumber => {
                    let number =
                        value.filter(|value| value.kind() == Kind::Number && value.raw() != b"0");
                    if let Some(number) = number {
                        self.key(name);
                        self.json(number);
                    }
                }
                Print::OptionalTexts => {
                    self.optional_text_list(name, value);
                }
                Print::OptionalList(inner) => {
                    self.optional_list(name, value, inner);
                }
                Print::OptionalRaw => {
                    if let Some(value) = value {
                        self.key(name);
                        self.json(value);
                    }
                }
            }
        }
        self.raw("}")
    }

    fn finish(self) -> String {
        let text = String::from_utf8(self.out).expect("bug: only UTF-8 is written");
        debug_assert!(Tape::new().read(text.as_bytes()).is_ok(), "{text}");
        text
    }
}
