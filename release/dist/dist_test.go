package dist

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	spdx "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
	"github.com/spdx/tools-golang/spdxlib"
	"sigs.k8s.io/krew/pkg/index"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/release/build"
	"github.com/taint-manager/taint-manager/release/chart"
	"github.com/taint-manager/taint-manager/release/manifests"
)

var (
	root = filepath.Join("..", "..")
	info = build.Info{Version: "v1.2.3", Commit: "0123456789abcdef", Time: time.Unix(1767312245, 0)}
)

// made makes a release in a new folder. The binary of this machine is used for all platforms.
func made(t *testing.T) string {
	t.Helper()
	binary, err := os.ReadFile(filepath.Join(root, "bin", "taint-manager"))
	if err != nil {
		t.Skipf("it needs the binary that `make build` makes: %v", err)
	}
	out := t.TempDir()
	r := Release{
		Root: root, Out: out, Info: info, Repository: "registry.example.com/taint-manager", URL: "https://example.com/v1.2.3", Say: t.Logf,
		Compile: func(_ context.Context, _ string, _ build.Info, _ build.Target, output string) error {
			if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
				return err
			}
			return os.WriteFile(output, binary, 0o755)
		},
	}
	if err := r.All(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out
}

// contents returns the checksums of all files below a folder, except for those of .build.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() == ".build" {
			return fs.SkipDir
		}
		if entry.IsDir() {
			return nil
		}
		name, err := filepath.Rel(folder, path)
		all[filepath.ToSlash(name)] = fmt.Sprintf("%x", sha256.Sum256(read(t, path)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestAReleaseHasAllItsFiles(t *testing.T) {
	out := made(t)
	files := contents(t, out)
	want := []string{
		"SHA256SUMS", "THIRD_PARTY_NOTICES.txt",
		"completions/taint-manager.bash", "completions/taint-manager.fish", "completions/taint-manager.powershell", "completions/taint-manager.zsh",
		"image-linux-amd64.docker.tar", "image-linux-arm64.docker.tar", "image.tar", "install.yaml", "krew.yaml", "sbom.spdx.json", "taint-manager-1.2.3.tgz",
		"taint-manager_v1.2.3_darwin_amd64.tar.gz", "taint-manager_v1.2.3_darwin_arm64.tar.gz",
		"taint-manager_v1.2.3_linux_amd64.tar.gz", "taint-manager_v1.2.3_linux_arm64.tar.gz", "taint-manager_v1.2.3_windows_amd64.zip",
	}
	var got []string
	for name := range files {
		got = append(got, name)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	t.Run("the checksums are those of the files", func(t *testing.T) { checksums(t, out, files) })
	t.Run("archives hold the program and its licenses", func(t *testing.T) { archives(t, out) })
	t.Run("krew installs the program of each platform", func(t *testing.T) { plugin(t, out) })
	t.Run("the bill of materials names every module of the binary", func(t *testing.T) { bill(t, out) })
	t.Run("chart and install.yaml install this version", func(t *testing.T) { installs(t, out) })
	t.Run("make publish pushes what they install", func(t *testing.T) { publishes(t, out) })
}

func checksums(t *testing.T, out string, files map[string]string) {
	listed := map[string]string{}
	for line := range strings.Lines(string(read(t, filepath.Join(out, "SHA256SUMS")))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		listed[name] = sum
	}
	delete(files, "SHA256SUMS")
	if diff := cmp.Diff(files, listed); diff != "" {
		t.Errorf("(-files +SHA256SUMS):\n%s", diff)
	}
}

var packed = []string{
	"LICENSE", "THIRD_PARTY_NOTICES.txt", "completions/",
	"completions/taint-manager.bash", "completions/taint-manager.fish", "completions/taint-manager.powershell", "completions/taint-manager.zsh",
}

func archives(t *testing.T, out string) {
	zipped, err := gzip.NewReader(bytes.NewReader(read(t, filepath.Join(out, "taint-manager_v1.2.3_darwin_arm64.tar.gz"))))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	in := tar.NewReader(zipped)
	for header, err := in.Next(); err != io.EOF; header, err = in.Next() {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
		if !header.ModTime.Equal(info.Time) || header.Name == "taint-manager" && header.Mode != 0o755 {
			t.Errorf("got %+v", header)
		}
	}
	if diff := cmp.Diff(append(slices.Clone(packed), "taint-manager"), names); diff != "" {
		t.Errorf("tar.gz (-want +got):\n%s", diff)
	}
	windows, err := zip.OpenReader(filepath.Join(out, "taint-manager_v1.2.3_windows_amd64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = windows.Close() }()
	names = nil
	for _, f := range windows.File {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff(append(slices.Clone(packed), "taint-manager.exe"), names); diff != "" {
		t.Errorf("zip (-want +got):\n%s", diff)
	}
}

// krew itself installs each archive, whose checksum it compares with the manifest's.
func plugin(t *testing.T, out string) {
	var manifest index.Plugin
	if err := yaml.UnmarshalStrict(read(t, filepath.Join(out, "krew.yaml")), &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Spec.Platforms) != len(cliTargets) {
		t.Errorf("got %d platforms", len(manifest.Spec.Platforms))
	}
	path, err := exec.CommandContext(t.Context(), "go", "tool", "-n", "krew").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range manifest.Spec.Platforms {
		labels, home := p.Selector.MatchLabels, t.TempDir()
		name, ok := strings.CutPrefix(p.URI, "https://example.com/v1.2.3/")
		if !ok {
			t.Errorf("got the URI %s", p.URI)
		}
		krew := exec.CommandContext(t.Context(), strings.TrimSpace(string(path)), "install", "--manifest", filepath.Join(out, "krew.yaml"), "--archive", filepath.Join(out, name))
		krew.Env = append(os.Environ(), "KREW_NO_UPGRADE_CHECK=1", "KREW_ROOT="+home, "KREW_OS="+labels["os"], "KREW_ARCH="+labels["arch"])
		if said, err := krew.CombinedOutput(); err != nil {
			t.Errorf("krew on %v: %v: %s", labels, err, said)
			continue
		}
		installed := filepath.Join(home, "store", "taint-manager", "v1.2.3")
		if info, err := os.Stat(filepath.Join(installed, p.Bin)); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("krew on %v: the program: %v, %v", labels, info, err)
		}
		if diff := cmp.Diff(read(t, filepath.Join(root, "LICENSE")), read(t, filepath.Join(installed, "LICENSE"))); diff != "" {
			t.Errorf("krew on %v: the license:\n%s", labels, diff)
		}
	}
}

// bill reads the bill of materials by the library of SPDX, and compares it with what the binary says of itself.
func bill(t *testing.T, out string) {
	text := read(t, filepath.Join(out, "sbom.spdx.json"))
	document, err := spdx.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := spdxlib.ValidateDocument(document); err != nil {
		t.Error(err)
	}
	described, err := spdxlib.GetDescribedPackageIDs(document)
	if want := []common.ElementID{"github.com-taint-manager-taint-manager"}; err != nil || !slices.Equal(described, want) || document.SPDXVersion != v2_3.Version {
		t.Errorf("%s describes %v, want %v: %v", document.SPDXVersion, described, want, err)
	}
	if diff := cmp.Diff(modules(t), packages(document)); diff != "" {
		t.Errorf("modules (-binary +bill):\n%s", diff)
	}
	texts := string(read(t, filepath.Join(out, "THIRD_PARTY_NOTICES.txt")))
	for _, p := range document.Packages {
		if p.PackageLicenseDeclared == "" || p.PackageLicenseDeclared == "NOASSERTION" || len(p.PackageExternalReferences) != 1 {
			t.Errorf("got %+v", p)
		}
		if p.PackageName != "std" && p.PackageSPDXIdentifier != described[0] && !strings.Contains(texts, "\n"+p.PackageName+" "+p.PackageVersion) {
			t.Errorf("the notices lack %s", p.PackageName)
		}
	}
}

// modules returns the versions of the modules that the binary names, by `go version -m`.
func modules(t *testing.T) map[string]string {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "go", "version", "-m", filepath.Join(root, "bin", "taint-manager")).Output()
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(said), "\n")
	all := map[string]string{"github.com/taint-manager/taint-manager": info.Version, "std": strings.TrimPrefix(strings.Fields(first)[1], "go")}
	for line := range strings.Lines(string(said)) {
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "dep" {
			all[fields[1]] = fields[2]
		}
	}
	return all
}

func packages(document *v2_3.Document) map[string]string {
	all := map[string]string{}
	for _, p := range document.Packages {
		all[p.PackageName] = p.PackageVersion
	}
	return all
}

func installs(t *testing.T, out string) {
	files, err := chart.Render(filepath.Join(out, "taint-manager-1.2.3.tgz"), chart.Release{Namespace: manifests.Namespace})
	if err != nil {
		t.Fatal(err)
	}
	all, install := chart.Join(files), string(read(t, filepath.Join(out, "install.yaml")))
	name := "registry.example.com/taint-manager@" + digest(t, filepath.Join(out, "image.tar"))
	if !strings.HasSuffix(install, all) || !strings.Contains(all, "image: "+name+"\n") {
		t.Errorf("the chart differs from install.yaml, or neither has %s:\n%s", name, cmp.Diff(install, all))
	}
}

// digest returns the digest of an archive's only entry, by which a registry knows it.
func digest(t *testing.T, archive string) string {
	t.Helper()
	in := tar.NewReader(bytes.NewReader(read(t, archive)))
	for {
		header, err := in.Next()
		if err != nil {
			t.Fatalf("%s has no index: %v", archive, err)
		}
		if header.Name != "index.json" {
			continue
		}
		var index v1.IndexManifest
		if err := json.NewDecoder(in).Decode(&index); err != nil {
			t.Fatal(err)
		}
		return index.Manifests[0].Digest.String()
	}
}

// TestAReleaseHasAllItsFiles takes the binary of this machine for all platforms. The image's are compiled below.
func TestTheProgramCompilesForPlatformsWithoutAnImage(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the program for three platforms: run `make test-release`")
	}
	for _, target := range cliTargets[len(imageTargets):] {
		path := filepath.Join(t.TempDir(), target.Binary())
		if err := build.Compile(t.Context(), root, info, target, path); err != nil {
			t.Error(err)
			continue
		}
		said, err := buildinfo.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"GOOS": target.OS, "GOARCH": target.Arch} {
			if !slices.Contains(said.Settings, debug.BuildSetting{Key: key, Value: want}) {
				t.Errorf("%s: the settings of the binary are %v", target, said.Settings)
			}
		}
	}
}

// The second build has its own path and build cache, so that it reuses nothing of the first one.
func TestTheSameCommitMakesTheSameImageOnTwoPaths(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the program for both platforms, once from nothing: run `make test-release`")
	}
	first := imageOf(t, filepath.Join(t.TempDir(), "one"))
	t.Setenv("GOCACHE", t.TempDir())
	second := imageOf(t, filepath.Join(t.TempDir(), "another", "folder"))
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two builds of one commit differ:\n%s", diff)
	}
}

// imageOf clones the commit into a folder, makes the image there, and returns the checksums of its files.
func imageOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	clone := exec.CommandContext(t.Context(), "git", "clone", "--quiet", root, folder)
	if said, err := clone.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	r := Release{Root: folder, Out: filepath.Join(folder, "dist"), Info: info, Repository: "localhost/taint-manager", Say: t.Logf, Compile: build.Compile}
	if err := r.Image(t.Context()); err != nil {
		t.Fatal(err)
	}
	version, err := exec.CommandContext(t.Context(), filepath.Join(r.Out, ".build", "linux-amd64", "taint-manager"), "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{info.Version, info.Commit, info.Time.UTC().Format(time.RFC3339)} {
		if !strings.Contains(string(version), want) {
			t.Errorf("version does not name %s:\n%s", want, version)
		}
	}
	program, err := elf.Open(filepath.Join(r.Out, ".build", "linux-amd64", "taint-manager"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Close() }()
	if libraries, err := program.ImportedLibraries(); err != nil || len(libraries) > 0 || program.Section(".interp") != nil {
		t.Errorf("the binary is not static: it needs %v, %v", libraries, err)
	}
	return contents(t, r.Out)
}
