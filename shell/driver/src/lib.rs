//! The loop gather, decide, execute, and its ports.
//!
//! A [`Driver`] keeps a picture of a cluster, asks the engine what follows from it, and does that. It
//! contains no rule: it may be stopped at any point and started again, and two of them may run side
//! by side. It never reads a clock; whoever runs it says what time it is.

mod address_policy;
mod asks;
mod claims;
#[cfg(feature = "contract")]
pub mod contract;
mod cycle;
mod events;
mod execute;
mod impersonate;
mod interest;
mod lanes;
mod picture;
mod ports;
mod repeats;
mod task;
mod threads;
mod touched;
mod wishes;

pub use self::{
    address_policy::{AddressPolicy, AllowedAddress, AllowedAddressError, ForbiddenAddress},
    cycle::{Cycle, Deed, Driver},
    impersonate::Impersonated,
    interest::{Depth, Interest, Part},
    picture::NAMED_SECRETS_LIMIT,
    ports::{
        CatalogRequest, CatalogServerError, CatalogServers, Catalogs, Change, Changes, Cluster,
        ClusterError, Cursor, Listing,
    },
    task::{Finished, Lane, Task},
    threads::{Deadlines, Threads, Workers},
};
