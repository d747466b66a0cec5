//! What an API server does with objects.
