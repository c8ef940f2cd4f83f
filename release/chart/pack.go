package chart

import (
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/release/archive"
)

// Pack writes the chart in dir as an archive that helm installs. The tag of its image is this version, unless the image
// has a digest.
func Pack(w io.Writer, dir, version string, image Image, at time.Time) error {
	all, err := archive.Folder(dir)
	if err != nil {
		return err
	}
	var files []archive.File
	for _, f := range all {
		if name := path.Base(f.Name); name != ".helmignore" && !strings.HasSuffix(f.Name, "/") {
			text := released(name, string(f.Data), version, image)
			files = append(files, archive.File{Name: "taint-manager/" + f.Name, Data: []byte(text)})
		}
	}
	return archive.TarGz(w, files, at)
}

// Image is the image that a chart or a manifest names: by its digest, or by a tag if the digest is empty. An empty
// repository means the chart's.
type Image struct{ Repository, Digest string }

var (
	versionLine    = regexp.MustCompile(`(?m)^version: .*$`)
	appVersionLine = regexp.MustCompile(`(?m)^appVersion: .*$`)
	repositoryLine = regexp.MustCompile(`(?m)^  repository: .*$`)
	digestLine     = regexp.MustCompile(`(?m)^  digest: .*$`)
)

// released returns the text of a file of the chart, as a release contains it.
func released(name, text, version string, image Image) string {
	switch {
	case name == "Chart.yaml":
		text = versionLine.ReplaceAllLiteralString(text, "version: "+strings.TrimPrefix(version, "v"))
		return appVersionLine.ReplaceAllLiteralString(text, "appVersion: "+version)
	case name == "values.yaml" && image.Repository != "":
		text = repositoryLine.ReplaceAllLiteralString(text, "  repository: "+image.Repository)
		return digestLine.ReplaceAllLiteralString(text, "  digest: \""+image.Digest+"\"")
	default:
		return text
	}
}
