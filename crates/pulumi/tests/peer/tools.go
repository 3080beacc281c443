//go:build tools

// Package peer names the programs of Pulumi that tests compare with, so that their versions are
// those of this module.
package peer

import (
	_ "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml"
	_ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
)
