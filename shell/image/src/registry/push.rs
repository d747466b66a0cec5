//! Writing to a registry: blobs, in pieces where they are large, and manifests.
//!
//! What is there already is not sent again. An upload that breaks begins anew. What an image is made
//! of is decided elsewhere.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use operon_oci::{Descriptor, Digest};
use reqwest::{
    Method, StatusCode, Url,
    header::{CONTENT_RANGE, CONTENT_TYPE},
};

use super::{
    Failure, Repository,
    exchange::{Access, Call},
};
use crate::{PullError, limits::UPLOAD_CHUNK_BYTES};

/// The type of a body that is only bytes.
const BYTES: &str = "application/octet-stream";

/// Where the bytes of a blob are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'c> {
    /// In memory.
    Bytes(&'c [u8]),
    /// In a file.
    File(&'c Path),
}

impl Content<'_> {
    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        match self {
            Self::Bytes(bytes) => Ok(Box::new(*bytes)),
            Self::File(path) => Ok(Box::new(File::open(path)?)),
        }
    }

    fn unreadable(&self, source: io::Error) -> PullError {
        let path = match self {
            Self::Bytes(_) => Path::new("memory"),
            Self::File(path) => path,
        };
        PullError::Disk { action: "read", path: path.to_owned(), source }
    }
}

impl Repository {
    /// Sends a blob unless it is there.
    pub(crate) async fn push_blob(
        &self,
        blob: &Descriptor,
        content: Content<'_>,
    ) -> Result<(), PullError> {
        if self.has_blob(&blob.digest).await? {
            return Ok(());
        }
        self.retrying(async || {
            let location = self.begin_upload(None).await?;
            self.upload(location, blob, content).await
        })
        .await
    }

    /// Asks the registry to take a blob over from another of its repositories; tells whether it did.
    pub(crate) async fn mount_blob(&self, digest: &Digest, from: &str) -> Result<bool, PullError> {
        let begun = self.retrying(async || self.begin_upload(Some((digest, from))).await).await?;
        Ok(begun.is_none())
    }

    /// Begins an upload; `None` when there is nothing left to send, because the blob was mounted.
    async fn begin_upload(&self, mount: Option<(&Digest, &str)>) -> Result<Option<Url>, Failure> {
        let mut url = self.url("blobs/uploads/").await?;
        let access = match mount {
            None => Access::Push,
            Some((digest, from)) => {
                let digest = digest.to_string();
                url.query_pairs_mut().append_pair("mount", &digest).append_pair("from", from);
                Access::Mount(from.to_owned())
            }
        };
        let base = url.clone();
        let response = self.send(&Call::new(Method::POST, url, access)).await?;
        if response.status() == StatusCode::CREATED {
            return Ok(None);
        }
        self.next_url(&base, &response).map(Some)
    }

    async fn upload(
        &self,
        location: Option<Url>,
        blob: &Descriptor,
        content: Content<'_>,
    ) -> Result<(), Failure> {
        let Some(mut location) = location else { return Ok(()) };
        let mut reader = content.open().map_err(|source| content.unreadable(source))?;
        let mut sent = 0;
        let mut piece = read_piece(&mut reader).map_err(|source| content.unreadable(source))?;
        while piece.len() == UPLOAD_CHUNK_BYTES {
            let end = sent + piece.len() as u64;
            let base = location.clone();
            let call = Call::new(Method::PATCH, location, Access::Push)
                .header(CONTENT_TYPE, BYTES)
                .header(CONTENT_RANGE, format!("{sent}-{}", end - 1))
                .body(piece);
            let response = self.send(&call).await?;
            location = self.next_url(&base, &response)?;
            sent = end;
            piece = read_piece(&mut reader).map_err(|source| content.unreadable(source))?;
        }
        location.query_pairs_mut().append_pair("digest", &blob.digest.to_string());
        let call =
            Call::new(Method::PUT, location, Access::Push).header(CONTENT_TYPE, BYTES).body(piece);
        self.send(&call).await?;
        Ok(())
    }

    /// Sends a manifest under a tag or its digest; everything it names must be there.
    pub(crate) async fn push_manifest(
        &self,
        name: &str,
        media_type: &str,
        bytes: &[u8],
    ) -> Result<(), PullError> {
        self.retrying(async || {
            let url = self.url(&format!("manifests/{name}")).await?;
            let call = Call::new(Method::PUT, url, Access::Push)
                .header(CONTENT_TYPE, media_type)
                .body(bytes.to_vec());
            self.send(&call).await?;
            Ok(())
        })
        .await
    }
}

fn read_piece(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut piece = Vec::new();
    reader.take(UPLOAD_CHUNK_BYTES as u64).read_to_end(&mut piece)?;
    Ok(piece)
}
