//! People who may read some things, and commands that only look.

use operon_object::known;
use operon_proof::{
    Installation,
    shelf::{group, subscription},
};

use crate::{
    Verdict,
    operators::{Operator, publish},
};

/// The namespace that they look at.
const PLACE: &str = "reading";

/// How a command ended, and what it said.
struct Said {
    code: Option<i32>,
    output: String,
    error: String,
}

/// Lets a user, or else who may do everything, run a command that only looks.
fn ask(operon: &Installation<'_>, user: Option<&str>, arguments: &[&str]) -> Result<Said, String> {
    let rig = operon.rig();
    let file = user.map_or_else(|| Ok(rig.kubeconfig()), |user| rig.kubeconfig_of_user(user));
    let file = file.map_err(|error| error.to_string())?.display().to_string();
    let arguments = [arguments, &["--kubeconfig", &file]].concat();
    let output = operon.run_operon(&arguments)?;
    // Hints name the kubeconfig, which everybody has his own of.
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&file, "KUBECONFIG");
    Ok(Said {
        code: output.status.code(),
        output: text(&output.stdout),
        error: text(&output.stderr),
    })
}

pub(crate) fn are_told_what_they_may_not_read(operon: &Installation<'_>) -> Verdict {
    operon.apply(&group(PLACE, "{ targetNamespaces: [reading] }"))?;
    publish(operon, PLACE, PLACE, &[("reader", vec![Operator::new("reader").csv()])])?;
    let manual = subscription(PLACE, "reader", (PLACE, PLACE));
    operon.apply(&manual.replace("spec: {", "spec: { installPlanApproval: Manual,"))?;
    operon.until("a plan waits", |operon| {
        operon
            .list(&known::INSTALL_PLAN, PLACE)
            .iter()
            .any(|plan| plan.status().get("phase").str() == "RequiresApproval")
    })?;
    let plan = ["plan", "-n", PLACE];
    let by_admin = ask(operon, None, &plan)?;
    if by_admin.code != Some(2) || !by_admin.output.contains("reader") {
        return Err(format!(
            "the administrator sees no change: {}{}",
            by_admin.output, by_admin.error
        ));
    }
    // What is missing is told at once, and what the hint says gives it.
    let refused = ask(operon, Some("alice"), &plan)?;
    for resource in [
        "namespaces",
        "customresourcedefinitions.apiextensions.k8s.io",
        "apiservices.",
        "controllerrevisions.",
        "operatorgroups.",
        "catalogsources.",
        "subscriptions.",
        "installplans.",
        "clusterserviceversions.",
    ] {
        if refused.code != Some(1) || !refused.error.contains(resource) {
            return Err(format!("{resource} is not said to be missing: {}", refused.error));
        }
    }
    follow_hint(operon, &refused.error)?;
    let by_alice = ask(operon, Some("alice"), &plan)?;
    if by_alice.output != by_admin.output || by_alice.code != by_admin.code {
        return Err(format!("alice sees another plan: {}{}", by_alice.output, by_alice.error));
    }
    if !by_alice.error.contains("you may not list roles.rbac.authorization.k8s.io") {
        return Err(format!("alice is not told what is left out: {}", by_alice.error));
    }
    for question in
        [&["why-not", "reader", "-n", PLACE][..], &["tree"], &["history"], &["get", "sub,csv,ip"]]
    {
        same_answer(operon, "alice", question)?;
    }
    // Whoever may look at one namespace looks at that one.
    let here = ["get", "sub,ip", "-n", PLACE];
    follow_hint(operon, &ask(operon, Some("carol"), &here)?.error)?;
    same_answer(operon, "carol", &here)?;
    let everywhere = ask(operon, Some("carol"), &["get", "sub,ip"])?;
    if !everywhere.error.contains("missing in the whole cluster") {
        return Err(format!(
            "carol saw every namespace: {}{}",
            everywhere.output, everywhere.error
        ));
    }
    operon.delete_namespaces(&[PLACE])?;
    Ok("plans need the rights that are named, and no others".to_owned())
}

/// Does as an administrator what a hint tells an administrator to do.
fn follow_hint(operon: &Installation<'_>, error: &str) -> Result<(), String> {
    let (_, commands) = error
        .split_once("an administrator gives these rights: ")
        .ok_or_else(|| format!("there is no hint in: {error}"))?;
    for command in commands.trim().split(" && ") {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        operon.rig().kubectl(&words).map_err(|error| format!("{command}: {error}"))?;
    }
    Ok(())
}

/// Fails where a user is told something else than who may do everything.
fn same_answer(operon: &Installation<'_>, user: &str, arguments: &[&str]) -> Result<(), String> {
    let [theirs, ours] = [ask(operon, Some(user), arguments)?, ask(operon, None, arguments)?];
    if (&theirs.output, theirs.code) == (&ours.output, ours.code) {
        return Ok(());
    }
    let command = arguments.join(" ");
    Err(format!("{user} asks `{command}` and hears: {}{}", theirs.output, theirs.error))
}
