//! Links in directories that come from others: they may not lead out.
//!
//! A checked-out pull request can hold a link to any file of the machine. To read through it would
//! put the content of that file into findings, catalogs and images.

use std::path::{Path, PathBuf};

/// A link that leads out of the directory that is read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is a link that leads out of `{}`; replace it with a copy of the file",
    link.display(),
    root.display()
)]
pub struct OutsideLink {
    /// The link.
    pub link: PathBuf,
    /// The directory that it leads out of.
    pub root: PathBuf,
}

/// Refuses a path below a directory that leads out of it when all links are followed.
///
/// A link to nothing passes: to read it fails anyway.
pub fn check_link(root: &Path, link: &Path) -> Result<(), OutsideLink> {
    let Ok(target) = link.canonicalize() else { return Ok(()) };
    match root.canonicalize() {
        Ok(inside) if target.starts_with(&inside) => Ok(()),
        _ => Err(OutsideLink { link: link.to_owned(), root: root.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn links_stay_inside_or_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        fs::create_dir_all(path("root/sub")).expect("directories");
        fs::create_dir_all(path("root-sibling")).expect("directories");
        for name in ["root/file", "root/sub/file", "outside", "root-sibling/file"] {
            fs::write(path(name), "text").expect("a file");
        }
        symlink("root", path("alias")).expect("a link");
        let claims = [
            ("file", true),
            ("sub/file", true),
            ("../root/sub/file", true),
            ("nothing", true),
            ("../nothing", true),
            ("loop", true),
            ("../outside", false),
            ("../root-sibling/file", false),
            ("..", false),
            ("/etc/passwd", false),
        ];
        for (target, is_inside) in claims {
            for root in ["root", "alias"] {
                let link = path(root).join("loop");
                let _ = fs::remove_file(&link);
                symlink(target, &link).expect("a link");
                let checked = check_link(&path(root), &link);
                assert_eq!(checked.is_ok(), is_inside, "{root}: {target}");
                if let Err(error) = checked {
                    let text = error.to_string();
                    assert!(text.contains(&*link.to_string_lossy()), "{text}");
                }
            }
        }
        // A chain of links counts by its end.
        let [first, second] = ["root/first", "root/second"].map(path);
        symlink("second", &first).expect("a link");
        symlink("../outside", &second).expect("a link");
        assert!(check_link(&path("root"), &first).is_err());
    }
}
