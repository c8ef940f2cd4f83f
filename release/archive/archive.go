// Package archive writes archives that depend only on the names and bytes of files and on one time.
package archive

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing/fstest"
	"time"
)

// Files are the contents of an archive by name. A mode of 0 means 0644. Folders need no entry.
type Files = fstest.MapFS

// complete returns the files and the folders that hold them, all of one time.
func complete(files Files, at time.Time) Files {
	all := Files{}
	for name, f := range files {
		all[name] = &fstest.MapFile{Data: f.Data, Mode: cmp.Or(f.Mode, 0o644), ModTime: at.UTC()}
		for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
			all[folder] = &fstest.MapFile{Mode: fs.ModeDir | 0o755, ModTime: at.UTC()}
		}
	}
	return all
}

// Folder returns all files in a folder, named by their paths within it.
func Folder(folder string) (Files, error) {
	files, all := Files{}, os.DirFS(folder)
	err := fs.WalkDir(all, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(all, name)
		files[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", folder, err)
	}
	return files, nil
}

// Write writes a file of a release or of the repository, and its folder.
func Write(path string, data []byte) error {
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing a file: %w", err)
	}
	return nil
}

// Tar writes the files, owned by root.
func Tar(w io.Writer, files Files, at time.Time) error {
	out := tar.NewWriter(w)
	if err := out.AddFS(complete(files, at)); err != nil {
		return fmt.Errorf("writing an archive: %w", err)
	}
	return out.Close()
}

// TarGz writes the files as Tar does, compressed. The header of gzip has neither a name nor a time.
func TarGz(w io.Writer, files Files, at time.Time) error {
	zipped := gzip.NewWriter(w)
	if err := Tar(zipped, files, at); err != nil {
		return err
	}
	return zipped.Close()
}

// Zip writes the files as a zip archive.
func Zip(w io.Writer, files Files, at time.Time) error {
	out := zip.NewWriter(w)
	if err := out.AddFS(complete(files, at)); err != nil {
		return fmt.Errorf("writing an archive: %w", err)
	}
	return out.Close()
}
