//! Processes that are killed, and processes at once: this test program runs itself as a child.

use std::{
    env, fs,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use operon_image::{CacheDirectory, Images, ImagesOptions, Limits, Location, PullError, Tree};

use super::{
    faults::Fixture,
    injector::{Injector, answer},
    support::{Scene, files, image, quick},
};

/// What a child is to do; nothing in the parent.
const TASK: &str = "OPERON_TEST_TASK";

/// What a child prints when it has fetched everything.
const FETCHED: &str = "fetched everything";

/// What a child prints before the most memory that it had, in KiB.
const PEAK: &str = "peak: ";

/// The most memory of a process that pulls, however large the image is.
const MAX_PEAK_KIBIBYTES: u64 = 200 << 10;

fn spawn(task: &str, variables: &[(&str, String)]) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "child::task_of_a_child", "--nocapture"])
        .env(TASK, task)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs a child to its end and returns what it printed.
pub(crate) fn run(task: &str, variables: &[(&str, String)]) -> String {
    let output = spawn(task, variables).wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// What the children of other tests do; alone, it does nothing.
#[test]
fn task_of_a_child() {
    let Ok(task) = env::var(TASK) else { return };
    let mut options = ImagesOptions {
        limits: Limits { helper_timeout: Duration::from_secs(1), ..quick() },
        ..ImagesOptions::bare(CacheDirectory::at(variable("OPERON_TEST_CACHE")))
    };
    match task.as_str() {
        "pull secret" => {
            options.credentials.pull_secrets = vec![variable("OPERON_TEST_SECRET").into_bytes()];
        }
        "auth file" => options.credentials.files = vec![variable("OPERON_TEST_FILE").into()],
        _ => {}
    }
    let began = Instant::now();
    let host = variable("OPERON_TEST_HOST");
    let images = Images::new(options).unwrap();
    let location = image(&host, "me/catalog:v1");
    match images.fetch_catalog(&location) {
        Ok(tree) if task == "measure" => {
            println!("{PEAK}{} after {:?}", peak_kibibytes(), began.elapsed());
            println!("by tag again: {:?}", time(|| images.fetch_catalog(&location).unwrap()));
            let by_digest = Location::Image(tree.reference.unwrap());
            println!("by digest: {:?}", time(|| images.fetch_catalog(&by_digest).unwrap()));
        }
        Ok(tree) => println!("{FETCHED}: {}", files(&tree.directory).len()),
        Err(error) => println!("{error}"),
    }
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

/// Returns the most memory that this process ever had.
fn peak_kibibytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn fetch(options: ImagesOptions, host: &str) -> Result<Tree, PullError> {
    Images::new(options).unwrap().fetch_catalog(&image(host, "me/catalog:v1"))
}

/// Waits until something holds, for as long as a slow machine may need.
fn wait_for(mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never happened");
        thread::sleep(Duration::from_millis(5));
    }
}

fn partial_layer(cache: &Path) -> u64 {
    let Ok(workspaces) = fs::read_dir(cache.join("images/temporary")) else { return 0 };
    let sizes = workspaces.flatten().map(|workspace| {
        fs::metadata(workspace.path().join("layer-0")).map_or(0, |metadata| metadata.len())
    });
    sizes.sum()
}

#[test]
fn a_killed_pull_leaves_nothing_in_the_way() {
    let scene = Scene::new();
    let is_healed = Arc::new(AtomicBool::new(false));
    let fixture = Fixture::sound();
    let server = Injector::start({
        let is_healed = Arc::clone(&is_healed);
        move |request, stream| {
            if is_healed.load(Ordering::Relaxed) || !fixture.is_layer(request) {
                return fixture.serve(request, stream);
            }
            let length = fixture.layer.len().to_string();
            answer(stream, "200 OK", &[("Content-Length", &length)], &fixture.layer[..70_000]);
            // The rest never comes, and the connection stays open until the child is gone.
            let _ = std::io::copy(stream, &mut std::io::sink());
        }
    });
    let variables =
        [("OPERON_TEST_HOST", server.host.clone()), ("OPERON_TEST_CACHE", scene.text("cache"))];
    let mut child = spawn("pull", &variables);
    wait_for(|| partial_layer(&scene.path("cache")) > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(partial_layer(&scene.path("cache")) > 0, "the kill should leave the partial file");

    is_healed.store(true, Ordering::Relaxed);
    let tree = fetch(scene.options(), &server.host).unwrap();
    assert_eq!(files(&tree.directory).len(), 2);
    assert_eq!(files(&scene.path("cache/images/temporary")), Vec::new());
}

#[test]
fn processes_pull_one_image_at_once() {
    let scene = Scene::new();
    let fixture = Fixture::sound();
    let server = Injector::start(move |request, stream| fixture.serve(request, stream));
    let variables =
        [("OPERON_TEST_HOST", server.host.clone()), ("OPERON_TEST_CACHE", scene.text("cache"))];
    let children: Vec<Child> = (0..3).map(|_| spawn("pull", &variables)).collect();
    let images = scene.images();
    let location = image(&server.host, "me/catalog:v1");
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let tree = images.fetch_catalog(&location).unwrap();
                assert_eq!(files(&tree.directory).len(), 2);
            });
        }
    });
    for child in children {
        let output = child.wait_with_output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains(&format!("{FETCHED}: 2")), "{printed}");
    }
    assert_eq!(files(&scene.path("cache/images/temporary")), Vec::new());
    assert_eq!(fs::read_dir(scene.path("cache/images/trees")).unwrap().count(), 1);
}

#[test]
fn large_images_take_little_memory() {
    if !Path::new("/proc/self/status").exists() {
        operon_parts::leave_out(operon_parts::Part::System, "there is no /proc on this system");
        return;
    }
    let scene = Scene::new();
    let fixture = Fixture::large(300 << 20);
    let server = Injector::start(move |request, stream| fixture.serve(request, stream));
    let variables =
        [("OPERON_TEST_HOST", server.host.clone()), ("OPERON_TEST_CACHE", scene.text("cache"))];
    let printed = run("measure", &variables);
    let (_, peak) = printed.split_once(PEAK).unwrap_or_else(|| panic!("{printed}"));
    let peak: u64 = peak.split(' ').next().unwrap().parse().unwrap();
    assert!(peak < MAX_PEAK_KIBIBYTES, "{printed}");
}
