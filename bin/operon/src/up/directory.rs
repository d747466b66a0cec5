//! The manifests of a directory, applied and kept so.
//!
//! A file that cannot be read counts as it was when it could. What was applied from the directory and
//! has vanished from it is deleted; while anything in the directory is broken nothing is, because it
//! may be what cannot be read.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use operon_api::{LocatedObject, ManifestSeverity, read_objects};
use operon_driver::{ClusterError, Interest};
use operon_lifecycle::ErrorKind;
use operon_object::{Object, ObjectKey};

use crate::{
    cluster::{Appliable, Applied, Kinds, apply, in_order, long_name, place},
    manifests::{files_in, read_file},
};

/// The field manager of what is applied from a directory.
const MANAGER: &str = "operon-up";

/// On everything that is applied from a directory: its own namespace and name, so that a copy of it
/// is not taken for it.
const APPLIED_ANNOTATION: &str = "operon.dev/applied-from-directory";

/// A directory of manifests.
#[derive(Debug)]
pub(super) struct ManifestDirectory {
    path: PathBuf,
    files: BTreeMap<PathBuf, ManifestFile>,
    /// What is wrong with the directory itself.
    problem: Option<String>,
    /// What could not be applied, and why.
    refused: BTreeMap<ObjectKey, String>,
    must_apply: bool,
    is_left_alone: bool,
}

#[derive(Debug, Default)]
struct ManifestFile {
    stamp: Option<FileStamp>,
    objects: Vec<LocatedObject>,
    problems: Vec<String>,
    is_broken: bool,
    /// Whether the objects are those of a text without errors.
    is_whole: bool,
}

/// What tells that a file changed: size, time of change in nanoseconds, inode.
type FileStamp = (u64, i64, i64, u64);

/// Something to tell people.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    /// An object was applied or deleted: its name, and a word.
    Object(String, &'static str),
    /// Something is wrong.
    Problem(String),
    /// Something is right again.
    Relief(String),
    /// Something is waited for.
    Waiting(String),
}

impl ManifestDirectory {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            files: BTreeMap::new(),
            problem: None,
            refused: BTreeMap::new(),
            must_apply: true,
            is_left_alone: false,
        }
    }

    /// Makes a directory whose manifests are neither read nor applied.
    pub(super) fn left_alone(path: &Path) -> Self {
        Self { is_left_alone: true, ..Self::new(path) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what is wrong now.
    pub(super) fn problems(&self) -> Vec<String> {
        let broken = self.files.values().flat_map(|file| &file.problems);
        self.problem.iter().chain(broken).chain(self.refused.values()).cloned().collect()
    }

    /// Tells whether there is no manifest at all.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.problem.is_none() && !self.is_left_alone
    }

    /// Reads what changed in the directory, and applies it.
    pub(super) fn refresh(&mut self, cluster: &impl Appliable) -> Result<Vec<News>, ClusterError> {
        let mut news = Vec::new();
        if self.is_left_alone {
            return Ok(news);
        }
        self.read(&mut news);
        if self.must_apply {
            let objects: Vec<LocatedObject> = self.objects().cloned().collect();
            let told = std::mem::take(&mut self.refused);
            self.apply(cluster, objects, &told, &mut news)?;
            self.must_apply = false;
            if !self.files.values().any(|file| file.is_broken) {
                self.prune(cluster, &mut news)?;
            }
        }
        Ok(news)
    }

    /// Tries again what could not be applied; a definition that came meanwhile may have been missing.
    pub(super) fn retry(&mut self, cluster: &impl Appliable) -> Result<Vec<News>, ClusterError> {
        let mut news = Vec::new();
        if self.refused.is_empty() {
            return Ok(news);
        }
        let told = std::mem::take(&mut self.refused);
        let is_refused = |located: &&LocatedObject| told.contains_key(&located.object.key());
        let objects: Vec<LocatedObject> = self.objects().filter(is_refused).cloned().collect();
        self.apply(cluster, objects, &told, &mut news)?;
        Ok(news)
    }

    fn objects(&self) -> impl Iterator<Item = &LocatedObject> {
        self.files.values().flat_map(|file| &file.objects)
    }

    fn read(&mut self, news: &mut Vec<News>) {
        let found = match files_in(&self.path) {
            Ok(found) => found,
            Err(error) => {
                let problem = format!("cannot read `{}`: {error}", self.path.display());
                if self.problem.as_ref() != Some(&problem) {
                    news.push(News::Problem(problem.clone()));
                }
                self.problem = Some(problem);
                return;
            }
        };
        if self.problem.take().is_some() {
            news.push(News::Relief(format!("`{}` can be read again", self.path.display())));
        }
        let known = self.files.len();
        self.files.retain(|path, _| found.contains(path));
        self.must_apply |= self.files.len() != known;
        for path in found {
            let stamp = fs::metadata(&path).ok().map(|metadata| stamp_of(&metadata));
            let file = self.files.entry(path.clone()).or_default();
            if stamp.is_some() && file.stamp == stamp {
                continue;
            }
            file.read(&path, read_file(&path), news);
            file.stamp = stamp;
            self.must_apply = true;
        }
    }

    /// Applies objects; what was told before about those that are refused is not told again.
    fn apply(
        &mut self,
        cluster: &impl Appliable,
        objects: Vec<LocatedObject>,
        told: &BTreeMap<ObjectKey, String>,
        news: &mut Vec<News>,
    ) -> Result<(), ClusterError> {
        let mut kinds = Kinds::of(cluster)?;
        for mut located in in_order(objects) {
            let key = located.object.key();
            if kinds.is_namespaced(&located.object.kind()).is_none() {
                kinds = Kinds::of(cluster)?;
            }
            place(&mut located.object, &kinds, None);
            let object = marked(&located.object);
            match apply(cluster, &object, MANAGER) {
                Ok((_, Applied::Unchanged)) => {}
                Ok((object, applied)) => {
                    news.push(News::Object(long_name(&object), applied.text()));
                }
                Err(error) if error.kind == ErrorKind::Unavailable => {
                    self.must_apply = true;
                    return Err(error);
                }
                Err(error) => {
                    let line = located.line.map_or_else(String::new, |line| format!(":{line}"));
                    let file = &located.file;
                    let problem = format!("{file}{line}: {}: {error}", long_name(&object));
                    if told.get(&key) != Some(&problem) {
                        news.push(News::Problem(problem.clone()));
                    }
                    self.refused.insert(key, problem);
                }
            }
        }
        Ok(())
    }

    /// Deletes what was applied from the directory and is not in it any more.
    fn prune(&self, cluster: &impl Appliable, news: &mut Vec<News>) -> Result<(), ClusterError> {
        let kinds = Kinds::of(cluster)?;
        let kept: BTreeSet<ObjectKey> = self
            .objects()
            .map(|located| {
                let mut object = located.object.clone();
                place(&mut object, &kinds, None);
                object.key()
            })
            .collect();
        for object in cluster.list(&Interest::all_of(kinds.all()))?.objects {
            let key = object.key();
            if !is_marked(&object) || object.is_deleting() || kept.contains(&key) {
                continue;
            }
            match cluster.delete(&key, object.uid()) {
                Ok(()) => news.push(News::Object(long_name(&object), "deleted")),
                // It went, or it is another one by now.
                Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Conflict) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl ManifestFile {
    /// Takes a text; the objects of one that cannot be read stay what they were.
    fn read(&mut self, path: &Path, text: io::Result<Vec<u8>>, news: &mut Vec<News>) {
        let name = path.display().to_string();
        let mut problems = Vec::new();
        let mut is_broken = false;
        match text {
            Err(error) => {
                is_broken = true;
                problems.push(format!("cannot read `{name}`: {error}"));
            }
            Ok(text) => {
                let read = read_objects(&name, &text);
                for finding in &read.diagnostics {
                    is_broken |= finding.severity == ManifestSeverity::Error;
                    let help = match finding.help.as_str() {
                        "" => String::new(),
                        help => format!("; {help}"),
                    };
                    problems.push(format!("{finding}{help}"));
                }
                // A file that was sound before stays whole; of one that never was, the sound part
                // is taken.
                if !is_broken || !self.is_whole {
                    self.objects = read.objects;
                    self.is_whole = !is_broken;
                }
            }
        }
        for problem in problems.iter().filter(|problem| !self.problems.contains(problem)) {
            news.push(News::Problem(problem.clone()));
        }
        if problems.is_empty() && !self.problems.is_empty() {
            news.push(News::Relief(format!("`{name}` is sound again")));
        }
        self.problems = problems;
        self.is_broken = is_broken;
    }
}

fn stamp_of(metadata: &fs::Metadata) -> FileStamp {
    (metadata.size(), metadata.ctime(), metadata.ctime_nsec(), metadata.ino())
}

fn mark(object: &Object) -> String {
    format!("{}/{}", object.namespace(), object.name())
}

fn marked(object: &Object) -> Object {
    let mut marked = object.clone();
    marked.set_annotation(APPLIED_ANNOTATION, &mark(object));
    marked
}

fn is_marked(object: &Object) -> bool {
    object.annotation(APPLIED_ANNOTATION) == Some(&mark(object))
}
