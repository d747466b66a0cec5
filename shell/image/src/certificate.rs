//! Certificates for operators that serve webhooks or APIs.
//!
//! Each is signed by an authority of its own, whose key is thrown away: nobody can sign a second one
//! with it. When a certificate is made, and where it is kept, is decided elsewhere.

use std::time::Duration;

use operon_document::{decode_base64, encode_base64};
use operon_install::ServingCertificate;
use operon_lifecycle::ReplacedCertificate;
use operon_object::{Timestamp, sha256_hex};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, date_time_ymd,
};

/// Upstream: a certificate holds for two years.
pub const CERTIFICATE_LIFETIME: Duration = Duration::from_secs(730 * 24 * 3600);

/// How long before its end a certificate is made anew. Upstream does it a day before and restarts the
/// pods; ours get the new one while they run, and those that read it only when they start have a month.
pub const ROTATION_MARGIN: Duration = Duration::from_secs(30 * 24 * 3600);

/// Where a certificate ends in a PEM text.
const PEM_END: &str = "-----END CERTIFICATE-----\n";

/// Makes a certificate for host names, and says when it is to be made anew. The authority of the one that
/// it replaces is trusted beside its own.
pub(crate) fn serving_certificate(
    hosts: &[String],
    replaces: Option<&ReplacedCertificate>,
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

    let ca = authority.pem().replace("\r\n", "\n");
    let trusted = format!("{ca}{}", replaces.and_then(last_authority).unwrap_or_default());
    let serving = ServingCertificate {
        certificate: encode_base64(certificate.pem().as_bytes()),
        key: encode_base64(serving_key.serialize_pem().as_bytes()),
        ca_hash: replaces.map_or_else(|| sha256_hex(&ca), |replaced| replaced.ca_hash.clone()),
        ca: encode_base64(trusted.as_bytes()),
    };
    Ok((serving, now.after(CERTIFICATE_LIFETIME - ROTATION_MARGIN)))
}

/// Returns the PEM text of the authority that signed the certificate before. Those before it signed
/// certificates that have ended.
fn last_authority(replaced: &ReplacedCertificate) -> Option<String> {
    let bundle = decode_base64(replaced.ca_bundle.as_bytes()).ok()?;
    let text = String::from_utf8(bundle).ok()?.replace("\r\n", "\n");
    let end = text.find(PEM_END)? + PEM_END.len();
    Some(text[..end].to_owned())
}

fn dated(mut params: CertificateParams, now: Timestamp) -> CertificateParams {
    let since_1970 = Duration::from_millis(u64::try_from(now.milliseconds()).unwrap_or(0));
    params.not_before = date_time_ymd(1970, 1, 1) + since_1970;
    params.not_after = params.not_before + CERTIFICATE_LIFETIME;
    params
}
