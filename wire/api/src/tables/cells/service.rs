//! The cells of Services.
//!
//! Endpoints are not looked at.

use operon_object::{Object, Timestamp, Value};

use super::{NONE, joined, labels};

pub(in crate::tables) fn service_type(object: &Object, _: Timestamp) -> String {
    match object.spec().get("type").str() {
        "" => "ClusterIP".to_owned(),
        other => other.to_owned(),
    }
}

pub(in crate::tables) fn cluster_ip(object: &Object, _: Timestamp) -> String {
    match object.spec().get("clusterIP").str() {
        "" => NONE.to_owned(),
        address => address.to_owned(),
    }
}

pub(in crate::tables) fn external_ip(object: &Object, _: Timestamp) -> String {
    let given = object.spec().get("externalIPs").iter_texts();
    match object.spec().get("type").str() {
        "ExternalName" => object.spec().get("externalName").str().to_owned(),
        "LoadBalancer" => {
            let ingress = object.at(&["status", "loadBalancer", "ingress"]).elements().iter();
            let addresses = ingress.flat_map(|it| [it.get("ip").str(), it.get("hostname").str()]);
            let all: Vec<&str> = addresses.filter(|it| !it.is_empty()).chain(given).collect();
            if all.is_empty() { "<pending>".to_owned() } else { all.join(",") }
        }
        _ => joined(given),
    }
}

pub(in crate::tables) fn ports(object: &Object, _: Timestamp) -> String {
    joined(object.spec().get("ports").elements().iter().map(port))
}

pub(in crate::tables) fn selector(object: &Object, _: Timestamp) -> String {
    labels(object.spec().get("selector"))
}

/// Shows a port as `443/TCP` or `443:30443/TCP`.
fn port(value: &Value) -> String {
    let port = value.get("port").as_integer().unwrap_or(0);
    let protocol = match value.get("protocol").str() {
        "" => "TCP",
        other => other,
    };
    match value.get("nodePort").as_integer() {
        None | Some(0) => format!("{port}/{protocol}"),
        Some(node_port) => format!("{port}:{node_port}/{protocol}"),
    }
}
