//! Every small document of images: any bytes give a value or an error, and what is written is read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use operon_oci::{
    AuthFile, Challenge, Document, ErrorBody, ImageConfig, Index, Platform, Reference,
    RegistriesConf, Token, check_layout, docker_archive, helper_reply,
};

fuzz_target!(|data: &[u8]| {
    match Document::parse(data, None) {
        Ok(Document::Manifest(manifest)) => {
            let again = Document::parse(&manifest.to_bytes(), None);
            assert_eq!(again, Ok(Document::Manifest(manifest)));
        }
        Ok(Document::Index(index)) => {
            let _ = Platform::choose(&index, &Platform::linux("amd64"));
            let again = Document::parse(&index.to_bytes(), None);
            assert_eq!(again, Ok(Document::Index(index)));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Ok(config) = ImageConfig::parse(data) {
        assert_eq!(ImageConfig::parse(&config.to_bytes()), Ok(config));
    }
    let _ = (Index::parse(data), docker_archive(data), check_layout(data));
    let _ = (Token::parse(data), helper_reply(true, data), helper_reply(false, data));
    assert!(!ErrorBody::parse(data).line.contains(char::is_control));
    let image = Reference::parse("quay.io/org/image:v1").expect("a reference");
    if let Ok(file) = AuthFile::parse(data) {
        let _ = file.lookup(&image);
    }
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let _ = Challenge::parse(text);
    let reference = Reference::parse(text).unwrap_or(image);
    assert_eq!(Reference::parse(&reference.to_string()), Ok(reference.clone()));
    assert_eq!(Reference::parse(&reference.familiar()), Ok(reference.clone()));
    if let Ok(conf) = RegistriesConf::parse(text) {
        let _ = conf.candidates(&reference);
    }
});
