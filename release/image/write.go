package image

import (
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

	"github.com/taint-manager/taint-manager/release/archive"
	"github.com/taint-manager/taint-manager/release/build"
)

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

// Archive writes all platforms as one OCI archive, whose index contains the name.
func Archive(w io.Writer, n Name, platforms []Platform, at time.Time) error {
	folder, err := os.MkdirTemp("", "image-")
	if err != nil {
		return fmt.Errorf("a folder for the image: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return fmt.Errorf("writing the image: %w", err)
	}
	named := layout.WithAnnotations(map[string]string{
		"io.containerd.image.name":          n.String(),
		"org.opencontainers.image.ref.name": n.tag.TagStr(),
	})
	if err := path.AppendIndex(index(platforms), named); err != nil {
		return fmt.Errorf("writing the image: %w", err)
	}
	files, err := archive.Folder(folder)
	if err != nil {
		return err
	}
	return archive.Tar(w, files, at)
}

func index(platforms []Platform) v1.ImageIndex {
	all := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range platforms {
		platform := &v1.Platform{OS: p.OS, Architecture: p.Arch}
		all = mutate.AppendManifests(all, mutate.IndexAddendum{
			Add:        p.Image,
			Descriptor: v1.Descriptor{Platform: platform},
		})
	}
	return all
}

// Digest returns the digest of the image of all platforms, which a registry gives it.
func Digest(platforms []Platform) (string, error) {
	digest, err := index(platforms).Digest()
	if err != nil {
		return "", fmt.Errorf("the image's digest: %w", err)
	}
	return digest.String(), nil
}

// DockerArchive writes one platform in the form that `docker load` reads.
func DockerArchive(w io.Writer, n Name, p Platform) error {
	if err := tarball.Write(n.tag, p.Image, w); err != nil {
		return fmt.Errorf("writing the image for docker load: %w", err)
	}
	return nil
}
