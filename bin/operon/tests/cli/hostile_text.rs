//! Whatever catalogs, bundles and clusters say, it neither drives the terminal nor forges a line.
//!
//! Every command that prints such text runs on input whose names and texts are hostile. The list of
//! commands comes from the program's own help: a new command must be added here, or be exempt.

mod commands;
mod fixture;

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command, Output},
};

use operon_document::{
    is_unprintable, starts_workflow_command,
    yaml::{YamlOptions, to_json},
};
use operon_object::Value;

use self::{
    commands::{CLUSTER, Case, EXEMPT, OFFLINE, REFUSALS, REGISTRY, SERVER},
    fixture::{FORGED, HOSTILE, STYLE, Variant, hostile_cluster, hostile_directory},
};
use crate::harbour::Following;

/// Runs the program in a directory; with colours, as on a terminal, or without.
fn operon(directory: &Path, arguments: &[String], has_colour: bool) -> Output {
    command(directory, arguments, has_colour).output().expect("operon runs")
}

fn command(directory: &Path, arguments: &[String], has_colour: bool) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_operon"));
    command
        .args(arguments)
        .current_dir(directory)
        .env("OPERON_CACHE_DIR", directory.join(".cache"))
        .env("TERM", "xterm")
        .env("HOME", "/nonexistent")
        .env_remove("KUBECONFIG")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE");
    if has_colour {
        command.env("CLICOLOR_FORCE", "1");
    }
    command
}

/// Splits the arguments of a case at blanks and puts the hostile text where they ask for it.
fn arguments(text: &str, variant: Variant) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(|word| variant.raw(word)).collect()
}

/// Runs cases and lists everything that is wrong with what they print.
fn run_cases(directory: &Path, cases: &[Case], variant: Variant) {
    let mut faults = Vec::new();
    for case in cases {
        let plain = arguments(&case.arguments, variant);
        let output = operon(directory, &plain, false);
        let shown = format!("{variant:?}: operon {}", case.arguments);
        let [printed, reported] = texts(&output);
        if printed.is_empty() && reported.is_empty() {
            faults.push(format!("{shown} prints nothing"));
        }
        faults.extend(fault(&printed, &shown));
        faults.extend(fault(&reported, &format!("{shown} (standard error)")));
        for text in texts(&operon(directory, &plain, true)) {
            if text.contains(STYLE) {
                faults.push(format!("{shown} passes foreign colours: {text:?}"));
            }
            faults.extend(fault(&without_styles(&text), &format!("{shown} (with colours)")));
        }
        for format in case.formats {
            let all = [&plain[..], &arguments(format, variant)].concat();
            let [printed, reported] = texts(&operon(directory, &all, false));
            let shown = format!("{shown} {format}");
            faults.extend(fault(&reported, &format!("{shown} (standard error)")));
            if let Err(reason) = check_machine_format(&printed, format, case.keeps_text) {
                let around: String = printed.chars().take(1000).collect();
                faults.push(format!("{shown}: {reason} in\n{around}\n{reported}"));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n---\n"));
}

fn texts(output: &Output) -> [String; 2] {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8(text.clone()).expect("UTF-8"))
}

/// Says why a text is not harmless on a terminal, in a pipe, or in the log of a CI system.
fn fault(text: &str, shown: &str) -> Option<String> {
    let line = |is_wrong: &dyn Fn(&str) -> bool| text.lines().position(is_wrong);
    let found = unprintable(text).map(|reason| (reason, 0)).or_else(|| {
        let forged = line(&|line| line.trim_start().starts_with(FORGED));
        let github = line(&|line| starts_workflow_command(line.trim_start()));
        let azure = line(&|line| line.contains("##vso["));
        let found = forged.map(|at| ("a forged line", at));
        let found = found.or(github.map(|at| ("a command for GitHub", at)));
        let found = found.or(azure.map(|at| ("a command for Azure Pipelines", at)));
        found.map(|(reason, at)| (reason.to_owned(), at))
    });
    found.map(|(reason, at)| {
        let lines: Vec<&str> = text.lines().skip(at.saturating_sub(2)).take(5).collect();
        format!("{shown}: {reason} in line {}:\n{}", at + 1, lines.join("\n"))
    })
}

fn unprintable(text: &str) -> Option<String> {
    let is_forbidden =
        |character: char| !matches!(character, '\n' | '\t') && is_unprintable(character);
    let at = text.find(is_forbidden)?;
    let around: String =
        text[text.floor_char_boundary(at.saturating_sub(60))..].chars().take(100).collect();
    Some(format!("{:?} in {around:?}", text[at..].chars().next()))
}

/// Checks that an answer for programs can be read, and that nothing of it is lost.
fn check_machine_format(text: &str, format: &str, keeps_text: bool) -> Result<(), String> {
    if let Some(reason) = unprintable(text) {
        return Err(reason);
    }
    if format.contains("github") {
        let is_own = |line: &str| {
            ["::error ", "::warning ", "::notice "].iter().any(|own| line.starts_with(own))
        };
        let is_harmless = !text.is_empty() && text.lines().all(is_own);
        return if is_harmless { Ok(()) } else { Err("a line of another kind".to_owned()) };
    }
    let json = if format.contains("yaml") {
        if text.lines().any(|line| starts_workflow_command(line.trim_start())) {
            return Err("a command for GitHub".to_owned());
        }
        let text = text.strip_prefix("---\n").unwrap_or(text);
        let converted = to_json(text.as_bytes(), &YamlOptions::default());
        let json = converted.map_err(|error| error.to_string())?.json;
        String::from_utf8(json).map_err(|error| error.to_string())?
    } else {
        text.to_owned()
    };
    // Documents of catalogs stand behind each other; the first is enough.
    let first = match json.split_once("\n}\n") {
        Some((first, rest)) if !rest.is_empty() => format!("{first}\n}}"),
        Some(_) | None => json,
    };
    let value = Value::parse_json(&first).map_err(|error| error.to_string())?;
    let is_kept = !keeps_text || holds(&value, HOSTILE);
    if is_kept { Ok(()) } else { Err("a hostile text was lost".to_owned()) }
}

/// Returns `true` if a text of the value holds another.
fn holds(value: &Value, wanted: &str) -> bool {
    match value {
        Value::Text(text) => text.contains(wanted),
        Value::List(elements) => elements.iter().any(|element| holds(element, wanted)),
        Value::Map(map) => {
            map.iter().any(|(key, value)| key.contains(wanted) || holds(value, wanted))
        }
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) => false,
    }
}

/// Takes colours out, and nothing else.
fn without_styles(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        let length =
            behind.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
        rest = match behind[length..].strip_prefix('m') {
            Some(rest) => rest,
            None => {
                plain.push_str("\u{1b}[");
                behind
            }
        };
    }
    plain + rest
}

#[test]
fn hostile_catalogs_and_bundles_print_harmlessly() {
    for variant in [Variant::Texts, Variant::Names] {
        let directory = hostile_directory(variant);
        run_cases(directory.path(), OFFLINE, variant);
    }
}

#[test]
fn hostile_clusters_print_harmlessly() {
    let directory = hostile_cluster();
    run_cases(directory.path(), CLUSTER, Variant::Texts);
}

/// The server passes on what its catalog says: a registry of another author does the same.
#[test]
fn hostile_registries_print_harmlessly() {
    // Operon's server leaves out packages with hostile names, and says so.
    for (variant, catalog, cases) in [
        (Variant::Texts, "served", REGISTRY),
        (Variant::Texts, "catalog", REFUSALS),
        (Variant::Names, "catalog", REFUSALS),
        (Variant::Names, "broken", REFUSALS),
    ] {
        let directory = hostile_directory(variant);
        let serve = ["serve", catalog, "--address", "127.0.0.1:0"].map(str::to_owned);
        let mut serve = command(directory.path(), &serve, false);
        let serving = Following::begin(&mut serve, directory.path().join("log"));
        serving.wait_for("\nserving ", 1);
        let log = serving.log();
        assert_eq!(fault(&log, &format!("{variant:?}: operon serve {catalog}")), None);
        let (_, address) = log.split_once("listening at ").expect("it listens");
        let address = address.lines().next().expect("an address");
        let cases: Vec<Case> = cases.iter().map(|case| case.at(address)).collect();
        run_cases(directory.path(), &cases, variant);
        assert_eq!(serving.interrupt(), 0);
    }
}

#[test]
fn hostile_arguments_are_reported_harmlessly() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let cases = [
        vec![HOSTILE.to_owned()],
        vec!["catalog".to_owned(), HOSTILE.to_owned()],
        vec!["catalog".to_owned(), "validate".to_owned(), HOSTILE.to_owned()],
        vec!["get".to_owned(), "csv".to_owned(), format!("--output={HOSTILE}")],
    ];
    for arguments in cases {
        let output = operon(directory.path(), &arguments, false);
        assert!(!output.status.success());
        // What a user types may break lines of the message; it is no command and drives nothing.
        let text = texts(&output)[1].replace(FORGED, "");
        assert_eq!(fault(&text, &format!("{arguments:?}")), None);
    }
}

#[test]
fn every_command_is_tested_or_exempt() {
    let mut commands = BTreeSet::new();
    let mut parents = vec![Vec::<String>::new()];
    while let Some(parent) = parents.pop() {
        let help = operon(Path::new("."), &[&parent[..], &["--help".to_owned()]].concat(), false);
        let [help, _] = texts(&help);
        let listed = help.split_once("\nCommands:\n").map_or("", |(_, listed)| listed);
        let names: Vec<&str> = listed
            .lines()
            .take_while(|line| !line.is_empty())
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help")
            .collect();
        if names.is_empty() {
            commands.insert(parent.join(" "));
        }
        parents.extend(names.iter().map(|name| [&parent[..], &[(*name).to_owned()]].concat()));
    }
    assert!(commands.len() > 40, "{commands:?}");
    let begins_with = |text: &str, words: &str| {
        text.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let is_tested = |command: &str| {
        let mut cases = OFFLINE.iter().chain(CLUSTER).chain(REGISTRY);
        cases.any(|case| begins_with(&case.arguments.replace(&format!(" {SERVER}"), ""), command))
    };
    let is_exempt = |command: &str| EXEMPT.iter().any(|(exempt, _)| begins_with(command, exempt));
    let missing: Vec<&String> =
        commands.iter().filter(|command| is_tested(command) == is_exempt(command)).collect();
    assert!(
        missing.is_empty(),
        "these need a case in `OFFLINE`, `CLUSTER` or `REGISTRY`, or a reason in `EXEMPT`: {missing:#?}"
    );
    for (exempt, _) in EXEMPT {
        let exists = commands.iter().any(|command| begins_with(command, exempt));
        assert!(exists, "`operon {exempt}` is exempt and does not exist");
    }
}
