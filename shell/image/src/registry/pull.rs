//! Reading from a registry: manifests, blobs, tags.
//!
//! A blob goes to a file. When the connection breaks, the rest is asked for, and the whole is compared
//! with its digest. Nothing is unpacked here.

use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
    path::Path,
    sync::atomic::Ordering,
};

use operon_object::Value;
use operon_oci::{ACCEPTED_MANIFESTS, Descriptor, Digest, MAX_MANIFEST_BYTES, Verifier};
use reqwest::{
    Method, StatusCode,
    header::{ACCEPT, CONTENT_RANGE, CONTENT_TYPE, RANGE},
};
use tokio::time::{sleep, timeout};

use super::{
    Failure, Repository,
    body::{Body, read_whole},
    exchange::{Access, Call},
    retry::pause,
};
use crate::{Progress, PullError, limits::MAX_TAGS_BYTES};

/// The header in which a registry tells the digest of a manifest.
const CONTENT_DIGEST: &str = "docker-content-digest";

/// How many tags are suggested for one that does not exist.
const MAX_SUGGESTIONS: usize = 3;

/// A manifest or an index as it came.
#[derive(Debug, Clone)]
pub(crate) struct FetchedManifest {
    pub(crate) bytes: Vec<u8>,
    pub(crate) digest: Digest,
    /// The `Content-Type` it was sent with.
    pub(crate) media_type: Option<String>,
}

impl Repository {
    /// Runs requests for the documents of an image, for as long as they may take together.
    pub(crate) async fn in_time<T>(
        &self,
        requests: impl Future<Output = Result<T, PullError>>,
    ) -> Result<T, PullError> {
        let limit = self.limits().manifest_deadline;
        match timeout(limit, requests).await {
            Ok(answer) => answer,
            Err(_) => Err(self.too_slow("reading the manifest", limit).error),
        }
    }

    /// Asks for the digest that a name stands for now: one request without a body.
    pub(crate) async fn digest_of(&self, name: &str) -> Result<Digest, PullError> {
        let answer = self
            .retrying(async || {
                let url = self.url(&format!("manifests/{name}")).await?;
                let call = Call::new(Method::HEAD, url, Access::Pull).header(ACCEPT, accepted());
                let response = self.send_any(&call).await?;
                // Some registries know no HEAD, and none says why it refuses one.
                if !response.status().is_success() {
                    return Ok(None);
                }
                let digest = response.headers().get(CONTENT_DIGEST);
                Ok(digest
                    .and_then(|digest| digest.to_str().ok())
                    .and_then(|digest| Digest::parse(digest).ok()))
            })
            .await?;
        match answer {
            Some(digest) => Ok(digest),
            None => Ok(self.manifest(name).await?.digest),
        }
    }

    /// Fetches a manifest or an index by tag or digest.
    pub(crate) async fn manifest(&self, name: &str) -> Result<FetchedManifest, PullError> {
        let fetched = self.retrying(async || self.manifest_once(name).await).await;
        match fetched {
            Err(PullError::NotFound { registry, reference, answer, .. }) if !name.contains(':') => {
                let nearest = self.nearest_tags(name).await;
                Err(PullError::NotFound { registry, reference, answer, nearest })
            }
            other => other,
        }
    }

    async fn manifest_once(&self, name: &str) -> Result<FetchedManifest, Failure> {
        let url = self.url(&format!("manifests/{name}")).await?;
        let call = Call::new(Method::GET, url, Access::Pull).header(ACCEPT, accepted());
        let response = self.send(&call).await?;
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let media_type = header(CONTENT_TYPE.as_str());
        let bytes = read_whole(self, response, "the manifest", MAX_MANIFEST_BYTES as u64).await?;
        let digest = match Digest::parse(name) {
            Ok(expected) => {
                let mut verifier = Verifier::new(expected.clone());
                verifier.update(&bytes);
                verifier.finish().map_err(|found| PullError::DigestMismatch {
                    reference: self.shown.clone(),
                    what: "the manifest".to_owned(),
                    expected,
                    found,
                })?
            }
            Err(_) => Digest::of(&bytes),
        };
        Ok(FetchedManifest { bytes, digest, media_type })
    }

    /// Returns tags that look like one that does not exist; an aid, so it never fails.
    async fn nearest_tags(&self, wanted: &str) -> Vec<String> {
        let listed = async {
            let url = self.url("tags/list?n=1000").await?;
            let response = self.send(&Call::new(Method::GET, url, Access::Pull)).await?;
            read_whole(self, response, "the list of tags", MAX_TAGS_BYTES).await
        };
        let Ok(bytes) = listed.await else { return Vec::new() };
        let Ok(list) = Value::parse_json(&bytes) else { return Vec::new() };
        let tags: Vec<String> = list.get("tags").iter_texts().map(str::to_owned).collect();
        nearest(wanted, tags)
    }

    /// Fetches a small blob, such as the configuration of an image.
    pub(crate) async fn small_blob(
        &self,
        blob: &Descriptor,
        what: &str,
        limit: u64,
    ) -> Result<Vec<u8>, PullError> {
        if blob.size > limit {
            let (reference, what) = (self.shown.clone(), what.to_owned());
            return Err(PullError::TooLarge { reference, what, limit });
        }
        self.retrying(async || {
            let url = self.url(&format!("blobs/{}", blob.digest)).await?;
            let response = self.send(&Call::new(Method::GET, url, Access::Pull)).await?;
            let bytes =
                read_whole(self, response, what, blob.size).await.map_err(
                    |failure| match failure.error {
                        PullError::TooLarge { reference, what, limit } => PullError::WrongLength {
                            reference,
                            what,
                            expected: limit,
                            found: limit + 1,
                        }
                        .into(),
                        error => Failure { error, retry: failure.retry },
                    },
                )?;
            let mut verifier = Verifier::new(blob.digest.clone());
            verifier.update(&bytes);
            self.check(verifier, blob, what)?;
            Ok(bytes)
        })
        .await
    }

    /// Fetches a blob into a file, and compares its length and digest.
    pub(crate) async fn blob_to_file(
        &self,
        blob: &Descriptor,
        what: &str,
        path: &Path,
        progress: &Progress,
    ) -> Result<(), PullError> {
        let file = File::create(path).map_err(PullError::disk("write", path))?;
        let mut download =
            Download { file, path, verifier: Verifier::new(blob.digest.clone()), progress };
        let mut tried = 0;
        loop {
            let before = download.verifier.length();
            let failure = match self.continue_blob(blob, what, &mut download).await {
                Ok(()) => break,
                Err(failure) => failure,
            };
            // Attempts that bring a good piece of the blob are not counted; those that bring a few bytes are,
            // or a server that drips would be asked for the next bytes again and again.
            let headway = download.verifier.length().saturating_sub(before);
            tried = if headway >= self.limits().stall_bytes { 1 } else { tried + 1 };
            let Some(pause) = pause(self.limits(), tried, failure.retry) else {
                return Err(failure.error);
            };
            sleep(pause).await;
        }
        self.check(download.verifier, blob, what)?;
        Ok(())
    }

    /// Fetches what is still missing of a blob.
    async fn continue_blob(
        &self,
        blob: &Descriptor,
        what: &str,
        download: &mut Download<'_>,
    ) -> Result<(), Failure> {
        let have = download.verifier.length();
        let url = self.url(&format!("blobs/{}", blob.digest)).await?;
        let mut call = Call::new(Method::GET, url, Access::Pull);
        if have > 0 {
            call = call.header(RANGE, format!("bytes={have}-"));
        }
        let response = self.send(&call).await?;
        if have > 0 {
            let range = response.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
            let is_rest = response.status() == StatusCode::PARTIAL_CONTENT
                && range.is_some_and(|range| range.starts_with(&format!("bytes {have}-")));
            if !is_rest {
                download.restart(blob)?;
            }
        }
        let mut body = Body::new(self, response);
        while let Some(piece) = body.next().await? {
            let piece = piece.as_ref();
            let length = download.verifier.length() + piece.len() as u64;
            if length > blob.size {
                return Err(self.wrong_length(blob, what, length).into());
            }
            download.write(piece)?;
        }
        let length = download.verifier.length();
        if length < blob.size {
            // A proxy may cut an answer short without breaking the connection; the rest is asked for.
            return Err(Failure::soon(self.wrong_length(blob, what, length)));
        }
        Ok(())
    }

    fn wrong_length(&self, blob: &Descriptor, what: &str, found: u64) -> PullError {
        PullError::WrongLength {
            reference: self.shown.clone(),
            what: what.to_owned(),
            expected: blob.size,
            found,
        }
    }

    fn check(&self, verifier: Verifier, blob: &Descriptor, what: &str) -> Result<(), PullError> {
        let length = verifier.length();
        if length != blob.size {
            return Err(self.wrong_length(blob, what, length));
        }
        verifier.finish().map(|_| ()).map_err(|found| PullError::DigestMismatch {
            reference: self.shown.clone(),
            what: what.to_owned(),
            expected: blob.digest.clone(),
            found,
        })
    }

    /// Tells whether the repository has a blob.
    pub(crate) async fn has_blob(&self, digest: &Digest) -> Result<bool, PullError> {
        self.has(&format!("blobs/{digest}")).await
    }

    /// Tells whether the repository has a manifest or an index.
    pub(crate) async fn has_manifest(&self, digest: &Digest) -> Result<bool, PullError> {
        self.has(&format!("manifests/{digest}")).await
    }

    async fn has(&self, path: &str) -> Result<bool, PullError> {
        self.retrying(async || {
            let url = self.url(path).await?;
            let call = Call::new(Method::HEAD, url, Access::Push).header(ACCEPT, accepted());
            let response = self.send_any(&call).await?;
            match response.status() {
                status if status.is_success() => Ok(true),
                StatusCode::NOT_FOUND => Ok(false),
                _ => Err(self.refusal(response).await),
            }
        })
        .await
    }
}

/// A file that is being fetched.
struct Download<'d> {
    file: File,
    path: &'d Path,
    verifier: Verifier,
    progress: &'d Progress,
}

impl Download<'_> {
    fn write(&mut self, piece: &[u8]) -> Result<(), PullError> {
        self.file.write_all(piece).map_err(PullError::disk("write", self.path))?;
        self.verifier.update(piece);
        self.progress.done.fetch_add(piece.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Begins anew, because the registry sends everything again.
    fn restart(&mut self, blob: &Descriptor) -> Result<(), PullError> {
        self.file.set_len(0).map_err(PullError::disk("write", self.path))?;
        self.file.seek(SeekFrom::Start(0)).map_err(PullError::disk("write", self.path))?;
        self.progress.done.fetch_sub(self.verifier.length(), Ordering::Relaxed);
        self.verifier = Verifier::new(blob.digest.clone());
        Ok(())
    }
}

fn accepted() -> String {
    ACCEPTED_MANIFESTS.join(", ")
}

/// Returns the tags that share most with the wanted one: the longest common beginning and end.
fn nearest(wanted: &str, mut tags: Vec<String>) -> Vec<String> {
    let common = |tag: &str| {
        let same = |(left, right): &(u8, u8)| left == right;
        let front = tag.bytes().zip(wanted.bytes()).take_while(same).count();
        let back = tag.bytes().rev().zip(wanted.bytes().rev()).take_while(same).count();
        (front + back).min(tag.len())
    };
    tags.retain(|tag| common(tag) * 2 >= wanted.len().min(tag.len()));
    tags.sort_by_key(|tag| (std::cmp::Reverse(common(tag)), tag.len().abs_diff(wanted.len())));
    tags.truncate(MAX_SUGGESTIONS);
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggested_tags_look_like_the_wanted_one() {
        let tags = || ["v1.0.0", "v1.1.0", "latest", "2.0"].map(str::to_owned).to_vec();
        assert_eq!(nearest("v1.1.1", tags()), ["v1.1.0", "v1.0.0"]);
        assert_eq!(nearest("latset", tags()), ["latest"]);
        assert_eq!(nearest("nothing", tags()), Vec::<String>::new());
    }
}
