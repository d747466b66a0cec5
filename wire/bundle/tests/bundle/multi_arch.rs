//! What a bundle promises to run on, and what its images are made for.

use std::collections::BTreeSet;

use operon_bundle::{
    ImagePlatform, ImagePlatforms, OptionalValidator, ValidationOptions, platform_images,
    read_bundle,
};

use crate::fixture::{CSV, CSV_PATH, describe_validation, files};

const INIT: &str = "example.com/init@sha256:aa";
const MAIN: &str = "example.com/kiosk:1.2.0";
const ARM: &str = "    operatorframework.io/arch.arm64: supported\n";
const AMD: &str = "    operatorframework.io/arch.amd64: supported\n";

/// Makes what is known of images from lines such as `linux/amd64 linux/arm64`, or `! why it is not known`.
fn platforms(images: &[(&str, &str)]) -> ImagePlatforms {
    let read = |text: &str| match text.strip_prefix("! ") {
        Some(reason) => Err(reason.to_owned()),
        None => Ok(text
            .split_whitespace()
            .map(|platform| {
                let (os, architecture) = platform.split_once('/').expect("a platform");
                ImagePlatform { os: os.to_owned(), architecture: architecture.to_owned() }
            })
            .collect::<BTreeSet<_>>()),
    };
    images.iter().map(|(image, text)| ((*image).to_owned(), read(text))).collect()
}

/// Validates the small bundle with these labels, these lines in the spec of its pods, and these images.
fn found(labels: &str, pod: &str, init: &str, main: &str) -> String {
    let labels = if labels.is_empty() { String::new() } else { format!("  labels:\n{labels}") };
    let csv = CSV
        .replace("  annotations:\n", &format!("{labels}  annotations:\n"))
        .replace("              containers:\n", &format!("{pod}              containers:\n"));
    let options = ValidationOptions {
        optional: [OptionalValidator::MultiArch].into(),
        image_platforms: Some(platforms(&[(INIT, init), (MAIN, main)])),
        ..ValidationOptions::default()
    };
    let said = describe_validation(&[(CSV_PATH, &csv)], &options);
    let lines = said.lines().filter(|line| line.contains("multiarch-"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The lines of a pod that wants nodes of these architectures.
fn affinity(expressions: &str) -> String {
    format!(
        "              affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: \
         {{nodeSelectorTerms: [{{matchExpressions: [{expressions}]}}]}}}}}}\n"
    )
}

fn wants(operator: &str, architectures: &str) -> String {
    affinity(&format!(
        "{{key: kubernetes.io/arch, operator: {operator}, values: [{architectures}]}}"
    ))
}

#[test]
fn the_images_that_are_asked_for_are_those_of_deployments_and_the_related_ones() {
    let csv = CSV.replace("  relatedImages:\n", "  relatedImages:\n  - {image: example.com/a:1}\n");
    let source = read_bundle(&files(&[(CSV_PATH, &csv)])).bundle.unwrap();
    assert_eq!(Vec::from_iter(platform_images(&source)), ["example.com/a:1", INIT, MAIN]);
}

#[test]
fn promises_are_compared_with_images() {
    let both = "linux/amd64 linux/arm64";
    let here = wants("In", "amd64");
    let cases = [
        // Without labels, linux/amd64 is promised.
        ("", here.as_str(), "linux/amd64", "linux/amd64"),
        ("", &here, "linux/arm64", "linux/amd64"),
        // A label for another architecture takes that promise back.
        (ARM, &wants("In", "arm64"), both, "linux/arm64"),
        (&format!("{AMD}{ARM}"), &wants("In", "amd64, arm64"), "linux/amd64", both),
        ("    operatorframework.io/os.windows: supported\n", "", "linux/amd64", "windows/amd64"),
        // A value that nobody reads.
        ("    operatorframework.io/arch.amd64: 'true'\n", &here, "linux/amd64", "linux/amd64"),
        // What all images can do should be promised; one that is not known says nothing.
        ("", &here, both, both),
        ("", &here, both, "! the registry is closed"),
    ];
    let told: Vec<String> =
        cases.iter().map(|(labels, pod, init, main)| found(labels, pod, init, main)).collect();
    insta::assert_snapshot!(told.join("--\n"), @"
    --
    error multiarch-platform-missing [example.com/init@sha256:aa] the image `example.com/init@sha256:aa` is not made for `linux/amd64`, which the bundle promises
    --
    --
    error multiarch-platform-missing [example.com/init@sha256:aa] the image `example.com/init@sha256:aa` is not made for `linux/arm64`, which the bundle promises
    --
    advice multiarch-placement-unsaid [kiosk] the deployment `kiosk` does not say on which architectures its pods run
    error multiarch-platform-missing [example.com/init@sha256:aa] the image `example.com/init@sha256:aa` is not made for `windows/amd64`, which the bundle promises
    --
    warning multiarch-label-ignored ['true'] the label `operatorframework.io/arch.amd64` says `true`, so it promises nothing
    --
    warning multiarch-label-missing [metadata] all images are made for `linux/amd64` and `linux/arm64`, but the labels do not promise all of it
    --
    warning multiarch-image-unknown [example.com/kiosk:1.2.0] what the image `example.com/kiosk:1.2.0` is made for is not known: the registry is closed
    ");
}

#[test]
fn promises_are_compared_with_nodes() {
    let both = "linux/amd64 linux/arm64";
    let labels = format!("{AMD}{ARM}");
    let selector = "              nodeSelector: {kubernetes.io/arch: amd64, disk: fast}\n";
    let system = affinity("{key: kubernetes.io/os, operator: In, values: [linux]}");
    let cases = [
        (labels.as_str(), wants("In", "amd64, arm64"), both),
        (&labels, wants("NotIn", "s390x"), both),
        (&labels, wants("Exists", ""), both),
        // A promise that the deployment does not keep.
        (&labels, wants("In", "amd64"), both),
        (&labels, wants("NotIn", "arm64"), both),
        (&labels, selector.to_owned(), both),
        // Nodes on which an image does not run.
        (AMD, wants("In", "amd64, s390x"), "linux/amd64"),
        // Nothing about architectures.
        (AMD, system, "linux/amd64"),
    ];
    let told: Vec<String> = cases
        .iter()
        .map(|(labels, pod, made_for)| found(labels, pod, made_for, made_for))
        .collect();
    insta::assert_snapshot!(told.join("--\n"), @"
    --
    --
    --
    warning multiarch-placement-excludes [kiosk] the deployment `kiosk` keeps its pods off `linux/arm64`, which the bundle promises
    --
    warning multiarch-placement-excludes [kiosk] the deployment `kiosk` keeps its pods off `linux/arm64`, which the bundle promises
    --
    warning multiarch-placement-excludes [kiosk] the deployment `kiosk` keeps its pods off `linux/arm64`, which the bundle promises
    --
    warning multiarch-placement-admits [kiosk] the deployment `kiosk` lets its pods run on `linux/s390x`, for which its image `example.com/init@sha256:aa` is not made
    --
    advice multiarch-placement-unsaid [kiosk] the deployment `kiosk` does not say on which architectures its pods run
    ");
}
