//! Operon itself on a cluster: the objects that it consists of, and how they come, stand and go.
//!
//! What the controller does there is in `controller`; no operator is looked after here.

mod elf;
mod image;
mod install;
mod manifests;
mod permissions;
mod place;
mod removal;
mod rollout;
mod status;

pub(crate) use self::{
    image::{Image, make as make_image},
    install::{Install, run as install},
    manifests::{FIRST_GROUP_ANNOTATION, Manifests, OPERATORS_NAMESPACE, print},
    removal::{SelfRemoval, run as remove},
    status::{Status, run as status},
};
