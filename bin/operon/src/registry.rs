//! `operon registry query`: questions to a server of catalogs, in the words of its API.
//!
//! Works with every server that speaks the registry API; what it answers is printed and not judged.

mod answer;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use operon_registry::{
    Address, Client, ClientError, ClientOptions, Health,
    api::{
        GetAllProvidersRequest, GetBundleInChannelRequest, GetBundleRequest,
        GetDefaultProviderRequest, GetLatestProvidersRequest, GetReplacementRequest,
    },
};

use self::answer::Answer;
use crate::{
    exit::Outcome,
    output::{Format, Json, OutputOptions, clean, print},
};

#[derive(Debug, Subcommand)]
pub(crate) enum RegistryCommand {
    Query(Query),
}

/// Asks a server of catalogs
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 answered, 1 the server cannot be reached or says no

Examples:
  operon registry query localhost:50051 packages
  operon registry query localhost:50051 package etcd
  operon registry query localhost:50051 bundle etcd stable etcd.v0.9.4 -o yaml
  operon registry query catalog.olm.svc:50051 health")]
pub(crate) struct Query {
    /// The server: HOST:PORT, grpc://HOST:PORT or unix:///PATH
    address: Address,
    #[command(subcommand)]
    question: Question,
    #[command(flatten)]
    output: OutputOptions,
}

/// A call of the API.
#[derive(Debug, Subcommand)]
enum Question {
    /// Whether it serves (grpc.health.v1 Check)
    Health {
        /// The service that is asked about
        #[arg(default_value = "")]
        service: String,
    },
    /// The names of all packages (ListPackages)
    Packages,
    /// A package with its channels (GetPackage)
    Package { name: String },
    /// All bundles in all channels (ListBundles)
    Bundles,
    /// A bundle in a channel (GetBundle)
    Bundle { package: String, channel: String, name: String },
    /// The head of a channel (GetBundleForChannel)
    Head { package: String, channel: String },
    /// The bundle that replaces another in a channel (GetBundleThatReplaces)
    Replacement { name: String, package: String, channel: String },
    /// All entries that replace a bundle (GetChannelEntriesThatReplace)
    Replacements { name: String },
    /// All entries that provide an API (GetChannelEntriesThatProvide)
    Providers(Api),
    /// The heads of channels that provide an API (GetLatestChannelEntriesThatProvide)
    LatestProviders(Api),
    /// The bundle of a default channel that provides an API (GetDefaultBundleThatProvides)
    DefaultProvider(Api),
}

/// An API as three words.
#[derive(Debug, Args)]
struct Api {
    group: String,
    // `version` would be the name of an option that every command has.
    #[arg(id = "api-version", value_name = "VERSION")]
    version: String,
    kind: String,
}

pub(crate) fn run(command: &RegistryCommand) -> anyhow::Result<Outcome> {
    let RegistryCommand::Query(query) = command;
    let client = Client::connect(&query.address, ClientOptions::of_environment())?;
    let format = query.output.output;
    // The error can quote the server, which must not break lines of ours.
    let cleaned = |error: ClientError| anyhow!(clean(&error.to_string()));
    if let Question::Health { service } = &query.question {
        return health(client.health(service).map_err(cleaned)?, format);
    }
    let answer = ask(&client, &query.question).map_err(cleaned)?;
    print(format, || answer.table(), || answer.json())?;
    Ok(Outcome::Done)
}

fn health(health: Health, format: Format) -> anyhow::Result<Outcome> {
    let word = match health {
        Health::Serving => "SERVING",
        Health::NotServing => "NOT_SERVING",
        Health::Unknown => "UNKNOWN",
    };
    print(format, || format!("{word}\n"), || Json::Object(vec![("status", Json::text(word))]))?;
    Ok(if health == Health::Serving { Outcome::Done } else { Outcome::Negative })
}

fn ask(client: &Client, question: &Question) -> Result<Answer, ClientError> {
    let text = String::clone;
    Ok(match question {
        Question::Health { .. } | Question::Packages => {
            let names: Result<Vec<_>, _> = client.list_packages()?.collect();
            Answer::Names(names?.into_iter().map(|package| package.name).collect())
        }
        Question::Package { name } => Answer::Package(client.get_package(name)?),
        Question::Bundles => Answer::Bundles(client.list_bundles()?.collect::<Result<_, _>>()?),
        Question::Bundle { package, channel, name } => {
            Answer::Bundle(Box::new(client.get_bundle(&GetBundleRequest {
                pkg_name: text(package),
                channel_name: text(channel),
                csv_name: text(name),
            })?))
        }
        Question::Head { package, channel } => {
            Answer::Bundle(Box::new(client.get_bundle_for_channel(&GetBundleInChannelRequest {
                pkg_name: text(package),
                channel_name: text(channel),
            })?))
        }
        Question::Replacement { name, package, channel } => {
            Answer::Bundle(Box::new(client.get_bundle_that_replaces(&GetReplacementRequest {
                csv_name: text(name),
                pkg_name: text(package),
                channel_name: text(channel),
            })?))
        }
        Question::Replacements { name } => {
            let entries = client.get_channel_entries_that_replace(name)?;
            Answer::Entries(entries.collect::<Result<_, _>>()?)
        }
        Question::Providers(Api { group, version, kind }) => {
            let entries = client.get_channel_entries_that_provide(&GetAllProvidersRequest {
                group: text(group),
                version: text(version),
                kind: text(kind),
                plural: String::new(),
            })?;
            Answer::Entries(entries.collect::<Result<_, _>>()?)
        }
        Question::LatestProviders(Api { group, version, kind }) => {
            let entries =
                client.get_latest_channel_entries_that_provide(&GetLatestProvidersRequest {
                    group: text(group),
                    version: text(version),
                    kind: text(kind),
                    plural: String::new(),
                })?;
            Answer::Entries(entries.collect::<Result<_, _>>()?)
        }
        Question::DefaultProvider(Api { group, version, kind }) => Answer::Bundle(Box::new(
            client.get_default_bundle_that_provides(&GetDefaultProviderRequest {
                group: text(group),
                version: text(version),
                kind: text(kind),
                plural: String::new(),
            })?,
        )),
    })
}
