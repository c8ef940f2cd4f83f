// Package chart renders and packs the Helm chart of deploy/chart with Helm's own packages, so that the program helm is
// not needed.
package chart

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	charter "helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	packer "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Release is one installation of the chart.
type Release struct {
	Namespace string
	Values    map[string]any

	// Version replaces the version in Chart.yaml. It begins with v; empty means the chart's own.
	Version string
}

// File is a rendered template, with its name in the folder templates.
type File struct{ Name, Text string }

// notes is the name of the template that helm prints after an installation.
const notes = "NOTES.txt"

// order is the order in which objects are applied: dependencies first. Other templates follow, by their names.
var order = []string{
	"validate.yaml", "rbac.yaml", "namespace.yaml", "configmap.yaml", "poddisruptionbudget.yaml", "networkpolicy.yaml",
	"deployment.yaml",
}

// Render returns the templates of the chart in dir that yield objects, in the order in which they are applied. It
// returns an error for values that values.schema.json rejects.
func Render(dir string, r Release) ([]File, error) {
	rendered, err := render(dir, r, engine.Render)
	if err != nil {
		return nil, err
	}
	var files []File
	for name, text := range rendered {
		base := path.Base(name)
		if base != notes && strings.TrimSpace(text) != "" {
			files = append(files, File{base, strings.TrimSpace(text) + "\n"})
		}
	}
	slices.SortFunc(files, func(a, b File) int {
		return cmp.Or(position(a.Name)-position(b.Name), strings.Compare(a.Name, b.Name))
	})
	return files, nil
}

// Join returns the files as one stream of YAML documents.
func Join(files []File) string {
	texts := make([]string, len(files))
	for i, f := range files {
		texts[i] = f.Text
	}
	return strings.Join(texts, "---\n")
}

// Image is the image that a chart or a manifest names: by its digest, or by a tag if the digest is empty. An empty
// repository means the chart's.
type Image struct{ Repository, Digest string }

var (
	repositoryLine = regexp.MustCompile(`(?m)^  repository: .*$`)
	digestLine     = regexp.MustCompile(`(?m)^  digest: .*$`)
)

// Pack writes the chart in dir to the folder out, as an archive that helm installs. The tag of its image is this
// version, unless the image has a digest. All files have this time.
func Pack(dir, out, version string, image Image, at time.Time) error {
	c, err := load(dir, version)
	if err != nil {
		return err
	}
	for _, f := range c.Raw {
		if f.Name == packer.ValuesfileName && image.Repository != "" {
			f.Data = repositoryLine.ReplaceAllLiteral(f.Data, []byte("  repository: "+image.Repository))
			f.Data = digestLine.ReplaceAllLiteral(f.Data, []byte(`  digest: "`+image.Digest+`"`))
		}
	}
	c.StampModTimes(at)
	if _, err := packer.Save(c, out); err != nil {
		return fmt.Errorf("packing the chart: %w", err)
	}
	return nil
}

// Defaults returns the version of the program that the chart in dir installs by default, and the name of its image,
// without the tag.
func Defaults(dir string) (version, repository string, err error) {
	c, err := load(dir, "")
	if err != nil {
		return "", "", err
	}
	repository, found, err := unstructured.NestedString(c.Values, "image", "repository")
	if err != nil || !found {
		return "", "", fmt.Errorf("the chart in %s has no value image.repository", dir)
	}
	return c.Metadata.AppVersion, repository, nil
}

// renderer renders the templates of a chart, with or without access to a cluster.
type renderer func(c charter.Charter, values common.Values) (map[string]string, error)

func render(dir string, r Release, by renderer) (map[string]string, error) {
	c, err := load(dir, r.Version)
	if err != nil {
		return nil, err
	}
	least, err := common.ParseKubeVersion("v1.32.0")
	if err != nil {
		return nil, fmt.Errorf("the least version of Kubernetes: %w", err)
	}
	release := common.ReleaseOptions{Name: "taint-manager", Namespace: r.Namespace, Revision: 1, IsInstall: true}
	values, err := util.ToRenderValues(c, r.Values, release, &common.Capabilities{KubeVersion: *least})
	if err != nil {
		return nil, fmt.Errorf("the values of the chart: %w", err)
	}
	rendered, err := by(c, values)
	if err != nil {
		return nil, fmt.Errorf("rendering the chart: %w", err)
	}
	return rendered, nil
}

func load(dir, version string) (*chart.Chart, error) {
	c, err := loader.Load(dir)
	if err != nil {
		return nil, fmt.Errorf("loading the chart: %w", err)
	}
	if version != "" {
		c.Metadata.AppVersion, c.Metadata.Version = version, strings.TrimPrefix(version, "v")
	}
	return c, nil
}

// position returns the place of a template in the order. Templates that the order does not name come after the others.
func position(name string) int {
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}
