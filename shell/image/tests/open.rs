//! Opening: every way gives the same catalog, and a cache is never trusted.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should fail")]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use operon_catalog::Severity;
use operon_image::{
    CacheDirectory, OpenError, OpenOptions, OpenedBy, OpenedCatalog, Progress, find_files,
    open_catalog,
};
use tempfile::TempDir;

struct Scene {
    directory: TempDir,
}

impl Scene {
    /// A catalog of two packages in two files, last changed long ago.
    fn new() -> Self {
        let scene = Self { directory: TempDir::new().unwrap() };
        scene.write("catalog/a.json", &package_documents("a", 3));
        scene.write("catalog/nested/b.json", &package_documents("b", 2));
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
    }

    fn open_path_at(&self, path: &Path, now: SystemTime) -> OpenedCatalog {
        let cache = CacheDirectory::at(self.path("cache"));
        let progress = Progress::default();
        let is_immutable = false;
        let options = OpenOptions { cache: Some(&cache), progress: &progress, now, is_immutable };
        open_catalog(path, &options).unwrap()
    }

    fn open_path(&self, path: &Path) -> OpenedCatalog {
        self.open_path_at(path, SystemTime::now())
    }

    /// Opens the catalog when its files have not changed for a minute.
    fn open_later(&self) -> OpenedCatalog {
        self.open_path_at(&self.path("catalog"), SystemTime::now() + Duration::from_secs(60))
    }

    fn open(&self) -> OpenedCatalog {
        self.open_path(&self.path("catalog"))
    }

    fn snapshots(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("cache/snapshots")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

fn package_documents(package: &str, versions: usize) -> String {
    let mut text = format!(
        "{{\"schema\": \"olm.package\", \"name\": \"{package}\", \"defaultChannel\": \"stable\"}}\n"
    );
    let entries: Vec<String> = (0..versions)
        .map(|minor| match minor {
            0 => format!("{{\"name\": \"{package}.v1.0.0\"}}"),
            _ => format!(
                "{{\"name\": \"{package}.v1.{minor}.0\", \"replaces\": \"{package}.v1.{}.0\"}}",
                minor - 1
            ),
        })
        .collect();
    text += &format!(
        "{{\"schema\": \"olm.channel\", \"package\": \"{package}\", \"name\": \"stable\", \"entries\": [{}]}}\n",
        entries.join(", ")
    );
    for minor in 0..versions {
        text += &format!(
            "{{\n  \"schema\": \"olm.bundle\",\n  \"package\": \"{package}\",\n  \"name\": \"{package}.v1.{minor}.0\",\n  \
             \"image\": \"quay.io/a/{package}:v1.{minor}.0\",\n  \"properties\": [\n    {{\"type\": \"olm.package\", \"value\": \
             {{\"packageName\": \"{package}\", \"version\": \"1.{minor}.0\"}}}},\n    {{\"type\": \"note\", \"value\": \"{{ }}}}{}\"}}\n  ]\n}}\n",
            "x".repeat(minor * 1000),
        );
    }
    text
}

/// Everything a catalog says, apart from where.
fn content(opened: &OpenedCatalog) -> Vec<u8> {
    opened.catalog().image_bytes().to_vec()
}

#[test]
fn warm_and_cold_give_the_same_catalog() {
    let scene = Scene::new();
    let cold = scene.open();
    assert_eq!(cold.opened_by(), OpenedBy::Reading);
    assert!(cold.catalog().is_valid());
    // The files are too fresh for their stamps to be trusted, so the content is hashed.
    let verified = scene.open();
    assert_eq!(verified.opened_by(), OpenedBy::Content);
    assert_eq!(content(&cold), content(&verified));
    assert_eq!(cold.digest(), verified.digest());
}

#[test]
fn old_files_are_recognised_by_their_stamps_until_anything_about_them_changes() {
    let scene = Scene::new();
    let cold = scene.open_later();
    let warm = scene.open_later();
    assert_eq!(warm.opened_by(), OpenedBy::Stamps);
    assert_eq!(content(&cold), content(&warm));

    let path = scene.path("catalog/a.json");
    let before = fs::metadata(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let changed = text.replace("quay.io/a/a:v1.0.0", "quay.io/a/a:v9.0.0");
    assert_eq!(changed.len(), text.len());
    fs::write(&path, changed).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    let reread = scene.open_later();
    assert_eq!(
        reread.opened_by(),
        OpenedBy::Reading,
        "same size and modification time, other content"
    );
    assert_ne!(content(&reread), content(&cold));
}

#[test]
fn damaged_snapshots_are_rebuilt() {
    let scene = Scene::new();
    let reference = content(&scene.open());
    let intact = fs::read(&scene.snapshots()[0]).unwrap();
    let mut flipped = intact.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let damages: [(&str, Vec<u8>); 4] = [
        ("truncated", intact[..intact.len() / 2].to_vec()),
        ("empty", Vec::new()),
        ("one bit flipped", flipped),
        ("something else", b"hello".to_vec()),
    ];
    for (damage, bytes) in damages {
        let path = scene.snapshots().remove(0);
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        let opened = scene.open();
        assert_eq!(opened.opened_by(), OpenedBy::Reading, "{damage}");
        assert_eq!(content(&opened), reference, "{damage}");
        assert_eq!(fs::read(&path).unwrap(), intact, "{damage}: the snapshot is whole again");
    }
}

#[test]
fn a_cache_that_cannot_be_written_only_costs_time() {
    let scene = Scene::new();
    fs::write(scene.path("cache"), "a file where the directory should be").unwrap();
    assert_eq!(scene.open().opened_by(), OpenedBy::Reading);
    assert_eq!(scene.open().opened_by(), OpenedBy::Reading);
}

#[test]
fn many_may_open_at_once() {
    let scene = Scene::new();
    let reference = content(&scene.open());
    thread::scope(|scope| {
        let openers: Vec<_> = (0..8).map(|_| scope.spawn(|| content(&scene.open()))).collect();
        for opener in openers {
            assert_eq!(opener.join().unwrap(), reference);
        }
    });
}

#[test]
fn a_large_file_is_cut_between_documents() {
    let scene = Scene::new();
    // Some ten megabytes in one file, with braces inside strings; and the same documents apart.
    let packages: Vec<String> = (0..16).map(|number| format!("p{number:02}")).collect();
    let whole: String = packages.iter().map(|name| package_documents(name, 36)).collect();
    assert!(whole.len() > 8 << 20, "{}", whole.len());
    scene.write("large/catalog.json", &whole);
    for name in &packages {
        scene.write(&format!("small/{name}.json"), &package_documents(name, 36));
    }
    let large = scene.open_path(&scene.path("large"));
    let small = scene.open_path(&scene.path("small"));
    assert!(large.catalog().is_valid(), "{:?}", large.catalog().diagnostics().next());
    assert_eq!(large.catalog().counts(), small.catalog().counts());
    for (left, right) in large.catalog().bundles().zip(small.catalog().bundles()) {
        assert_eq!(left.name(), right.name());
        // Bodies are found again by their place, whichever file they are in.
        assert_eq!(large.document(left.place()).unwrap(), small.document(right.place()).unwrap());
    }
}

#[test]
fn links_ignored_files_and_unreadable_files() {
    let scene = Scene::new();
    scene.write("outside/c.json", &package_documents("c", 1));
    // As a mounted ConfigMap has it.
    symlink("..2026_11_15/c.json", scene.path("catalog/c.json")).unwrap();
    symlink(scene.path("outside"), scene.path("catalog/linked-directory")).unwrap();
    scene.write("catalog/README.md", "# no: catalog: document");
    scene.write("catalog/.indexignore", "*.md\n");
    // A mounted ConfigMap keeps its real files in such a directory, beside links to them.
    scene.write("catalog/..2026_11_15/c.json", &package_documents("c", 1));
    let opened = scene.open();
    assert!(opened.catalog().is_valid(), "{:?}", opened.catalog().diagnostics().next());
    let names: Vec<&str> = opened.catalog().packages().map(|package| package.name()).collect();
    assert_eq!(names, ["a", "b", "c"], "links to files are followed, links to directories are not");

    symlink("/nowhere", scene.path("catalog/dangling.json")).unwrap();
    let opened = scene.open();
    let errors: Vec<String> = opened
        .catalog()
        .diagnostics()
        .filter(|finding| finding.severity() == Severity::Error)
        .map(|finding| finding.message)
        .collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].starts_with("dangling.json: it cannot be read"), "{errors:?}");
    assert_eq!(opened.catalog().counts().packages, 3, "the rest stays usable");

    for name in ["secret.yaml", ".indexignore"] {
        scene.write("outside/secret", "password: 1234\n");
        scene.write("catalog/deep/README.md", "");
        let link = scene.path("catalog/deep").join(name);
        symlink("../../outside/secret", &link).unwrap();
        let error = find_files(&scene.path("catalog")).unwrap_err();
        assert!(matches!(error, OpenError::Outside(_)), "{name}: {error}");
        let text = error.to_string();
        assert!(text.contains(&*link.to_string_lossy()) && !text.contains("password"), "{text}");
        fs::remove_file(&link).unwrap();
    }
}

#[test]
fn a_body_is_not_read_from_a_file_that_changed() {
    let scene = Scene::new();
    let opened = scene.open();
    let place = opened.catalog().bundles().next().unwrap().place();
    assert!(opened.document(place).unwrap().contains("a.v1.0.0"));
    let path = opened.location(place).to_owned();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(10)).unwrap();
    let error = opened.document(place).unwrap_err().to_string();
    assert!(error.contains("changed since the catalog was opened"), "{error}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
}

#[test]
fn nothing_there_is_said_plainly() {
    let scene = Scene::new();
    let cache = CacheDirectory::at(scene.path("cache"));
    let progress = Progress::default();
    let options = OpenOptions {
        cache: Some(&cache),
        progress: &progress,
        now: SystemTime::now(),
        is_immutable: false,
    };
    let error = open_catalog(&scene.path("nowhere"), &options).unwrap_err().to_string();
    assert!(error.starts_with("there is no catalog at `"), "{error}");
}
