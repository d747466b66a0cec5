//! Certificates for operators that serve webhooks or APIs.
//!
//! Each is signed by an authority of its own, whose key is thrown away: nobody can sign a second one
//! with it. When a certificate is made, and where it is kept, is decided elsewhere.

use std::time::Duration;

use operon_document::encode_base64;
use operon_install::ServingCertificate;
use operon_object::{Timestamp, sha256_hex};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, date_time_ymd,
};

/// Upstream: a certificate holds for two years.
pub const CERTIFICATE_LIFETIME: Duration = Duration::from_secs(730 * 24 * 3600);

/// Upstream: a certificate is made anew a day before it ends.
pub const ROTATION_MARGIN: Duration = Duration::from_secs(24 * 3600);

/// Makes a certificate for host names, and says when it is to be made anew.
pub(crate) fn serving_certificate(
    hosts: &[String],
    now: Timestamp,
) -> Result<(ServingCertificate, Timestamp), rcgen::Error> {
    let key = || KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256);
    let (authority_key, serving_key) = (key()?, key()?);

    let mut authority = dated(CertificateParams::default(), now);
    // Upstream: authorities are told apart by a number in their name.
    let number = &sha256_hex(authority_key.public_key_pem())[..16];
    authority.distinguished_name.push(DnType::CommonName, format!("olm-selfsigned-{number}"));
    authority.distinguished_name.push(DnType::OrganizationName, "Operon");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let authority = CertifiedIssuer::self_signed(authority, authority_key)?;

    let mut serving = dated(CertificateParams::new(hosts.to_vec())?, now);
    let name = hosts.first().map_or("", String::as_str);
    serving.distinguished_name.push(DnType::CommonName, name);
    serving.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    serving.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    serving.use_authority_key_identifier_extension = true;
    let certificate = serving.signed_by(&serving_key, &authority)?;

    let ca = authority.pem();
    let serving = ServingCertificate {
        certificate: encode_base64(certificate.pem().as_bytes()),
        key: encode_base64(serving_key.serialize_pem().as_bytes()),
        ca_hash: sha256_hex(&ca),
        ca: encode_base64(ca.as_bytes()),
    };
    Ok((serving, now.after(CERTIFICATE_LIFETIME - ROTATION_MARGIN)))
}

fn dated(mut params: CertificateParams, now: Timestamp) -> CertificateParams {
    let since_1970 = Duration::from_millis(u64::try_from(now.milliseconds()).unwrap_or(0));
    params.not_before = date_time_ymd(1970, 1, 1) + since_1970;
    params.not_after = params.not_before + CERTIFICATE_LIFETIME;
    params
}
