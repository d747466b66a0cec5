//! The calls of the API, each one method.
//!
//! A call whose connection is lost on the way is made once more; a refusal is not.

use tokio::time::timeout;
use tonic::{
    Code, Request, Response, Status, Streaming, codec::CompressionEncoding::Gzip,
    transport::Channel,
};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use super::{CALL_ATTEMPTS, Client, ConnectionState, Stream};
use crate::{
    ClientError,
    api::{
        self, experimental_registry_client::ExperimentalRegistryClient,
        registry_client::RegistryClient,
    },
};

/// Whether a registry serves, as its health check says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// It answers questions.
    Serving,
    /// It is there, but does not answer yet or any more.
    NotServing,
    /// It does not know the service it was asked about, or does not know how it is.
    Unknown,
}

impl Client {
    /// Makes a call, once more if its connection is lost.
    async fn attempt<T>(
        &self,
        call: &'static str,
        ask: impl AsyncFn(Channel) -> Result<Response<T>, Status>,
    ) -> Result<T, ClientError> {
        let within = self.options().deadline;
        let mut attempts_left = CALL_ATTEMPTS;
        loop {
            attempts_left -= 1;
            let channel = self.line.channel().await?;
            let Ok(answer) = timeout(within, ask(channel)).await else {
                let address = self.address().to_string();
                return Err(ClientError::TooSlow { address, call, within });
            };
            match answer {
                Ok(response) => return Ok(response.into_inner()),
                Err(status) if attempts_left > 0 && self.is_lost(&status) => {}
                Err(status) => return Err(self.refusal(call, &status)),
            }
        }
    }

    /// Tells whether a call failed because its connection went away.
    fn is_lost(&self, status: &Status) -> bool {
        let is_no_answer = matches!(status.code(), Code::Unavailable | Code::Unknown);
        is_no_answer && self.state() != ConnectionState::Ready
    }

    fn registry(&self, channel: Channel) -> RegistryClient<Channel> {
        RegistryClient::new(channel)
            .accept_compressed(Gzip)
            .max_decoding_message_size(self.options().max_message_bytes)
    }

    fn ask<T>(
        &self,
        call: &'static str,
        ask: impl AsyncFn(RegistryClient<Channel>) -> Result<Response<T>, Status>,
    ) -> Result<T, ClientError> {
        let asking = self.attempt(call, async |channel| ask(self.registry(channel)).await);
        self.runtime().block_on(asking)
    }

    fn stream<T>(
        &self,
        call: &'static str,
        ask: impl AsyncFn(RegistryClient<Channel>) -> Result<Response<Streaming<T>>, Status>,
    ) -> Result<Stream<'_, T>, ClientError> {
        Ok(Stream::new(self, call, self.ask(call, ask)?))
    }

    /// Asks whether the registry serves; `service` may be empty.
    pub fn health(&self, service: &str) -> Result<Health, ClientError> {
        let request = HealthCheckRequest { service: service.to_owned() };
        let asking = self.attempt("Check", async |channel| {
            HealthClient::new(channel).check(request.clone()).await
        });
        let status = self.runtime().block_on(asking)?.status();
        Ok(match status {
            ServingStatus::Serving => Health::Serving,
            ServingStatus::NotServing => Health::NotServing,
            ServingStatus::Unknown | ServingStatus::ServiceUnknown => Health::Unknown,
        })
    }

    /// Lists the names of all packages.
    pub fn list_packages(&self) -> Result<Stream<'_, api::PackageName>, ClientError> {
        let request = api::ListPackageRequest {};
        self.stream("ListPackages", async |mut registry| registry.list_packages(request).await)
    }

    /// Returns a package.
    pub fn get_package(&self, name: &str) -> Result<api::Package, ClientError> {
        let request = api::GetPackageRequest { name: name.to_owned() };
        self.ask("GetPackage", async |mut registry| registry.get_package(request.clone()).await)
    }

    /// Returns a bundle with its manifests.
    pub fn get_bundle(&self, request: &api::GetBundleRequest) -> Result<api::Bundle, ClientError> {
        self.ask("GetBundle", async |mut registry| registry.get_bundle(request.clone()).await)
    }

    /// Returns the head of a channel.
    #[expect(
        deprecated,
        reason = "package servers still make this call, so it has to be tried out"
    )]
    pub fn get_bundle_for_channel(
        &self,
        request: &api::GetBundleInChannelRequest,
    ) -> Result<api::Bundle, ClientError> {
        self.ask("GetBundleForChannel", async |mut registry| {
            registry.get_bundle_for_channel(request.clone()).await
        })
    }

    /// Lists the entries of all channels that replace or skip a bundle.
    pub fn get_channel_entries_that_replace(
        &self,
        csv_name: &str,
    ) -> Result<Stream<'_, api::ChannelEntry>, ClientError> {
        let request = api::GetAllReplacementsRequest { csv_name: csv_name.to_owned() };
        self.stream("GetChannelEntriesThatReplace", async |mut registry| {
            registry.get_channel_entries_that_replace(request.clone()).await
        })
    }

    /// Returns an entry of a channel that replaces or skips a bundle.
    pub fn get_bundle_that_replaces(
        &self,
        request: &api::GetReplacementRequest,
    ) -> Result<api::Bundle, ClientError> {
        self.ask("GetBundleThatReplaces", async |mut registry| {
            registry.get_bundle_that_replaces(request.clone()).await
        })
    }

    /// Lists the entries of all channels that provide an API.
    pub fn get_channel_entries_that_provide(
        &self,
        request: &api::GetAllProvidersRequest,
    ) -> Result<Stream<'_, api::ChannelEntry>, ClientError> {
        self.stream("GetChannelEntriesThatProvide", async |mut registry| {
            registry.get_channel_entries_that_provide(request.clone()).await
        })
    }

    /// Lists the heads of channels that provide an API.
    pub fn get_latest_channel_entries_that_provide(
        &self,
        request: &api::GetLatestProvidersRequest,
    ) -> Result<Stream<'_, api::ChannelEntry>, ClientError> {
        self.stream("GetLatestChannelEntriesThatProvide", async |mut registry| {
            registry.get_latest_channel_entries_that_provide(request.clone()).await
        })
    }

    /// Returns the head of a default channel that provides an API.
    pub fn get_default_bundle_that_provides(
        &self,
        request: &api::GetDefaultProviderRequest,
    ) -> Result<api::Bundle, ClientError> {
        self.ask("GetDefaultBundleThatProvides", async |mut registry| {
            registry.get_default_bundle_that_provides(request.clone()).await
        })
    }

    /// Lists every bundle once for each channel it is in.
    pub fn list_bundles(&self) -> Result<Stream<'_, api::Bundle>, ClientError> {
        let request = api::ListBundlesRequest {};
        self.stream("ListBundles", async |mut registry| registry.list_bundles(request).await)
    }

    /// Lists the documents of a schema that the registry does not interpret; an empty package name
    /// asks for those of no package.
    pub fn list_custom_schemas(
        &self,
        schema: &str,
        package_name: &str,
    ) -> Result<Stream<'_, prost_types::Struct>, ClientError> {
        const CALL: &str = "ExperimentalListPackageCustomSchemas";
        let asked = api::ExperimentalListPackageCustomSchemasRequest {
            schema: schema.to_owned(),
            package_name: package_name.to_owned(),
        };
        let asking = self.attempt(CALL, async |channel| {
            let mut request = Request::new(asked.clone());
            let acknowledged = tonic::metadata::MetadataValue::from_static("true");
            request.metadata_mut().insert(crate::server::ACKNOWLEDGE, acknowledged);
            ExperimentalRegistryClient::new(channel)
                .max_decoding_message_size(self.options().max_message_bytes)
                .experimental_list_package_custom_schemas(request)
                .await
        });
        Ok(Stream::new(self, CALL, self.runtime().block_on(asking)?))
    }
}
