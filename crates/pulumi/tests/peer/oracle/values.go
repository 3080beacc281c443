package main

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// behaviours says what resources compute and what functions return, by their tokens.
type behaviours struct {
	Resources map[string]struct {
		Computed       map[string]any `json:"computed"`
		KnownInPreview []string       `json:"knownInPreview"`
		PreviewOmits   bool           `json:"previewOmits"`
	} `json:"resources"`
	Functions map[string]struct {
		Echo    bool           `json:"echo"`
		Returns map[string]any `json:"returns"`
		Error   string         `json:"error"`
	} `json:"functions"`
}

func readBehaviours(path string) (*behaviours, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	read := &behaviours{}
	return read, json.Unmarshal(text, read)
}

// outputs returns the inputs of a resource and what it computes; without `made`, what a preview knows.
func (b *behaviours) outputs(
	m *monitor, typ, name string, inputs resource.PropertyMap, made bool, secrets []string,
) resource.PropertyMap {
	outputs := inputs.Copy()
	behaviour := b.Resources[typ]
	known := map[string]bool{}
	for _, field := range behaviour.KnownInPreview {
		known[field] = true
	}
	fill := strings.NewReplacer("{name}", name, "{stack}", m.stack)
	for field, value := range behaviour.Computed {
		key := resource.PropertyKey(field)
		if _, given := outputs[key]; given {
			continue
		}
		switch {
		case made || known[field]:
			outputs[key] = decode(value, fill)
		case !behaviour.PreviewOmits:
			outputs[key] = resource.MakeComputed(resource.NewStringProperty(""))
		}
	}
	for _, field := range secrets {
		key := resource.PropertyKey(field)
		if value, has := outputs[key]; has && !value.IsSecret() {
			outputs[key] = resource.MakeSecret(value)
		}
	}
	return outputs
}

// call returns the result of a function.
func (b *behaviours) call(token string, arguments resource.PropertyMap) (resource.PropertyMap, error) {
	behaviour := b.Functions[token]
	if behaviour.Error != "" {
		return nil, errors.New(behaviour.Error)
	}
	result := resource.PropertyMap{}
	if behaviour.Echo {
		result = arguments.Copy()
	}
	for field, value := range behaviour.Returns {
		result[resource.PropertyKey(field)] = decode(value, strings.NewReplacer())
	}
	return result, nil
}

// decode reads a value in the notation of recorded programs.
func decode(tree any, fill *strings.Replacer) resource.PropertyValue {
	switch tree := tree.(type) {
	case string:
		return resource.NewStringProperty(fill.Replace(tree))
	case []any:
		items := []resource.PropertyValue{}
		for _, item := range tree {
			items = append(items, decode(item, fill))
		}
		return resource.NewArrayProperty(items)
	case map[string]any:
		if inner, secret := tree["$secret"]; secret {
			return resource.MakeSecret(decode(inner, fill))
		}
		entries := resource.PropertyMap{}
		for key, entry := range tree {
			entries[resource.PropertyKey(key)] = decode(entry, fill)
		}
		return resource.NewObjectProperty(entries)
	default:
		return resource.NewPropertyValue(tree)
	}
}

func encodeMap(values resource.PropertyMap) map[string]any {
	encoded := map[string]any{}
	for key, value := range values {
		encoded[string(key)] = encode(value)
	}
	return encoded
}

// encode writes a value in the notation of recorded programs.
func encode(value resource.PropertyValue) any {
	mark := func(name string, inner any) any { return map[string]any{name: inner} }
	switch {
	case value.IsSecret():
		return mark("$secret", encode(value.SecretValue().Element))
	case value.IsComputed():
		return mark("$unknown", true)
	case value.IsOutput():
		output := value.OutputValue()
		inner := mark("$unknown", true)
		if output.Known {
			inner = encode(output.Element)
		}
		if output.Secret {
			return mark("$secret", inner)
		}
		return inner
	case value.IsBool():
		return value.BoolValue()
	case value.IsNumber():
		number := value.NumberValue()
		switch {
		case math.IsNaN(number):
			return mark("$float", "NaN")
		case math.IsInf(number, 1):
			return mark("$float", "Infinity")
		case math.IsInf(number, -1):
			return mark("$float", "-Infinity")
		}
		return number
	case value.IsString():
		return value.StringValue()
	case value.IsArray():
		items := []any{}
		for _, item := range value.ArrayValue() {
			items = append(items, encode(item))
		}
		return items
	case value.IsObject():
		return encodeMap(value.ObjectValue())
	case value.IsAsset():
		return mark("$asset", encodeAsset(value.AssetValue()))
	case value.IsArchive():
		return mark("$archive", encodeArchive(value.ArchiveValue()))
	case value.IsResourceReference():
		reference := value.ResourceReferenceValue()
		entries := map[string]any{"urn": string(reference.URN)}
		if id, has := reference.IDString(); has {
			entries["id"] = id
			if id == "" {
				entries["id"] = mark("$unknown", true)
			}
		}
		return mark("$ref", entries)
	}
	return nil
}

func encodeAsset(asset *resource.Asset) any {
	switch {
	case asset.IsText():
		return map[string]any{"text": asset.Text}
	case asset.IsPath():
		return map[string]any{"path": asset.Path}
	}
	return map[string]any{"uri": asset.URI}
}

func encodeArchive(archive *resource.Archive) any {
	switch {
	case archive.IsPath():
		return map[string]any{"path": archive.Path}
	case archive.IsURI():
		return map[string]any{"uri": archive.URI}
	}
	entries := map[string]any{}
	for name, entry := range archive.Assets {
		switch entry := entry.(type) {
		case *resource.Asset:
			entries[name] = map[string]any{"$asset": encodeAsset(entry)}
		case *resource.Archive:
			entries[name] = map[string]any{"$archive": encodeArchive(entry)}
		}
	}
	return map[string]any{"assets": entries}
}
