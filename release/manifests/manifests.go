// Package manifests renders the files of deploy from the chart in deploy/chart, which is their only source.
package manifests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/taint-manager/taint-manager/release/chart"
)

// Namespace is the namespace of the installation unless a value overrides it.
const Namespace = "kube-system"

// ChartDir is the folder of the chart, from the root of the repository.
const ChartDir = "deploy/chart"

const rbacHeader = `# Rendered by 'make manifests' from deploy/chart/templates: the permissions, which is all that a process outside
# the cluster needs.
#
#   kubectl apply -f deploy/rbac.yaml
`

// Files returns all rendered files by their path from the root of the repository.
func Files(root string) (map[string]string, error) {
	all := map[string]string{}
	rendered, err := chart.Render(filepath.Join(root, ChartDir), chart.Release{Namespace: Namespace})
	if err != nil {
		return nil, err
	}
	list := "# Rendered by 'make manifests' from deploy/chart.\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"
	for _, file := range rendered {
		all["deploy/kustomize/"+file.Name] = "# Rendered by 'make manifests' from deploy/chart/templates/" + file.Name +
			".\n" + file.Text
		list += "- " + file.Name + "\n"
		if file.Name == "rbac.yaml" {
			all["deploy/rbac.yaml"] = rbacHeader + file.Text
		}
	}
	all["deploy/kustomize/kustomization.yaml"] = list
	if all["deploy/install.yaml"], err = Install(root, "", chart.Image{}); err != nil {
		return nil, err
	}
	all[ChartDir+"/values.schema.json"], err = schema(root)
	return all, err
}

// header returns the first lines of install.yaml. An image without a digest is in no registry: it is a file.
func header(i chart.Image, name string) string {
	how := "docs/install.md says how that file gets to the nodes, or into a registry."
	switch {
	case i.Digest != "":
		how = "It is pulled by its digest."
	case i.Repository == "":
		how = "'make image' writes it to dist/image.tar; " + how
	default:
		how = "It is in image.tar, next to this file; " + how
	}
	return fmt.Sprintf(`# Installs taint-manager into namespace kube-system; rendered from deploy/chart.
#
#   kubectl apply -f install.yaml
#
# The image is %s.
# %s
`, name, how)
}

// Install returns all manifests of a version of the program as one file that names the image. An empty version means
// the chart's.
func Install(root, version string, image chart.Image) (string, error) {
	r := chart.Release{Namespace: Namespace, Version: version}
	if image.Repository != "" {
		r.Values = map[string]any{"image": map[string]any{"repository": image.Repository, "digest": image.Digest}}
	}
	files, err := chart.Render(filepath.Join(root, ChartDir), r)
	if err != nil {
		return "", err
	}
	all := chart.Join(files)
	_, name, _ := strings.Cut(all, "\n        image: ")
	name, _, _ = strings.Cut(name, "\n")
	return header(image, name) + all, nil
}

// schema returns values.schema.json with the schema of the configuration file inserted. The chart sets apiVersion
// and kind itself.
func schema(root string) (string, error) {
	values, err := readJSON(filepath.Join(root, ChartDir, "values.schema.json"))
	if err != nil {
		return "", err
	}
	config, err := readJSON(filepath.Join(root, "docs/schema/taintmanagerconfiguration.json"))
	if err != nil {
		return "", err
	}
	for _, path := range [][]string{
		{"$schema"}, {"title"}, {"required"}, {"minProperties"}, {"properties", "apiVersion"}, {"properties", "kind"},
	} {
		unstructured.RemoveNestedField(config, path...)
	}
	if err := unstructured.SetNestedMap(values, config, "properties", "config"); err != nil {
		return "", fmt.Errorf("the schema of the values: %w", err)
	}
	text, err := json.MarshalIndent(values, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encoding values.schema.json: %w", err)
	}
	return string(text) + "\n", nil
}

func readJSON(path string) (map[string]any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a schema: %w", err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", path, err)
	}
	return document, nil
}
