// Package dist writes the files of a release.
package dist

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/taint-manager/taint-manager/release/archive"
	"github.com/taint-manager/taint-manager/release/build"
	"github.com/taint-manager/taint-manager/release/chart"
	"github.com/taint-manager/taint-manager/release/image"
	"github.com/taint-manager/taint-manager/release/krew"
	"github.com/taint-manager/taint-manager/release/manifests"
	"github.com/taint-manager/taint-manager/release/notices"
)

// Release describes a release.
type Release struct {
	Root       string // of the repository
	Out        string // the folder of the files
	Info       build.Info
	Repository string // of the image: its name without the tag, which is the version
	URL        string // where the archives will be available
	Say        func(format string, args ...any)

	// Compile is [build.Compile]; tests replace it by a faster function.
	Compile func(ctx context.Context, root string, i build.Info, t build.Target, output string) error
}

var (
	imageTargets = []build.Target{{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"}}
	cliTargets   = append(slices.Clone(imageTargets),
		build.Target{OS: "darwin", Arch: "amd64"}, build.Target{OS: "darwin", Arch: "arm64"},
		build.Target{OS: "windows", Arch: "amd64"})
	shells = []string{"bash", "fish", "powershell", "zsh"}
)

// compiled is a binary in a folder that is not part of the release.
type compiled struct {
	build.Target
	path string
	data []byte
}

func (r Release) compile(ctx context.Context, targets []build.Target) (all []compiled, err error) {
	for _, t := range targets {
		r.Say("compiling for %s", t)
		c := compiled{Target: t, path: filepath.Join(r.Out, ".build", t.OS+"-"+t.Arch, t.Binary())}
		if err := r.Compile(ctx, r.Root, r.Info, t, c.path); err != nil {
			return nil, err
		}
		if c.data, err = os.ReadFile(c.path); err != nil {
			return nil, fmt.Errorf("reading a binary: %w", err)
		}
		all = append(all, c)
	}
	return all, nil
}

// Image writes the image alone.
func (r Release) Image(ctx context.Context) error {
	_, _, err := r.begin(ctx, imageTargets)
	return err
}

// All writes all files of the release, and a list of their checksums.
func (r Release) All(ctx context.Context) error {
	all, digest, err := r.begin(ctx, cliTargets)
	if err != nil {
		return err
	}
	shared, err := r.shared(ctx, all)
	if err != nil {
		return err
	}
	if err := r.plugin(all, shared); err != nil {
		return err
	}
	if err := r.manifests(digest); err != nil {
		return err
	}
	return r.checksums()
}

// begin compiles for the targets, which begin with those of the image, and writes the image.
func (r Release) begin(ctx context.Context, targets []build.Target) (all []compiled, digest string, err error) {
	n, err := image.ParseName(r.Repository + ":" + r.Info.Version)
	if err != nil {
		return nil, "", err
	}
	if all, err = r.compile(ctx, targets); err != nil {
		return nil, "", err
	}
	digest, err = r.image(n, all[:len(imageTargets)])
	return all, digest, err
}

// image writes the image, and returns its digest.
func (r Release) image(n image.Name, binaries []compiled) (string, error) {
	var platforms []image.Platform
	for _, b := range binaries {
		img, err := image.Of(b.data, b.Target, r.Info)
		if err != nil {
			return "", err
		}
		p := image.Platform{Target: b.Target, Image: img}
		platforms = append(platforms, p)
		var out bytes.Buffer
		if err := image.DockerArchive(&out, n, p); err != nil {
			return "", err
		}
		if err := r.write("image-"+b.OS+"-"+b.Arch+".docker.tar", out.Bytes()); err != nil {
			return "", err
		}
	}
	var out bytes.Buffer
	digest, err := image.Archive(&out, n, platforms, r.Info.Time)
	if err != nil {
		return "", err
	}
	r.Say("the image is %s@%s", n, digest)
	return digest.String(), r.write("image.tar", out.Bytes())
}

// shared writes the notices, the bill of materials and the completions, and returns the files that are part of every
// archive of the program.
func (r Release) shared(ctx context.Context, binaries []compiled) (archive.Files, error) {
	paths := make([]string, len(binaries))
	for i, b := range binaries {
		paths[i] = b.path
	}
	modules, err := notices.Of(ctx, r.Root, paths...)
	if err != nil {
		return nil, err
	}
	bill, err := notices.SPDX(modules, r.Info)
	if err != nil {
		return nil, err
	}
	if err := r.write("sbom.spdx.json", bill); err != nil {
		return nil, err
	}
	texts := []byte(notices.Notices(modules))
	if err := r.write("THIRD_PARTY_NOTICES.txt", texts); err != nil {
		return nil, err
	}
	license, err := os.ReadFile(filepath.Join(r.Root, "LICENSE"))
	if err != nil {
		return nil, fmt.Errorf("the license: %w", err)
	}
	completions, err := r.completions(ctx, binaries)
	if err != nil {
		return nil, err
	}
	completions["LICENSE"] = &fstest.MapFile{Data: license}
	completions["THIRD_PARTY_NOTICES.txt"] = &fstest.MapFile{Data: texts}
	return completions, nil
}

// completions returns the completions, which the binary of this machine's platform prints.
func (r Release) completions(ctx context.Context, binaries []compiled) (archive.Files, error) {
	i := slices.IndexFunc(binaries, func(b compiled) bool { return b.OS == runtime.GOOS && b.Arch == runtime.GOARCH })
	if i < 0 {
		return nil, fmt.Errorf("printing completions: there is no binary for %s/%s; make the release on %s",
			runtime.GOOS, runtime.GOARCH, binaries[0])
	}
	files := archive.Files{}
	for _, shell := range shells {
		text, err := exec.CommandContext(ctx, binaries[i].path, "completion", shell).Output()
		if err != nil {
			return nil, fmt.Errorf("printing completions for %s: %w", shell, err)
		}
		name := "completions/taint-manager." + shell
		files[name] = &fstest.MapFile{Data: text}
		if err := r.write(name, text); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// plugin writes the archives of the program and the manifest by which krew installs them.
func (r Release) plugin(binaries []compiled, shared archive.Files) error {
	var archives []krew.Archive
	for _, b := range binaries {
		files := maps.Clone(shared)
		files[b.Binary()] = &fstest.MapFile{Mode: 0o755, Data: b.data}
		name, pack := fmt.Sprintf("taint-manager_%s_%s_%s", r.Info.Version, b.OS, b.Arch), archive.TarGz
		if b.OS == "windows" {
			name, pack = name+".zip", archive.Zip
		} else {
			name += ".tar.gz"
		}
		var out bytes.Buffer
		if err := pack(&out, files, r.Info.Time); err != nil {
			return err
		}
		if err := r.write(name, out.Bytes()); err != nil {
			return err
		}
		sum := fmt.Sprintf("%x", sha256.Sum256(out.Bytes()))
		archives = append(archives, krew.Archive{Target: b.Target, Name: name, SHA256: sum})
	}
	manifest, err := krew.Manifest(r.Info.Version, r.URL, archives)
	if err != nil {
		return err
	}
	return r.write("krew.yaml", manifest)
}

// manifests writes install.yaml and the chart. Both name the image by its digest, unless no registry has it: an image
// that is imported on a node is known by its tag.
func (r Release) manifests(digest string) error {
	if strings.HasPrefix(r.Repository, "localhost/") {
		digest = ""
	}
	image := chart.Image{Repository: r.Repository, Digest: digest}
	text, err := manifests.Install(r.Root, r.Info.Version, image)
	if err != nil {
		return err
	}
	if err := r.write("install.yaml", []byte(text)); err != nil {
		return err
	}
	return chart.Pack(filepath.Join(r.Root, manifests.ChartDir), r.Out, r.Info.Version, image, r.Info.Time)
}

func (r Release) write(name string, data []byte) error {
	return archive.Write(filepath.Join(r.Out, filepath.FromSlash(name)), data)
}

// checksums lists all files of the release as sha256sum does.
func (r Release) checksums() error {
	files, err := archive.Folder(r.Out)
	if err != nil {
		return err
	}
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasPrefix(name, ".build/") && name != "SHA256SUMS" {
			fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(files[name].Data), name)
		}
	}
	return r.write("SHA256SUMS", []byte(list.String()))
}
