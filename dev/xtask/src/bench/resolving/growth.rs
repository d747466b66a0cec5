//! Fifty Subscriptions on generated catalogs of growing size, up to a million bundles.
//!
//! The catalogs have no bodies: a resolution does not look at them, and a million would not fit.

use std::{fs, path::Path, time::Duration};

use serde_json::{Value, json};

use super::{
    ask::{Rules, ask_cold, cold_command},
    repeat,
};
use crate::{
    bench::{
        catalogs::{SEED, bytes_below, make_once},
        measure::{self, Measured},
        scenario::Program,
    },
    generate::{CatalogOptions, Subject, counts_at, subjects, write_slim_catalog},
};

/// Times the community catalog.
pub(crate) const GROWING_SCALES: [u32; 3] = [1, 4, 16];

/// At this scale there are a million bundles; reading them takes minutes.
pub(crate) const MILLION_SCALE: u32 = 133;

/// How many Subscriptions are resolved.
const SUBSCRIPTIONS: usize = 50;

/// The figures of one size.
#[derive(Debug)]
pub(crate) struct GrowthRow {
    pub(crate) scale: u32,
    pub(crate) packages: usize,
    pub(crate) bundles: usize,
    pub(crate) bytes: u64,
    /// Reading the whole catalog, once.
    pub(crate) opening_cold: Duration,
    /// The most memory at once while it is read and resolved on.
    pub(crate) peak_kibibytes: Option<u64>,
    /// Opening the snapshot.
    pub(crate) opening_warm: Duration,
    /// Resolving by upstream's rules.
    pub(crate) upstream: Measured,
    /// Resolving by the documented rules, in the middle.
    pub(crate) documented: Duration,
    pub(crate) outcome: String,
    pub(crate) operators: usize,
}

/// Generates the catalogs that are not there yet, and measures on all of them.
pub(crate) fn measure(
    program: &Program,
    scratch: &Path,
    scales: &[u32],
    runs: usize,
) -> anyhow::Result<Vec<GrowthRow>> {
    fs::create_dir_all(scratch)?;
    for &scale in scales {
        make_once(&scratch.join(catalog_name(scale)), |new| {
            eprintln!("generating the catalog without bodies at scale {scale}");
            write_slim_catalog(new, &options(scale)).map(|_| ())
        })?;
    }
    program.forget_snapshots()?;
    scales.iter().map(|&scale| measure_scale(program, scratch, scale, runs)).collect()
}

fn measure_scale(
    program: &Program,
    scratch: &Path,
    scale: u32,
    runs: usize,
) -> anyhow::Result<GrowthRow> {
    eprintln!("  {SUBSCRIPTIONS} Subscriptions at scale {scale}");
    let catalog = scratch.join(catalog_name(scale));
    let case = scratch.join(format!("growth-{SEED}-{scale}"));
    fs::create_dir_all(&case)?;
    fs::write(case.join("case.json"), settings(&catalog).to_string())?;
    let cluster = cluster(&subjects(&options(scale), SUBSCRIPTIONS));
    fs::write(case.join("cluster.json"), cluster.to_string())?;

    let cold = ask_cold(program, &case)?;
    let peak_kibibytes = measure::peak_memory(&cold_command(program, &case), scratch)?;
    let (warm, upstream) = repeat(program, &case, Rules::Upstream, runs)?;
    let (_, documented) = repeat(program, &case, Rules::Documented, runs)?;
    let (packages, bundles) = counts_at(f64::from(scale));
    Ok(GrowthRow {
        scale,
        packages,
        bundles,
        bytes: bytes_below(&catalog)?,
        opening_cold: cold.opening,
        peak_kibibytes,
        opening_warm: warm.opening,
        upstream,
        documented: documented.median(),
        outcome: warm.outcome,
        operators: warm.operators,
    })
}

fn options(scale: u32) -> CatalogOptions {
    CatalogOptions { seed: SEED, scale: f64::from(scale) }
}

fn catalog_name(scale: u32) -> String {
    format!("slim-{SEED}-{scale}")
}

fn settings(catalog: &Path) -> Value {
    json!({
        "namespace": "operators",
        "globalCatalogNamespace": "olm",
        "catalogDirs": { "olm/generated": catalog.to_string_lossy() },
    })
}

/// One namespace that subscribes to the subjects and has nothing installed.
fn cluster(subjects: &[Subject]) -> Value {
    let subscriptions = subjects.iter().map(|Subject { package, channel }| {
        json!({
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "Subscription",
            "metadata": { "name": package, "namespace": "operators" },
            "spec": {
                "name": package,
                "channel": channel,
                "source": "generated",
                "sourceNamespace": "olm",
            },
        })
    });
    let mut items = vec![
        json!({
            "apiVersion": "operators.coreos.com/v1alpha1",
            "kind": "CatalogSource",
            "metadata": { "name": "generated", "namespace": "olm" },
            "spec": { "sourceType": "grpc" },
        }),
        json!({
            "apiVersion": "operators.coreos.com/v1",
            "kind": "OperatorGroup",
            "metadata": { "name": "group", "namespace": "operators" },
            "spec": {},
        }),
    ];
    items.extend(subscriptions);
    json!({ "apiVersion": "v1", "kind": "List", "items": items })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_million_is_one() {
        assert!(counts_at(f64::from(MILLION_SCALE)).1 >= 1_000_000);
        assert!(counts_at(f64::from(MILLION_SCALE - 1)).1 < 1_000_000);
    }

    #[test]
    fn a_cluster_subscribes_to_every_subject() {
        let subject = Subject { package: "a".to_owned(), channel: "stable".to_owned() };
        let cluster = cluster(&[subject]);
        let kinds: Vec<&str> = cluster["items"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|item| item["kind"].as_str())
            .collect();
        assert_eq!(kinds, ["CatalogSource", "OperatorGroup", "Subscription"]);
        assert_eq!(cluster["items"][2]["spec"]["channel"], "stable");
        let source = &cluster["items"][2]["spec"];
        let named = format!("{}/{}", source["sourceNamespace"], source["source"]).replace('"', "");
        assert!(settings(Path::new("/c"))["catalogDirs"].get(named).is_some());
    }
}
