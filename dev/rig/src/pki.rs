//! The certificates and keys of a rig, made anew for each and removed with it.
//!
//! One authority for the cluster and one for the front proxy, as Kubernetes wants them; etcd speaks
//! plainly, because nobody else is in its network.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};

use crate::{
    RigError,
    namespace::{API_SERVICE_ADDRESS, NODE_ADDRESS},
    places::Places,
};

/// The name of the node.
pub(crate) const NODE_NAME: &str = "node";

/// A certificate that lets a program be somebody, or be recognised.
struct Identity {
    /// The name of its files.
    file: &'static str,
    /// Who it stands for.
    user: &'static str,
    /// The group that this one is in.
    group: Option<&'static str>,
    /// The names and addresses it is recognised by; none for those that only ask.
    hosts: &'static [&'static str],
}

const fn client(file: &'static str, user: &'static str, group: Option<&'static str>) -> Identity {
    Identity { file, user, group, hosts: &[] }
}

/// One that asks, and answers questions about itself on its own machine.
const fn local(file: &'static str, user: &'static str) -> Identity {
    Identity { file, user, group: None, hosts: &["127.0.0.1"] }
}

/// What the authority of the cluster signs.
const IDENTITIES: [Identity; 7] = [
    Identity {
        file: "apiserver",
        user: "kube-apiserver",
        group: None,
        hosts: &[
            NODE_ADDRESS,
            API_SERVICE_ADDRESS,
            "127.0.0.1",
            "localhost",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
        ],
    },
    Identity {
        file: "kubelet",
        user: "system:node:node",
        group: Some("system:nodes"),
        hosts: &[NODE_ADDRESS, NODE_NAME],
    },
    client("admin", "admin", Some("system:masters")),
    local("controller-manager", "system:kube-controller-manager"),
    local("scheduler", "system:kube-scheduler"),
    client("proxy", "system:kube-proxy", None),
    client("apiserver-kubelet", "kube-apiserver-kubelet-client", Some("system:masters")),
];

/// What the authority of the front proxy signs.
const FRONT_PROXY: Identity = client("front-proxy", "front-proxy-client", None);

/// Makes all of them.
pub(crate) fn write(places: &Places) -> Result<(), RigError> {
    let authority = authority("operon-rig")?;
    write_authority(places, "ca", &authority)?;
    for identity in &IDENTITIES {
        write_identity(places, identity, &authority)?;
    }
    let front_proxy = self::authority("operon-rig-front-proxy")?;
    write_authority(places, "front-proxy-ca", &front_proxy)?;
    write_identity(places, &FRONT_PROXY, &front_proxy)?;

    let accounts = KeyPair::generate()?;
    places.write("pki/accounts.key", &accounts.serialize_pem())?;
    places.write("pki/accounts.pub", &accounts.public_key_pem())?;
    Ok(())
}

fn authority(name: &str) -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    CertifiedIssuer::self_signed(parameters, KeyPair::generate()?)
}

fn write_authority(
    places: &Places,
    file: &str,
    authority: &CertifiedIssuer<'static, KeyPair>,
) -> Result<(), RigError> {
    places.write(&format!("pki/{file}.crt"), &authority.pem())?;
    places.write(&format!("pki/{file}.key"), &authority.key().serialize_pem())?;
    Ok(())
}

fn write_identity(
    places: &Places,
    identity: &Identity,
    authority: &CertifiedIssuer<'static, KeyPair>,
) -> Result<(), RigError> {
    let hosts: Vec<String> = identity.hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut parameters = CertificateParams::new(hosts)?;
    parameters.distinguished_name.remove(DnType::CommonName);
    if let Some(group) = identity.group {
        parameters.distinguished_name.push(DnType::OrganizationName, group);
    }
    parameters.distinguished_name.push(DnType::CommonName, identity.user);
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages.push(ExtendedKeyUsagePurpose::ClientAuth);
    if !identity.hosts.is_empty() {
        parameters.extended_key_usages.push(ExtendedKeyUsagePurpose::ServerAuth);
    }
    let key = KeyPair::generate()?;
    let certificate = parameters.signed_by(&key, authority)?;
    places.write(&format!("pki/{}.crt", identity.file), &certificate.pem())?;
    places.write(&format!("pki/{}.key", identity.file), &key.serialize_pem())?;
    Ok(())
}
