package chart

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/release/archive"
)

// Pack writes the chart in dir as an archive that helm installs. The tag of its image is this version; with an empty
// repository, the image has the chart's repository.
func Pack(w io.Writer, dir, version, repository string, at time.Time) error {
	var files []archive.File
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == ".helmignore" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(filepath.Dir(dir), path)
		files = append(files, archive.File{Name: "taint-manager/" + strings.TrimPrefix(filepath.ToSlash(name),
			filepath.Base(dir)+"/"), Data: []byte(released(entry.Name(), string(data), version, repository))})
		return err
	})
	if err != nil {
		return fmt.Errorf("reading the chart: %w", err)
	}
	return archive.TarGz(w, files, at)
}

var (
	versionLine    = regexp.MustCompile(`(?m)^version: .*$`)
	appVersionLine = regexp.MustCompile(`(?m)^appVersion: .*$`)
	repositoryLine = regexp.MustCompile(`(?m)^  repository: .*$`)
)

// released returns the text of a file of the chart, as a release contains it.
func released(name, text, version, repository string) string {
	switch {
	case name == "Chart.yaml":
		text = versionLine.ReplaceAllLiteralString(text, "version: "+strings.TrimPrefix(version, "v"))
		return appVersionLine.ReplaceAllLiteralString(text, "appVersion: "+version)
	case name == "values.yaml" && repository != "":
		return repositoryLine.ReplaceAllLiteralString(text, "  repository: "+repository)
	default:
		return text
	}
}
