package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/blang/semver"

	"github.com/pulumi/pulumi-yaml/pkg/pulumiyaml"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

// folderLoader knows the packages whose schemas a folder holds.
type folderLoader struct {
	packages map[string]schema.PackageReference
}

func newLoader(folder string) (pulumiyaml.PackageLoader, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	loader := folderLoader{packages: map[string]schema.PackageReference{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var spec schema.PartialPackageSpec
		if err := json.Unmarshal(text, &spec); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		bound, err := schema.ImportPartialSpec(spec, nil, loader)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		loader.packages[spec.Name] = bound
	}
	return pulumiyaml.NewPackageLoaderFromSchemaLoader(loader), nil
}

func (l folderLoader) LoadPackage(name string, version *semver.Version) (*schema.Package, error) {
	found, err := l.LoadPackageReference(name, version)
	if err != nil {
		return nil, err
	}
	return found.Definition()
}

func (l folderLoader) LoadPackageV2(
	_ context.Context, wanted *schema.PackageDescriptor,
) (*schema.Package, error) {
	return l.LoadPackage(wanted.PackageName(), nil)
}

func (l folderLoader) LoadPackageReference(
	name string, _ *semver.Version,
) (schema.PackageReference, error) {
	if found, has := l.packages[name]; has {
		return found, nil
	}
	return nil, fmt.Errorf("there is no schema of the package %q", name)
}

func (l folderLoader) LoadPackageReferenceV2(
	_ context.Context, wanted *schema.PackageDescriptor,
) (schema.PackageReference, error) {
	return l.LoadPackageReference(wanted.PackageName(), nil)
}
