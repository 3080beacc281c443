//! `kubectl rollout status` and the provider say the same about workloads.
