//go:build tools

// Package peer names the programs of Kubernetes that tests talk to, and the database of its API
// server, so that their versions are those of this module.
package peer

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
