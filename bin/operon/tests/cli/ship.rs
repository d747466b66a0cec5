//! Building, mirroring and the cache: images as they are shipped, between real registries.

mod building;
mod dock;
mod mirroring;
mod promising;
mod stowing;
mod verifying;
