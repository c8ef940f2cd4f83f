package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/taint-manager/taint-manager/release/build"
)

var info = build.Info{Version: "v1.2.3", Commit: "abc", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 7200))}

func platforms(t *testing.T) (all []Platform) {
	t.Helper()
	for _, arch := range []string{"amd64", "arm64"} {
		target := build.Target{OS: "linux", Arch: arch}
		img, err := Of([]byte("a binary for "+arch), target, info)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Platform{target, img})
	}
	return all
}

func parsed(t *testing.T, text string) Name {
	t.Helper()
	n, err := ParseName(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func written(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := Archive(&out, parsed(t, "localhost/taint-manager:v1.2.3"), platforms(t), info.Time); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unpacked returns the one entry of the archive's index, as tools that import it read it.
func unpacked(t *testing.T) (v1.Descriptor, v1.ImageIndex) {
	t.Helper()
	folder := t.TempDir()
	in := tar.NewReader(bytes.NewReader(written(t)))
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, filepath.FromSlash(header.Name))
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var data []byte
			if data, err = io.ReadAll(in); err == nil {
				err = os.WriteFile(path, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	top, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := top.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("%v: %+v", err, manifest)
	}
	index, err := top.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return manifest.Manifests[0], index
}

func TestTheArchiveNamesTheImageForThoseWhoImportIt(t *testing.T) {
	entry, _ := unpacked(t)
	want := map[string]string{"io.containerd.image.name": "localhost/taint-manager:v1.2.3", "org.opencontainers.image.ref.name": "v1.2.3"}
	if diff := cmp.Diff(want, entry.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestTheArchiveIsAValidIndexOfBothPlatforms(t *testing.T) {
	_, index := unpacked(t)
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range manifest.Manifests {
		got = append(got, m.Platform.String())
	}
	if want := []string{"linux/amd64", "linux/arm64"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// skopeo and crane push the entry of the archive's index, which is the index of both platforms.
func TestARegistryTakesTheArchiveAndGivesEachPlatformBack(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	tag, err := name.NewTag(strings.TrimPrefix(server.URL, "http://") + "/a/taint-manager:v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	entry, index := unpacked(t)
	if err := remote.WriteIndex(tag, index); err != nil {
		t.Fatal(err)
	}
	pulled, err := remote.Index(tag)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pulled.Digest(); err != nil || got != entry.Digest {
		t.Errorf("got %v, want %v, %v", got, entry.Digest, err)
	}
	if err := validate.Index(pulled); err != nil {
		t.Error(err)
	}
	for _, p := range platforms(t) {
		got, err := remote.Image(tag, remote.WithPlatform(v1.Platform{OS: p.OS, Architecture: p.Arch}))
		if err != nil {
			t.Fatal(err)
		}
		want, err := p.Image.Digest()
		if digest, failed := got.Digest(); err != nil || failed != nil || digest != want {
			t.Errorf("%s: got %v, want %v, %v, %v", p, digest, want, failed, err)
		}
	}
}

func TestTheImageHoldsTheBinaryAndCertificatesAndNothingElse(t *testing.T) {
	for _, p := range platforms(t) {
		var names []string
		in := tar.NewReader(mutate.Extract(p.Image))
		for header, err := in.Next(); err != io.EOF; header, err = in.Next() {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, strings.TrimSuffix(header.Name, "/"))
			data, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			checkFile(t, p, header, data)
		}
		slices.Sort(names)
		want := []string{"etc", "etc/ssl", "etc/ssl/certs", "etc/ssl/certs/ca-certificates.crt", "taint-manager"}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p, diff)
		}
	}
}

func checkFile(t *testing.T, p Platform, header *tar.Header, data []byte) {
	t.Helper()
	if header.Uid != 0 || header.Gid != 0 || header.Uname+header.Gname != "" || !header.ModTime.Equal(info.Time) {
		t.Errorf("%s: got owner %d:%d %q and time %v", header.Name, header.Uid, header.Gid, header.Uname, header.ModTime)
	}
	switch header.Name {
	case "taint-manager":
		if string(data) != "a binary for "+p.Arch || header.Mode != 0o755 {
			t.Errorf("%s holds %q with mode %o", p, data, header.Mode)
		}
	case "etc/ssl/certs/ca-certificates.crt":
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(data) || strings.Count(string(data), "BEGIN CERTIFICATE") < 50 {
			t.Errorf("%d bytes hold no CA certificates", len(data))
		}
	}
}

func TestTheImageRunsTheProgramAsAUserThatIsNotRoot(t *testing.T) {
	for _, p := range platforms(t) {
		file, err := p.Image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		c := file.Config
		if c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/taint-manager"}) || c.Cmd != nil || file.Architecture != p.Arch {
			t.Errorf("%s: got %+v of %s", p, c, file.Architecture)
		}
		if c.Labels["org.opencontainers.image.revision"] != "abc" || c.Labels["org.opencontainers.image.created"] != "2026-01-02T01:04:05Z" {
			t.Errorf("%s: got labels %v", p, c.Labels)
		}
	}
}

func TestTheSameBinariesMakeTheSameArchives(t *testing.T) {
	if !bytes.Equal(written(t), written(t)) {
		t.Error("two OCI archives differ")
	}
	n := parsed(t, "localhost/taint-manager:v1.2.3")
	var a, b bytes.Buffer
	for out, p := range map[*bytes.Buffer]Platform{&a: platforms(t)[0], &b: platforms(t)[0]} {
		if err := DockerArchive(out, n, p); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("two archives for docker load differ")
	}
}

func TestLayersAreCompressedWithoutNameAndTime(t *testing.T) {
	layers, err := platforms(t)[0].Image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		compressed, err := l.Compressed()
		if err != nil {
			t.Fatal(err)
		}
		header, err := gzip.NewReader(compressed)
		if err != nil || header.Name != "" || !header.ModTime.IsZero() || header.Comment != "" {
			t.Errorf("got %+v, %v", header, err)
		}
	}
}

func TestDockerLoadGetsTheImageByItsName(t *testing.T) {
	const text = "registry.example.com:5000/a/taint-manager:v1.2.3"
	path := filepath.Join(t.TempDir(), "image.tar")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	p := platforms(t)[1]
	if err := DockerArchive(out, parsed(t, text), p); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(text)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := tarball.ImageFromPath(path, &tag)
	if err != nil {
		t.Fatal(err)
	}
	got, err := loaded.ConfigName()
	if err != nil {
		t.Fatal(err)
	}
	if want, err := p.Image.ConfigName(); err != nil || got != want {
		t.Errorf("got %v, want %v, %v", got, want, err)
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"localhost/taint-manager:v1":     "localhost/taint-manager:v1",
		"registry:5000/a/b:v1":           "registry:5000/a/b:v1",
		"taint-manager:v1":               "docker.io/library/taint-manager:v1",
		"taint-manager":                  "",
		"localhost:5000/taint-manager":   "",
		"localhost/Taint:v1":             "",
		"localhost/taint-manager:v1+dev": "",
	} {
		n, err := ParseName(text)
		if want == "" && err == nil || want != "" && (err != nil || n.String() != want) {
			t.Errorf("%s: got %v, %v, want %q", text, n, err, want)
		}
	}
}
