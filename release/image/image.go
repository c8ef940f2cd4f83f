// Package image builds the container image: a static binary, CA certificates, and a user other than root. It needs
// neither a container runtime nor a network.
package image

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/taint-manager/taint-manager/release/archive"
	"github.com/taint-manager/taint-manager/release/build"
)

// user is the user and the group of the process, as numbers, so that a cluster can verify that it is not root.
const user = "65532:65532"

const source = "https://github.com/taint-manager/taint-manager"

// Of returns the image of a binary for one platform.
func Of(binary []byte, t build.Target, i build.Info) (v1.Image, error) {
	certificates, err := layer(archive.Files{"etc/ssl/certs/ca-certificates.crt": {Data: roots()}}, i.Time)
	if err != nil {
		return nil, err
	}
	program, err := layer(archive.Files{"taint-manager": {Mode: 0o755, Data: binary}}, i.Time)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	layered, err := mutate.AppendLayers(base, certificates, program)
	if err != nil {
		return nil, fmt.Errorf("adding the layers: %w", err)
	}
	file, err := layered.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("the image's configuration: %w", err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created = t.OS, t.Arch, v1.Time{Time: i.Time.UTC()}
	file.Config = v1.Config{User: user, Entrypoint: []string{"/taint-manager"}, WorkingDir: "/", Labels: labels(i)}
	file.History = []v1.History{
		{Created: file.Created, CreatedBy: "CA certificates of golang.org/x/crypto/x509roots"},
		{Created: file.Created, CreatedBy: "taint-manager " + i.Version},
	}
	configured, err := mutate.ConfigFile(layered, file)
	if err != nil {
		return nil, fmt.Errorf("the image's configuration: %w", err)
	}
	return configured, nil
}

func labels(i build.Info) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    "taint-manager",
		"org.opencontainers.image.version":  i.Version,
		"org.opencontainers.image.revision": i.Commit,
		"org.opencontainers.image.created":  i.Time.UTC().Format(time.RFC3339),
		"org.opencontainers.image.source":   source,
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
}

func layer(files archive.Files, at time.Time) (v1.Layer, error) {
	var tar bytes.Buffer
	if err := archive.Tar(&tar, files, at); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(tar.Bytes())), nil }
	l, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("making a layer: %w", err)
	}
	return l, nil
}

// roots returns the CA certificates as PEM. It omits those with constraints, which a file can't express.
func roots() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			text.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return text.Bytes()
}

// Platform is the image for one platform.
type Platform struct {
	build.Target
	Image v1.Image
}

// Name is an image's name with its tag.
type Name struct{ tag name.Tag }

// ParseName parses a name such as registry.example.com/taint-manager:v1.2.3.
func ParseName(text string) (Name, error) {
	tag, err := name.NewTag(text)
	if err != nil || !strings.Contains(text[strings.LastIndex(text, "/")+1:], ":") {
		return Name{}, fmt.Errorf("the image name %s is refused: it takes a repository in lower case, a colon and a tag, such as registry.example.com/taint-manager:v1.2.3", text)
	}
	return Name{tag}, nil
}

// String returns the whole name, as containerd and the kubelet know the image.
func (n Name) String() string {
	return strings.Replace(n.tag.Name(), "index.docker.io/", "docker.io/", 1)
}

// Archive writes all platforms as one OCI archive, whose index contains the name. It returns the digest that a registry
// gives the image.
func Archive(w io.Writer, n Name, platforms []Platform, at time.Time) (digest v1.Hash, err error) {
	all := index(platforms)
	if digest, err = all.Digest(); err != nil {
		return digest, fmt.Errorf("the image's digest: %w", err)
	}
	folder, err := os.MkdirTemp("", "image-")
	if err != nil {
		return digest, fmt.Errorf("a folder for the image: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return digest, fmt.Errorf("writing the image: %w", err)
	}
	named := layout.WithAnnotations(map[string]string{
		"io.containerd.image.name":          n.String(),
		"org.opencontainers.image.ref.name": n.tag.TagStr(),
	})
	if err := path.AppendIndex(all, named); err != nil {
		return digest, fmt.Errorf("writing the image: %w", err)
	}
	files, err := archive.Folder(folder)
	if err != nil {
		return digest, err
	}
	return digest, archive.Tar(w, files, at)
}

func index(platforms []Platform) v1.ImageIndex {
	all := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range platforms {
		all = mutate.AppendManifests(all, mutate.IndexAddendum{
			Add: p.Image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.OS, Architecture: p.Arch}},
		})
	}
	return all
}

// DockerArchive writes one platform in the form that `docker load` reads.
func DockerArchive(w io.Writer, n Name, p Platform) error {
	if err := tarball.Write(n.tag, p.Image, w); err != nil {
		return fmt.Errorf("writing the image for docker load: %w", err)
	}
	return nil
}
