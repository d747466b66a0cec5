//! Servers that lie, stall or speak another language: each gets an error that names the address.

use std::{
    io::{Read, Write},
    net::TcpListener,
    pin::Pin,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use operon_registry::{
    Address, Client, ClientError, ClientOptions,
    api::{
        self,
        registry_server::{Registry, RegistryServer},
    },
};
use tokio::runtime::{Builder, Runtime};
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, transport::Server};

const SHORT: Duration = Duration::from_millis(300);

fn impatient() -> ClientOptions {
    ClientOptions {
        connect_timeout: SHORT,
        deadline: SHORT,
        silence: SHORT,
        max_message_bytes: 64 << 10,
        max_bundles: 1000,
        max_catalog_bytes: 8 << 20,
        ..ClientOptions::default()
    }
}

/// Accepts connections and treats each the same way.
fn listen(treat: impl Fn(std::net::TcpStream) + Send + Sync + 'static) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::parse(&listener.local_addr().unwrap().to_string()).unwrap();
    let treat = Arc::new(treat);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let treat = Arc::clone(&treat);
            thread::spawn(move || treat(stream.unwrap()));
        }
    });
    address
}

#[test]
fn what_does_not_speak_grpc_is_not_ready() {
    let nobody = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Address::parse(&listener.local_addr().unwrap().to_string()).unwrap()
    };
    let garbage = listen(|mut stream| {
        let _ = stream.write_all(&[0xff; 4096]);
        let _ = stream.read(&mut [0; 64]);
    });
    let web = listen(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    });
    let closes = listen(drop);
    let silent = listen(|mut stream| while stream.read(&mut [0; 64]).is_ok_and(|read| read > 0) {});
    for (address, reason) in [
        (nobody, "refused"),
        (garbage, "does not speak gRPC"),
        (web, "does not speak gRPC"),
        (closes, ""),
        (silent, "did not speak within 0.3 seconds"),
    ] {
        let begun = Instant::now();
        let client = Client::new(&address, impatient()).unwrap();
        let error = client.fetch_catalog(&mut Vec::new()).unwrap_err();
        let ClientError::Unreachable { .. } = &error else { panic!("{error}") };
        let text = error.to_string();
        assert!(text.contains(reason) && text.contains(&format!("`{address}`")), "{text}");
        assert_eq!(client.state().name(), "TRANSIENT_FAILURE", "{text}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{text}");
    }
}

/// How a registry lies.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lie {
    None,
    EndlessPackages,
    EndlessBundles,
    HugeMessage,
    TwoPackages,
    OtherPackage,
    OtherChannel,
    SameBundleTwice,
    BundleChanges,
    HeadIsMissing,
    NoDefault,
    PropertyIsNotJson,
    HangsInTheStream,
    HangsBeforeTheAnswer,
    EndsWithAnError,
}

struct Liar(Lie);

type Found<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

fn bundle(channel: &str, name: &str) -> api::Bundle {
    let value = r#"{"packageName":"p","version":"1.0.0"}"#.to_owned();
    api::Bundle {
        csv_name: name.to_owned(),
        package_name: "p".to_owned(),
        channel_name: channel.to_owned(),
        bundle_path: "example.com/p".to_owned(),
        properties: vec![api::Property { r#type: "olm.package".to_owned(), value }],
        ..api::Bundle::default()
    }
}

impl Liar {
    fn bundles(&self) -> Vec<api::Bundle> {
        let (sound, beta) = (bundle("c", "p.v1"), bundle("d", "p.v1"));
        match self.0 {
            Lie::HugeMessage => {
                vec![api::Bundle { csv_json: "x".repeat(1 << 20), ..sound }, beta]
            }
            Lie::OtherChannel => vec![sound, beta, bundle("e", "p.v1")],
            Lie::SameBundleTwice => vec![sound.clone(), sound, beta],
            Lie::BundleChanges => {
                vec![sound, api::Bundle { bundle_path: "example.com/q".to_owned(), ..beta }]
            }
            Lie::HeadIsMissing => vec![sound],
            Lie::PropertyIsNotJson => {
                let [r#type, value] = ["x", "{"].map(str::to_owned);
                vec![api::Bundle { properties: vec![api::Property { r#type, value }], ..sound }]
            }
            _ => vec![sound, beta],
        }
    }
}

#[tonic::async_trait]
impl Registry for Liar {
    type ListPackagesStream = Found<api::PackageName>;
    type GetChannelEntriesThatReplaceStream = Found<api::ChannelEntry>;
    type GetChannelEntriesThatProvideStream = Found<api::ChannelEntry>;
    type GetLatestChannelEntriesThatProvideStream = Found<api::ChannelEntry>;
    type ListBundlesStream = Found<api::Bundle>;

    async fn list_packages(
        &self,
        _: Request<api::ListPackageRequest>,
    ) -> Result<Response<Self::ListPackagesStream>, Status> {
        let name = |name: &str| Ok(api::PackageName { name: name.to_owned() });
        let names: Self::ListPackagesStream = match self.0 {
            Lie::EndlessPackages => {
                Box::pin(tokio_stream::iter((0..).map(move |n| name(&format!("p{n}")))))
            }
            Lie::TwoPackages => Box::pin(tokio_stream::iter([name("p"), name("p")])),
            _ => Box::pin(tokio_stream::iter([name("p")])),
        };
        Ok(Response::new(names))
    }

    async fn get_package(
        &self,
        _: Request<api::GetPackageRequest>,
    ) -> Result<Response<api::Package>, Status> {
        if self.0 == Lie::HangsBeforeTheAnswer {
            std::future::pending::<()>().await;
        }
        let name = if self.0 == Lie::OtherPackage { "q" } else { "p" };
        let channel = |name: &str| api::Channel {
            name: name.to_owned(),
            csv_name: "p.v1".to_owned(),
            deprecation: None,
        };
        let default = if self.0 == Lie::NoDefault { "x" } else { "c" };
        Ok(Response::new(api::Package {
            name: name.to_owned(),
            channels: vec![channel("c"), channel("d")],
            default_channel_name: default.to_owned(),
            deprecation: None,
        }))
    }

    async fn list_bundles(
        &self,
        _: Request<api::ListBundlesRequest>,
    ) -> Result<Response<Self::ListBundlesStream>, Status> {
        let bundles = self.bundles();
        let sent = tokio_stream::iter(bundles.clone().into_iter().map(Ok));
        let stream: Self::ListBundlesStream = match self.0 {
            Lie::EndlessBundles => Box::pin(tokio_stream::iter(
                (0..).map(|number| Ok(bundle("c", &format!("p.v{number}")))),
            )),
            Lie::HangsInTheStream => Box::pin(sent.take(1).chain(tokio_stream::pending())),
            Lie::EndsWithAnError => {
                let last = tokio_stream::iter([Err(Status::data_loss("the disk is gone"))]);
                Box::pin(sent.chain(last))
            }
            _ => Box::pin(sent),
        };
        Ok(Response::new(stream))
    }

    async fn get_bundle(
        &self,
        _: Request<api::GetBundleRequest>,
    ) -> Result<Response<api::Bundle>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_bundle_for_channel(
        &self,
        _: Request<api::GetBundleInChannelRequest>,
    ) -> Result<Response<api::Bundle>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_channel_entries_that_replace(
        &self,
        _: Request<api::GetAllReplacementsRequest>,
    ) -> Result<Response<Self::GetChannelEntriesThatReplaceStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_bundle_that_replaces(
        &self,
        _: Request<api::GetReplacementRequest>,
    ) -> Result<Response<api::Bundle>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_channel_entries_that_provide(
        &self,
        _: Request<api::GetAllProvidersRequest>,
    ) -> Result<Response<Self::GetChannelEntriesThatProvideStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_latest_channel_entries_that_provide(
        &self,
        _: Request<api::GetLatestProvidersRequest>,
    ) -> Result<Response<Self::GetLatestChannelEntriesThatProvideStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_default_bundle_that_provides(
        &self,
        _: Request<api::GetDefaultProviderRequest>,
    ) -> Result<Response<api::Bundle>, Status> {
        Err(Status::unimplemented(""))
    }
}

fn serve(lie: Lie) -> (Runtime, Address) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let incoming = runtime.block_on(async {
        tonic::transport::server::TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap()
    });
    let address = Address::parse(&incoming.local_addr().unwrap().to_string()).unwrap();
    let served = Server::builder().add_service(RegistryServer::new(Liar(lie)));
    runtime.spawn(served.serve_with_incoming(incoming));
    (runtime, address)
}

#[test]
fn a_registry_that_lies_is_refused_with_its_address_and_what_is_wrong() {
    for (lie, expected) in [
        (Lie::None, Ok(1)),
        (Lie::EndlessPackages, Err("sends more than 1000 packages and bundles")),
        (Lie::EndlessBundles, Err("sends more than 1000 packages and bundles")),
        (Lie::HugeMessage, Err("sends more than 65536 bytes in one message")),
        (Lie::TwoPackages, Err("lists package \"p\" twice")),
        (Lie::OtherPackage, Err("asked for package \"p\", it sends \"q\"")),
        (Lie::OtherChannel, Err("which its packages do not name")),
        (Lie::SameBundleTwice, Err("bundle \"p.v1\" in channel \"c\" of package \"p\" twice")),
        (Lie::BundleChanges, Err("it is not the same as in another channel")),
        (Lie::HeadIsMissing, Err("channel \"d\" of package \"p\" is said to begin with \"p.v1\"")),
        (Lie::NoDefault, Err("package \"p\" has no channel \"x\"")),
        (Lie::PropertyIsNotJson, Err("its property \"x\" is not JSON")),
        (Lie::HangsInTheStream, Err("did not answer `ListBundles` within 0.3 seconds")),
        (Lie::HangsBeforeTheAnswer, Err("did not answer `GetPackage` within 0.3 seconds")),
        (Lie::EndsWithAnError, Err("answered `ListBundles` with DataLoss: the disk is gone")),
    ] {
        let (runtime, address) = serve(lie);
        let client = Client::connect(&address, impatient()).unwrap();
        let fetched = client.fetch_catalog(&mut Vec::new());
        match (fetched, expected) {
            (Ok(fetched), Ok(bundles)) => assert_eq!(fetched.bundles, bundles, "{lie:?}"),
            (Err(error), Err(words)) => {
                let text = error.to_string();
                assert!(text.contains(words), "{lie:?}: {text}");
                assert!(text.contains(&format!("`{address}`")), "{lie:?}: {text}");
            }
            (got, _) => panic!("{lie:?}: {got:?}"),
        }
        runtime.shutdown_background();
    }
}
