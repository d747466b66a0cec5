//! `operon cache …`: what was fetched and read before, and making room.
//!
//! Everything in the cache can be fetched or made again; what a running program uses is left alone.

mod age;

use std::{
    path::PathBuf,
    time::{Duration, SystemTime},
};

use anyhow::Context;
use clap::{Args, Subcommand};
use indicatif::HumanBytes;
use operon_image::{
    CacheDirectory, CacheEntry, EntryKind, PruneWish, Pruned, cache_limit, parse_cache_limit,
};
use operon_object::Timestamp;

use self::age::{age, parse_age};
use crate::{
    catalog::cells::{counted, short_image, shorten_middle},
    exit::Outcome,
    output::{Json, OutputOptions, Table, print},
};

/// The widest reference that a table shows whole.
const REFERENCE_COLUMNS: usize = 60;
/// How many digits of a digest a table shows.
const DIGEST_DIGITS: usize = 12;

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    #[command(alias = "list")]
    Ls(List),
    Prune(Prune),
}

/// Where the cache is.
#[derive(Debug, Args)]
struct CachePlace {
    /// The directory of the cache [default: `OPERON_CACHE_DIR`, or below the user's cache directory]
    #[arg(long, value_name = "DIR")]
    cache_dir: Option<PathBuf>,
}

/// Lists what the cache holds, what was used last first
///
/// Kept are the files of catalog and bundle images by digest, the manifests that name them, the
/// documents that servers gave, and snapshots of catalogs that were read.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done, 1 there is no cache directory

Examples:
  operon cache ls
  operon cache ls -o json")]
pub(crate) struct List {
    #[command(flatten)]
    place: CachePlace,
    #[command(flatten)]
    output: OutputOptions,
}

/// Removes what was used longest ago, until the cache is no larger than its limit
///
/// What a running program uses stays. Everything that is removed is fetched or made again when it is
/// needed.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 done, 1 something cannot be removed

Examples:
  operon cache prune
  operon cache prune --older-than 7d
  operon cache prune --limit 2GiB
  operon cache prune --all")]
pub(crate) struct Prune {
    #[command(flatten)]
    place: CachePlace,
    /// Removes everything
    #[arg(long, conflicts_with_all = ["older_than", "limit"])]
    all: bool,
    /// Removes what was not used for so long: 12h, 7d, 2w
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    older_than: Option<Duration>,
    /// How much may stay [default: `OPERON_CACHE_LIMIT` or 10GiB; without one where `--older-than` is
    /// given]
    #[arg(long, value_name = "SIZE", value_parser = parse_cache_limit)]
    limit: Option<u64>,
    #[command(flatten)]
    output: OutputOptions,
}

pub(crate) fn run(command: &CacheCommand) -> anyhow::Result<Outcome> {
    match command {
        CacheCommand::Ls(command) => list(command)?,
        CacheCommand::Prune(command) => prune(command)?,
    }
    Ok(Outcome::Done)
}

impl CachePlace {
    fn cache(&self) -> anyhow::Result<CacheDirectory> {
        self.cache_dir.as_ref().map(CacheDirectory::at).or_else(CacheDirectory::of_user).context(
            "there is no cache directory: neither `OPERON_CACHE_DIR` nor `HOME` is set\n\
             hint: name it with `--cache-dir`",
        )
    }
}

fn list(command: &List) -> anyhow::Result<()> {
    let entries = command.place.cache()?.entries();
    let now = SystemTime::now();
    print(
        command.output.output,
        || table(&entries, now),
        || {
            Json::Object(vec![
                ("totalBytes", Json::number(bytes(&entries))),
                ("entries", Json::list(entries.iter().map(json))),
            ])
        },
    )?;
    Ok(())
}

fn prune(command: &Prune) -> anyhow::Result<()> {
    let cache = command.place.cache()?;
    let limit = match (command.all, command.limit, command.older_than) {
        (true, _, _) => Some(0),
        (false, Some(limit), _) => Some(limit),
        (false, None, Some(_)) => None,
        (false, None, None) => Some(cache_limit()?),
    };
    let wish = PruneWish { limit, unused_for: command.older_than };
    let pruned = cache.prune_by(wish, SystemTime::now())?;
    print(
        command.output.output,
        || told(&pruned),
        || {
            Json::Object(vec![
                ("removedBytes", Json::number(bytes(&pruned.removed))),
                ("leftBytes", Json::number(pruned.left_bytes)),
                ("removed", Json::list(pruned.removed.iter().map(json))),
                ("inUse", Json::list(pruned.in_use.iter().map(json))),
            ])
        },
    )?;
    Ok(())
}

fn bytes(entries: &[CacheEntry]) -> u64 {
    entries.iter().map(|entry| entry.size).sum()
}

fn table(entries: &[CacheEntry], now: SystemTime) -> String {
    let mut table = Table::new(&["KIND", "SIZE", "USED", "DIGEST", "REFERENCE"]);
    // Manifests and configurations are many and small; a line for each would hide the rest.
    let (documents, others): (Vec<&CacheEntry>, Vec<&CacheEntry>) =
        entries.iter().partition(|entry| entry.kind == EntryKind::Document);
    for entry in others {
        table.row([
            entry.kind.name().to_owned(),
            HumanBytes(entry.size).to_string(),
            age(now.duration_since(entry.last_used).unwrap_or_default()),
            short_digest(&entry.digest),
            shorten_middle(&short_image(&entry.reference), REFERENCE_COLUMNS),
        ]);
    }
    let documents = match documents.as_slice() {
        [] => String::new(),
        documents => {
            let size = HumanBytes(documents.iter().map(|entry| entry.size).sum());
            format!(" with {} of {size}", counted(documents.len(), "document"))
        }
    };
    let total = HumanBytes(bytes(entries));
    format!("{}{total} in {}{documents}\n", table.render(), things(entries.len()))
}

fn told(pruned: &Pruned) -> String {
    let mut text = format!(
        "removed {} of {}; {} left\n",
        things(pruned.removed.len()),
        HumanBytes(bytes(&pruned.removed)),
        HumanBytes(pruned.left_bytes)
    );
    if !pruned.in_use.is_empty() {
        text += &format!(
            "{} of {} stay: a running program uses them\n",
            things(pruned.in_use.len()),
            HumanBytes(bytes(&pruned.in_use))
        );
    }
    text
}

fn things(count: usize) -> String {
    format!("{count} {}", if count == 1 { "entry" } else { "entries" })
}

fn short_digest(digest: &str) -> String {
    let hex = digest.rsplit(':').next().unwrap_or_default();
    hex.chars().take(DIGEST_DIGITS).collect()
}

fn json(entry: &CacheEntry) -> Json {
    let since = entry.last_used.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let milliseconds = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    Json::Object(vec![
        ("kind", Json::text(entry.kind.name())),
        ("digest", Json::text(&entry.digest)),
        ("reference", Json::text(&entry.reference)),
        ("bytes", Json::number(entry.size)),
        ("lastUsed", Json::text(Timestamp::from_milliseconds(milliseconds).to_string())),
    ])
}
