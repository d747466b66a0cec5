//! The ten calls of `api.Registry`, each a question to the catalog of the moment.
//!
//! What the answers are is decided in `answer`; this file carries them.

use std::{sync::Arc, vec};

use operon_catalog::{Entry, GroupVersionKind};
use tokio_stream::Iter;
use tonic::{Request, Response, Status};

use super::{bundles::BundleStream, state::State};
use crate::{
    answer::{self, NotFound},
    api::{self, registry_server::Registry},
    shelf::Shelf,
};

/// A stream of answers that were all found at once.
type Found<T> = Iter<vec::IntoIter<Result<T, Status>>>;

type Answer<T> = Result<Response<T>, Status>;

/// The service `api.Registry`.
#[derive(Debug)]
pub(crate) struct RegistryService {
    pub(crate) state: Arc<State>,
}

impl RegistryService {
    /// Answers with one whole bundle, without the edges into it.
    async fn single(
        &self,
        find: impl FnOnce(&Shelf) -> Result<Entry<'_>, NotFound>,
    ) -> Answer<api::Bundle> {
        let shelf = self.state.shelf().await?;
        let entry = find(&shelf)?.id();
        let mut bundle = self.state.whole_bundle(shelf, entry).await?;
        // Upstream: calls for a single bundle never say what it replaces.
        bundle.replaces.clear();
        bundle.skips.clear();
        Ok(Response::new(bundle))
    }
}

fn all<T>(found: Vec<T>) -> Response<Found<T>> {
    let found: Vec<Result<T, Status>> = found.into_iter().map(Ok).collect();
    Response::new(tokio_stream::iter(found))
}

#[tonic::async_trait]
impl Registry for RegistryService {
    type ListPackagesStream = Found<api::PackageName>;
    type GetChannelEntriesThatReplaceStream = Found<api::ChannelEntry>;
    type GetChannelEntriesThatProvideStream = Found<api::ChannelEntry>;
    type GetLatestChannelEntriesThatProvideStream = Found<api::ChannelEntry>;
    type ListBundlesStream = BundleStream;

    async fn list_packages(
        &self,
        _: Request<api::ListPackageRequest>,
    ) -> Answer<Self::ListPackagesStream> {
        let shelf = self.state.shelf().await?;
        let name = |package: operon_catalog::Package<'_>| api::PackageName {
            name: package.name().to_owned(),
        };
        Ok(all(shelf.packages().map(name).collect()))
    }

    async fn get_package(&self, asked: Request<api::GetPackageRequest>) -> Answer<api::Package> {
        Ok(Response::new(answer::package(&*self.state.shelf().await?, &asked.get_ref().name)?))
    }

    async fn get_bundle(&self, asked: Request<api::GetBundleRequest>) -> Answer<api::Bundle> {
        self.single(|shelf| answer::bundle(shelf, asked.get_ref())).await
    }

    async fn get_bundle_for_channel(
        &self,
        asked: Request<api::GetBundleInChannelRequest>,
    ) -> Answer<api::Bundle> {
        self.single(|shelf| answer::head(shelf, asked.get_ref())).await
    }

    async fn get_channel_entries_that_replace(
        &self,
        asked: Request<api::GetAllReplacementsRequest>,
    ) -> Answer<Self::GetChannelEntriesThatReplaceStream> {
        Ok(all(answer::replacements(&*self.state.shelf().await?, &asked.get_ref().csv_name)?))
    }

    async fn get_bundle_that_replaces(
        &self,
        asked: Request<api::GetReplacementRequest>,
    ) -> Answer<api::Bundle> {
        self.single(|shelf| answer::replacement(shelf, asked.get_ref())).await
    }

    async fn get_channel_entries_that_provide(
        &self,
        asked: Request<api::GetAllProvidersRequest>,
    ) -> Answer<Self::GetChannelEntriesThatProvideStream> {
        let api::GetAllProvidersRequest { group, version, kind, .. } = asked.into_inner();
        let api = GroupVersionKind { group, version, kind };
        Ok(all(answer::providers(&*self.state.shelf().await?, &api)?))
    }

    async fn get_latest_channel_entries_that_provide(
        &self,
        asked: Request<api::GetLatestProvidersRequest>,
    ) -> Answer<Self::GetLatestChannelEntriesThatProvideStream> {
        let api::GetLatestProvidersRequest { group, version, kind, .. } = asked.into_inner();
        let api = GroupVersionKind { group, version, kind };
        Ok(all(answer::latest_providers(&*self.state.shelf().await?, &api)?))
    }

    async fn get_default_bundle_that_provides(
        &self,
        asked: Request<api::GetDefaultProviderRequest>,
    ) -> Answer<api::Bundle> {
        let api::GetDefaultProviderRequest { group, version, kind, .. } = asked.into_inner();
        let api = GroupVersionKind { group, version, kind };
        self.single(|shelf| answer::default_provider(shelf, &api)).await
    }

    async fn list_bundles(
        &self,
        _: Request<api::ListBundlesRequest>,
    ) -> Answer<Self::ListBundlesStream> {
        let shelf = self.state.shelf().await?;
        Ok(Response::new(BundleStream::new(Arc::clone(&self.state), shelf)))
    }
}
