//go:build tools

// Package kwok names the program that plays the nodes of a cluster. It is a module of its own
// because it needs newer libraries of Kubernetes than the servers.
package kwok

import _ "sigs.k8s.io/kwok/cmd/kwok"
