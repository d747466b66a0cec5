//! Bytes to manifests and indexes.
//!
//! A document that two readers could understand differently is refused, because its digest would
//! not name one image. Docker's first schema is recognised only to say so.

use super::{
    Descriptor, Document, Index, MAX_INDEX_ENTRIES, MAX_LAYERS, MAX_MANIFEST_BYTES, Manifest,
};
use crate::{
    DocumentError, OCI_INDEX, OCI_MANIFEST, Platform,
    fields::{Place, parse},
    media_type::{ManifestType, essence, manifest_type},
    printable::excerpt,
};

const MANIFEST: &str = "image manifest";
const INDEX: &str = "image index";

pub(super) fn document(bytes: &[u8], header: Option<&str>) -> Result<Document, DocumentError> {
    let value = parse(MANIFEST, bytes, MAX_MANIFEST_BYTES)?;
    let top = Place::top(MANIFEST, &value)?;
    let header = header.map(essence).filter(|header| manifest_type(header) != ManifestType::Other);
    let body = top.text("mediaType")?;
    refuse_schema_1(&top, header.as_deref(), body)?;
    if top.field("layers").is_some() && top.field("manifests").is_some() {
        return Err(DocumentError::Ambiguous);
    }
    let kind = match body.map(manifest_type) {
        Some(ManifestType::Other) => {
            let media_type = excerpt(body.unwrap_or_default(), 120);
            return Err(DocumentError::UnknownMediaType { media_type });
        }
        Some(kind) => kind,
        None => match &header {
            Some(header) => manifest_type(header),
            None => guess(&top)?,
        },
    };
    if let (Some(header), Some(body)) = (&header, body)
        && manifest_type(header) != kind
    {
        let (header, body) = (header.clone(), body.to_owned());
        return Err(DocumentError::MediaTypesDiffer { header, body });
    }
    let media_type = body.map(str::to_owned).or(header);
    if kind == ManifestType::Index {
        let top = Place::top(INDEX, &value)?;
        let media_type = media_type.unwrap_or_else(|| OCI_INDEX.to_owned());
        return read_index(&top, media_type).map(Document::Index);
    }
    let media_type = media_type.unwrap_or_else(|| OCI_MANIFEST.to_owned());
    read_manifest(&top, media_type).map(Document::Manifest)
}

pub(super) fn index(bytes: &[u8]) -> Result<Index, DocumentError> {
    match document(bytes, Some(OCI_INDEX))? {
        Document::Index(index) => Ok(index),
        Document::Manifest(_) => Err(DocumentError::NoManifest),
    }
}

fn refuse_schema_1(
    top: &Place<'_>,
    header: Option<&str>,
    body: Option<&str>,
) -> Result<(), DocumentError> {
    let is_named = |name: Option<&str>| name.map(manifest_type) == Some(ManifestType::Schema1);
    let is_old = top.field("fsLayers").is_some()
        || top.field("schemaVersion").is_some_and(|version| version.as_size() == Ok(1));
    if is_named(header) || is_named(body) || is_old {
        return Err(DocumentError::Schema1);
    }
    Ok(())
}

fn guess(top: &Place<'_>) -> Result<ManifestType, DocumentError> {
    if top.field("manifests").is_some() {
        return Ok(ManifestType::Index);
    }
    if top.field("layers").is_some() || top.field("config").is_some() {
        return Ok(ManifestType::Manifest);
    }
    Err(DocumentError::NoManifest)
}

fn read_manifest(top: &Place<'_>, media_type: String) -> Result<Manifest, DocumentError> {
    let layers = top.needed("layers")?.elements(MAX_LAYERS)?;
    Ok(Manifest {
        media_type,
        artifact_type: top.text("artifactType")?.map(str::to_owned),
        config: descriptor(&top.needed("config")?)?,
        layers: layers.iter().map(descriptor).collect::<Result<_, _>>()?,
        annotations: top.text_map("annotations")?,
    })
}

fn read_index(top: &Place<'_>, media_type: String) -> Result<Index, DocumentError> {
    let manifests = top.needed("manifests")?.elements(MAX_INDEX_ENTRIES)?;
    Ok(Index {
        media_type,
        manifests: manifests.iter().map(descriptor).collect::<Result<_, _>>()?,
        annotations: top.text_map("annotations")?,
    })
}

fn descriptor(place: &Place<'_>) -> Result<Descriptor, DocumentError> {
    Ok(Descriptor {
        media_type: place.needed("mediaType")?.as_text()?.to_owned(),
        digest: place.needed("digest")?.as_digest()?,
        size: place.needed("size")?.as_size()?,
        platform: place.map("platform")?.as_ref().map(platform).transpose()?,
        annotations: place.text_map("annotations")?,
    })
}

fn platform(place: &Place<'_>) -> Result<Platform, DocumentError> {
    let text = |name| place.text(name).map(|text| text.map(str::to_owned));
    Ok(Platform {
        os: text("os")?.unwrap_or_default(),
        architecture: text("architecture")?.unwrap_or_default(),
        variant: text("variant")?,
        os_version: text("os.version")?,
    })
}
