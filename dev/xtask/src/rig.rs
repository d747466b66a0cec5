//! `cargo xtask rig`: a real cluster to try things on.
//!
//! What a rig is lives in the room `rig`; here words become calls, and nothing is decided.

use std::{fs, time::Instant};

use anyhow::{Context, anyhow, bail};
use operon_rig::{Component, KUBERNETES_VERSION, Programs, Rig, RigOptions};

use crate::arguments::{Arguments, Known};

const USAGE: &str =
    "usage: cargo xtask rig build|up|down|exec|kubectl|logs|status; `cargo xtask help` says more";

/// The rig that is meant when none is named.
const DEFAULT_NAME: &str = "default";

/// Runs the verb; returns whether everything went well.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<bool> {
    let Some((action, rest)) = arguments.split_first() else {
        bail!("{USAGE}");
    };
    let (rest, inner) = split_at_dashes(rest);
    let switches: &[&str] = match action.as_str() {
        "up" => &["--control-plane", "--durable"],
        "down" => &["--all"],
        _ => &[],
    };
    let arguments = Arguments::parse(rest, &Known { switches, valued: &["--name"] })?;
    let name = arguments.text("--name").unwrap_or(DEFAULT_NAME);
    let words: Vec<&str> = arguments.words.iter().map(String::as_str).collect();
    match (action.as_str(), words.as_slice(), inner) {
        ("build", [], None) => build(),
        ("up", [], None) => up(&RigOptions {
            name: name.to_owned(),
            nodes: !arguments.has("--control-plane"),
            durable: arguments.has("--durable"),
            apiserver_flags: Vec::new(),
        }),
        ("down", [], None) if arguments.has("--all") => down(&Rig::names()?),
        ("down", [], None) => down(&[name.to_owned()]),
        ("exec", [], Some([program, rest @ ..])) => exec(name, program, rest),
        ("kubectl", [], Some(rest)) => exec(name, "kubectl", rest),
        ("logs", [component], None) => logs(name, component),
        ("status", [], None) => status(),
        _ => bail!("{USAGE}"),
    }
}

/// Splits what is for us from what stands behind `--`.
fn split_at_dashes(arguments: &[String]) -> (&[String], Option<&[String]>) {
    match arguments.iter().position(|argument| argument == "--") {
        Some(place) => (&arguments[..place], Some(&arguments[place + 1..])),
        None => (arguments, None),
    }
}

fn ensure_programs() -> anyhow::Result<Programs> {
    Ok(Programs::ensure(&mut |line| println!("{line}"))?)
}

/// Builds what is missing of the programs of a rig.
pub(crate) fn build() -> anyhow::Result<bool> {
    let programs = ensure_programs()?;
    println!("Kubernetes {KUBERNETES_VERSION} is in {}", programs.directory().display());
    Ok(true)
}

fn up(options: &RigOptions) -> anyhow::Result<bool> {
    ensure_programs()?;
    let begun = Instant::now();
    let rig = Rig::up(options)?;
    let took = begun.elapsed();
    let name = rig.name().to_owned();
    rig.leave_running()?;
    println!("the rig `{name}` is up after {took:.1?}");
    println!("hint: cargo xtask rig kubectl --name {name} -- get all --all-namespaces");
    Ok(true)
}

/// Takes down rigs; one that cannot be does not keep the others up.
fn down(names: &[String]) -> anyhow::Result<bool> {
    let mut is_all_down = true;
    for name in names {
        match Rig::down_by_name(name) {
            Ok(true) => println!("the rig `{name}` is down"),
            Ok(false) => println!("there is no rig `{name}`"),
            Err(error) => {
                eprintln!("error: {error}");
                is_all_down = false;
            }
        }
    }
    Ok(is_all_down)
}

fn exec(name: &str, program: &str, arguments: &[String]) -> anyhow::Result<bool> {
    let rig = Rig::find(name)?;
    let status = rig.command(program).args(arguments).status();
    let status = status.with_context(|| format!("cannot run `{program}`"))?;
    Ok(status.success())
}

fn logs(name: &str, component: &str) -> anyhow::Result<bool> {
    let component: Component = component.parse().map_err(|error: String| anyhow!(error))?;
    print!("{}", Rig::find(name)?.logs(component));
    Ok(true)
}

fn status() -> anyhow::Result<bool> {
    let names = Rig::names()?;
    if names.is_empty() {
        println!("there is no rig; cargo xtask rig up");
    }
    for name in names {
        match Rig::find(&name) {
            Ok(rig) => print_status(&rig),
            Err(error) => println!("{name}: {error}"),
        }
    }
    Ok(true)
}

fn print_status(rig: &Rig) {
    let shape = if rig.options().nodes { "a cluster with a node" } else { "a control plane" };
    println!("{}: {shape}, {}", rig.name(), rig.directory().display());
    for component in Component::ALL {
        if let Some(pid) = rig.pid(component) {
            let memory = resident_megabytes(pid);
            println!("  {component:<20} process {pid:<8} {memory:>4} MB");
        }
    }
}

/// Returns how much memory a process has that is its own or shared with its copies.
fn resident_megabytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let arguments: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        run(&arguments).expect_err(text).to_string()
    }

    #[test]
    fn what_cannot_be_meant_is_refused_before_anything_happens() {
        for text in ["", "sideways", "exec", "exec --", "logs", "up now", "down -- all"] {
            assert!(refusal(text).contains("usage: cargo xtask rig"), "{text}");
        }
        let error = refusal("up --all");
        assert!(error.contains("unknown option `--all`"), "{error}");
        let error = refusal("logs --name nowhere kernel");
        assert!(error.contains("there is no component `kernel`"), "{error}");
        let error = refusal("exec --name ../etc -- true");
        assert!(error.contains("is no name for a rig"), "{error}");
    }

    #[test]
    fn what_stands_behind_the_dashes_is_not_ours() {
        let arguments = ["--name", "a", "--", "get", "--", "-n", "b"].map(str::to_owned);
        let (ours, inner) = split_at_dashes(&arguments);
        assert_eq!(ours, ["--name", "a"]);
        assert_eq!(inner.expect("there are dashes"), ["get", "--", "-n", "b"]);
    }
}
