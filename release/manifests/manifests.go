// Package manifests renders the files of deploy from the chart in deploy/chart, which is their only source.
package manifests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/taint-manager/taint-manager/release/archive"
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
	if all[ChartDir+"/README.md"], err = readme(root); err != nil {
		return nil, err
	}
	all[ChartDir+"/values.schema.json"], err = schema(root)
	return all, err
}

// Write writes all rendered files.
func Write(root string) error {
	files, err := Files(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := archive.Write(filepath.Join(root, name), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

const installHeader = `# Installs taint-manager into namespace kube-system; rendered from deploy/chart.
#
# The image %[1]s is pulled from no registry unless you push it
# there: %[2]s. Import it on the nodes:
#
#   kind load image-archive %-[3]*[4]s          a cluster of kind
#   k3s ctr images import %-[3]*[4]s            each node of k3s
#   ctr -n k8s.io images import %-[3]*[4]s      each node with containerd
#
# or push it%[5]s:
#
#   skopeo copy --all oci-archive:%[4]s docker://%[6]s
#
# docs/install.md says more. Then:
#
#   kubectl apply -f install.yaml
`

const pulledHeader = `# Installs taint-manager into namespace kube-system; rendered from deploy/chart. It pulls the image by its digest:
# %s
#
#   kubectl apply -f install.yaml
`

// header returns the first lines of install.yaml. In a release, the image is a file beside it.
func header(i chart.Image, name string) string {
	if i.Digest != "" {
		return fmt.Sprintf(pulledHeader, name)
	}
	origin, file := "it is in image.tar, beside this file", "image.tar"
	if i.Repository == "" {
		origin, file = "'make image' writes it to dist/image.tar", "dist/image.tar"
	}
	below, target := "", name
	if strings.HasPrefix(name, "localhost/") {
		below, target = ", and write its new name below", "REGISTRY/taint-manager:TAG"
	}
	return fmt.Sprintf(installHeader, name, origin, len(file), file, below, target)
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
