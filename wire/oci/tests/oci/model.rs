//! Random layers, compared with the plainest possible model: a tree of boxes, hidden first and filled then.

use std::collections::BTreeMap;

use operon_oci::layer::{LayerLimits, Wanted};
use proptest::prelude::*;

use crate::support::{Item, directory, file, hardlink, symlink, unpack};

#[derive(Debug, Clone)]
enum Thing {
    File(String),
    Link(String),
    Directory(BTreeMap<String, Thing>),
}

/// What a layer may say, before it is known whether it makes sense.
#[derive(Debug, Clone)]
enum Step {
    Item(Item),
    Hide(Vec<&'static str>),
    Opaque(Vec<&'static str>),
}

fn path() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c-", "c"]), 1..4)
}

fn step() -> impl Strategy<Value = Step> {
    let targets = vec!["a", "../b", "/a/b", "l", "m/b", "c/../a", "../../c/a", "/m"];
    prop_oneof![
        4 => (path(), 0..100_u32).prop_map(|(path, number)| Step::Item(file(&path.join("/"), &number.to_string()))),
        1 => path().prop_map(|path| Step::Item(directory(&path.join("/")))),
        2 => (path(), path()).prop_map(|(path, target)| Step::Item(hardlink(&path.join("/"), &target.join("/")))),
        // Links have names of their own, so that nothing lies below one: that is a table's business.
        2 => (path(), prop::sample::select(vec!["l", "m"]), prop::sample::select(targets))
            .prop_map(|(path, name, target)| {
                let path = [&path[..path.len() - 1], &[name]].concat();
                Step::Item(symlink(&path.join("/"), target))
            }),
        2 => path().prop_map(Step::Hide),
        1 => path().prop_map(Step::Opaque),
    ]
}

impl Thing {
    fn children(&mut self) -> &mut BTreeMap<String, Thing> {
        if !matches!(self, Self::Directory(_)) {
            *self = Self::Directory(BTreeMap::new());
        }
        match self {
            Self::Directory(children) => children,
            Self::File(_) | Self::Link(_) => unreachable!("it was made a directory"),
        }
    }

    fn at(&self, path: &[&str]) -> Option<&Self> {
        match (path.split_first(), self) {
            (None, thing) => Some(thing),
            (Some((first, rest)), Self::Directory(children)) => children.get(*first)?.at(rest),
            (Some(_), _) => None,
        }
    }

    fn remove(&mut self, path: &[&str]) {
        match (path, self) {
            ([last], Self::Directory(children)) => {
                children.remove(*last);
            }
            ([first, rest @ ..], Self::Directory(children)) => {
                if let Some(child) = children.get_mut(*first) {
                    child.remove(rest);
                }
            }
            _ => {}
        }
    }

    fn put(&mut self, path: &[&str], thing: Self) {
        match path {
            [last] => {
                let children = self.children();
                match (thing, children.get(*last)) {
                    (Self::Directory(_), Some(Self::Directory(_))) => {}
                    (thing, _) => {
                        children.insert((*last).to_owned(), thing);
                    }
                }
            }
            [first, rest @ ..] => {
                let empty = || Self::Directory(BTreeMap::new());
                self.children().entry((*first).to_owned()).or_insert_with(empty).put(rest, thing);
            }
            [] => {}
        }
    }

    /// Follows a path by its words, one link after the other.
    fn resolve(&self, mut done: Vec<String>, words: &[String], fuel: &mut u32) -> Option<&Self> {
        let Some((word, rest)) = words.split_first() else {
            let path: Vec<&str> = done.iter().map(String::as_str).collect();
            return self.at(&path);
        };
        match word.as_str() {
            "" | "." => return self.resolve(done, rest, fuel),
            ".." => {
                done.pop();
                return self.resolve(done, rest, fuel);
            }
            word => done.push(word.to_owned()),
        }
        let path: Vec<&str> = done.iter().map(String::as_str).collect();
        let Some(Self::Link(target)) = self.at(&path) else {
            return self.resolve(done, rest, fuel);
        };
        *fuel = fuel.checked_sub(1)?;
        done.pop();
        if target.starts_with('/') {
            done.clear();
        }
        let words: Vec<String> =
            target.split('/').map(str::to_owned).chain(rest.iter().cloned()).collect();
        self.resolve(done, &words, fuel)
    }

    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        let mut pending = vec![(Vec::<String>::new(), self)];
        while let Some((path, thing)) = pending.pop() {
            let seen = match thing {
                Self::Link(_) => self.resolve(Vec::new(), &path, &mut 40),
                thing => Some(thing),
            };
            match (thing, seen) {
                (_, Some(Self::File(content))) => {
                    files.insert(path.join("/"), content.clone());
                }
                (Self::Directory(children), _) => {
                    pending.extend(children.iter().map(|(name, child)| {
                        ([&path[..], std::slice::from_ref(name)].concat(), child)
                    }));
                }
                _ => {}
            }
        }
        files
    }
}

/// Applies steps to the model and returns the items of the layer, without hard links to nothing.
fn layer(root: &mut Thing, steps: Vec<Step>) -> Vec<Item> {
    for step in &steps {
        match step {
            Step::Hide(path) => root.remove(path),
            Step::Opaque(path) => {
                if let Some(Thing::Directory(_)) = root.at(path) {
                    root.put(path, Thing::File(String::new()));
                    root.put(path, Thing::Directory(BTreeMap::new()));
                }
            }
            Step::Item(_) => {}
        }
    }
    let mut items = Vec::new();
    for step in steps {
        match step {
            Step::Hide(path) => {
                let (last, directory) = path.split_last().expect("not empty");
                let name = format!(".wh.{last}");
                items.push(file(&[directory, &[&name]].concat().join("/"), ""));
            }
            Step::Opaque(path) => items.push(file(&format!("{}/.wh..wh..opq", path.join("/")), "")),
            Step::Item(item) => {
                if apply(root, &item) {
                    items.push(item);
                }
            }
        }
    }
    items
}

fn apply(root: &mut Thing, item: &Item) -> bool {
    let (path, thing) = match item {
        Item::File(path, content) => {
            (path, Thing::File(String::from_utf8_lossy(content).into_owned()))
        }
        Item::Directory(path) => (path, Thing::Directory(BTreeMap::new())),
        Item::Symlink(path, target) => (path, Thing::Link(target.clone())),
        Item::Hardlink(path, target) => {
            let words: Vec<&str> = target.split('/').collect();
            match root.at(&words) {
                Some(thing @ Thing::File(_)) if path != target => (path, thing.clone()),
                _ => return false,
            }
        }
        Item::Fifo(_) => return false,
    };
    let words: Vec<&str> = path.split('/').collect();
    root.put(&words, thing);
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn layers_leave_what_the_model_says(
        steps in prop::collection::vec(prop::collection::vec(step(), 0..12), 1..5),
        is_partial: bool,
    ) {
        let mut root = Thing::Directory(BTreeMap::new());
        // Links out of what is wanted are told about instead; a table has them.
        let is_tried = |step: &Step| {
            !is_partial || !matches!(step, Step::Item(Item::Hardlink(..) | Item::Symlink(..)))
        };
        let layers: Vec<Vec<Item>> = steps
            .into_iter()
            .map(|steps| layer(&mut root, steps.into_iter().filter(is_tried).collect()))
            .collect();
        let mut expected = root.files();
        if is_partial {
            let wanted = Wanted::directories(["a", "b/c"]).expect("plain paths");
            expected.retain(|path, _| path == "a" || path == "b/c" || path.starts_with("a/") || path.starts_with("b/c/"));
            let outcome = unpack(wanted, LayerLimits::default(), &layers).expect("sound");
            prop_assert_eq!(outcome.files, expected);
        } else {
            let outcome = unpack(Wanted::everything(), LayerLimits::default(), &layers).expect("sound");
            prop_assert_eq!(outcome.files, expected);
        }
    }
}
