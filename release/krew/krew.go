// Package krew writes the manifest with which krew installs the program as a plugin of kubectl.
package krew

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/krew/pkg/constants"
	"sigs.k8s.io/krew/pkg/index"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/release/build"
)

// Archive is an archive of the program for one platform.
type Archive struct {
	build.Target
	Name   string
	SHA256 string
}

const plugin = "taint-manager"

const description = `Says which pods will be evicted because of NoExecute taints, when and why:
plan what would happen if nodes got other taints, explain one pod, and list
what is scheduled now. It reads, and changes nothing.
`

const caveats = `The command run starts the controller that evicts. It belongs into the
cluster, not on a workstation: see the manifests of the release.
`

// Manifest returns the manifest. The archives are available under the URL.
func Manifest(version, url string, archives []Archive) ([]byte, error) {
	if !strings.HasPrefix(url, "https://") {
		return nil, fmt.Errorf("URL=%s is refused: archives of plugins are downloaded by HTTPS; name a URL that begins with https://", url)
	}
	platforms := make([]index.Platform, len(archives))
	for i, a := range archives {
		platforms[i] = index.Platform{
			URI: url + "/" + a.Name, Sha256: a.SHA256, Bin: a.Binary(),
			Files:    []index.FileOperation{{From: a.Binary(), To: "."}, {From: "LICENSE", To: "."}},
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"os": a.OS, "arch": a.Arch}},
		}
	}
	text, err := yaml.Marshal(index.Plugin{
		TypeMeta:   metav1.TypeMeta{APIVersion: constants.CurrentAPIVersion, Kind: constants.PluginKind},
		ObjectMeta: metav1.ObjectMeta{Name: plugin},
		Spec: index.PluginSpec{
			Version: version, Homepage: "https://github.com/taint-manager/taint-manager",
			ShortDescription: "Foresee evictions by NoExecute taints",
			Description:      description, Caveats: caveats, Platforms: platforms,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the krew manifest: %w", err)
	}
	return text, nil
}
