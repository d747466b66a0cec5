//! Container images as bytes: references, manifests, layers, credentials, mirrors.
//!
//! This room reads and writes what registries and image layouts are made of. It fetches nothing and
//! touches no disk; that is `shell/image`.
