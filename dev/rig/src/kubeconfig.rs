//! Who may talk to the cluster, and with what: kubeconfigs, and the file of tokens.
//!
//! No rights are given here: the plain users have none until a test binds a role to them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    RigError,
    namespace::{API_PORT, NODE_ADDRESS},
    places::Places,
};

/// The plain users of every rig: their names and the groups they are in.
///
/// The token of each is its name with `-token`.
pub const USERS: [(&str, &[&str]); 3] =
    [("alice", &["developers"]), ("bob", &["developers", "operators"]), ("carol", &[])];

/// The user that may do everything.
pub(crate) const ADMIN: &str = "admin";

/// Those that have a certificate, and a kubeconfig with it.
const WITH_CERTIFICATE: [&str; 5] = [ADMIN, "controller-manager", "scheduler", "proxy", "kubelet"];

/// Writes the kubeconfigs of everybody, and the tokens.
pub(crate) fn write(places: &Places) -> Result<(), RigError> {
    for user in WITH_CERTIFICATE {
        let credentials = json!({
            "client-certificate": places.text(&format!("pki/{user}.crt")),
            "client-key": places.text(&format!("pki/{user}.key")),
        });
        write_one(places, user, &credentials)?;
    }
    let mut tokens = String::new();
    for (user, groups) in USERS {
        let token = format!("{user}-token");
        tokens += &format!("{token},{user},{user},\"{}\"\n", groups.join(","));
        write_with_token(places, user, &token)?;
    }
    places.write("pki/tokens.csv", &tokens)?;
    Ok(())
}

/// Writes the kubeconfig of somebody who has a token.
pub(crate) fn write_with_token(
    places: &Places,
    file: &str,
    token: &str,
) -> Result<PathBuf, RigError> {
    write_one(places, file, &json!({ "token": token }))
}

/// JSON is YAML, so every client reads it.
fn write_one(places: &Places, user: &str, credentials: &Value) -> Result<PathBuf, RigError> {
    let cluster = json!({
        "server": format!("https://{NODE_ADDRESS}:{API_PORT}"),
        "certificate-authority": places.text("pki/ca.crt"),
    });
    let kubeconfig = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "rig", "cluster": cluster }],
        "users": [{ "name": user, "user": credentials }],
        "contexts": [{ "name": "rig", "context": { "cluster": "rig", "user": user } }],
        "current-context": "rig",
    });
    places.write(&format!("kubeconfigs/{user}"), &format!("{kubeconfig:#}\n"))
}

/// Writes a kubeconfig that is like another, with another server.
pub(crate) fn write_behind(
    places: &Places,
    other: &Path,
    server: &str,
) -> Result<PathBuf, RigError> {
    let text = fs::read(other).map_err(RigError::file("read", other))?;
    let mut kubeconfig: Value = serde_json::from_slice(&text)
        .map_err(|error| RigError::file("read", other)(io::Error::other(error)))?;
    kubeconfig["clusters"][0]["cluster"]["server"] = json!(server);
    let user = other.file_name().unwrap_or_default().to_string_lossy();
    let file = format!("kubeconfigs/{user}-{}", server.replace([':', '/'], "-"));
    places.write(&file, &format!("{kubeconfig:#}\n"))
}
