// Package krew writes the manifest with which krew installs the program as a plugin of kubectl.
package krew

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/release/build"
)

// schema is a JSON Schema of krew's manifests, after krew's documentation.
//
//go:embed schema.json
var schema embed.FS

// Archive is an archive of the program for one platform.
type Archive struct {
	build.Target
	Name   string
	SHA256 string
}

type platform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string `json:"uri"`
	SHA256 string `json:"sha256"`
	Bin    string `json:"bin"`
	Files  []file `json:"files"`
}

type file struct {
	From string `json:"from"`
	To   string `json:"to"`
}

const description = `Says which pods will be evicted because of NoExecute taints, when and why:
plan what would happen if nodes got other taints, explain one pod, and list
what is scheduled now. It reads, and changes nothing.
`

const caveats = `The command run starts the controller that evicts. It belongs into the
cluster, not on a workstation: see the manifests of the release.
`

// Manifest returns the manifest. The archives are available under the URL.
func Manifest(version, url string, archives []Archive) ([]byte, error) {
	platforms := make([]platform, len(archives))
	for i, a := range archives {
		p := platform{URI: url + "/" + a.Name, SHA256: a.SHA256, Bin: a.Binary(), Files: []file{{a.Binary(), "."}, {"LICENSE", "."}}}
		p.Selector.MatchLabels = map[string]string{"os": a.OS, "arch": a.Arch}
		platforms[i] = p
	}
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
		"kind":       "Plugin",
		"metadata":   map[string]any{"name": "taint-manager"},
		"spec": map[string]any{
			"version": version, "homepage": "https://github.com/taint-manager/taint-manager",
			"shortDescription": "Foresee evictions by NoExecute taints",
			"description":      description, "caveats": caveats, "platforms": platforms,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the krew manifest: %w", err)
	}
	return text, Check(text)
}

// Check returns an error for a manifest that krew would reject.
func Check(manifest []byte) error {
	text, err := schema.ReadFile("schema.json")
	if err != nil {
		return fmt.Errorf("the schema of krew's manifests: %w", err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("the schema of krew's manifests: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("krew.json", document); err != nil {
		return fmt.Errorf("the schema of krew's manifests: %w", err)
	}
	compiled, err := compiler.Compile("krew.json")
	if err != nil {
		return fmt.Errorf("the schema of krew's manifests: %w", err)
	}
	asJSON, err := yaml.YAMLToJSONStrict(manifest)
	if err != nil {
		return fmt.Errorf("the krew manifest: %w", err)
	}
	var value any
	if err := json.Unmarshal(asJSON, &value); err != nil {
		return fmt.Errorf("the krew manifest: %w", err)
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("the krew manifest: %w", err)
	}
	return nil
}
