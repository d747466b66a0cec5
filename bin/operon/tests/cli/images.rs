//! The main job from images: catalogs and bundles that `umoci` made and `skopeo` pushed to a real registry.
//!
//! Everything goes through the program itself. What the rooms below do is tested where they are.

mod hostile;
mod installing;
mod outages;
mod places;
mod quay;
mod servers;

pub(crate) use self::servers::config_map;
