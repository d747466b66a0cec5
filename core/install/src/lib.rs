//! What a ClusterServiceVersion turns into.
