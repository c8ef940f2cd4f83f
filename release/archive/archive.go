// Package archive writes archives that depend only on the names and bytes of files and on one time.
package archive

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// File is a file, or a folder if its name ends in a slash.
type File struct {
	Name string
	Mode fs.FileMode // 0 means 0644, and 0755 for a folder
	Data []byte
}

func (f File) folder() bool { return strings.HasSuffix(f.Name, "/") }

func (f File) mode() fs.FileMode {
	switch {
	case f.Mode != 0:
		return f.Mode
	case f.folder():
		return 0o755
	default:
		return 0o644
	}
}

// sorted returns the files by name, so that a folder precedes its files.
func sorted(files []File) []File {
	return slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}

// Folder returns all files and folders in a folder, named from there.
func Folder(folder string) (files []File, err error) {
	all := os.DirFS(folder)
	err = fs.WalkDir(all, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() {
			files = append(files, File{Name: name + "/"})
			return nil
		}
		data, err := fs.ReadFile(all, name)
		files = append(files, File{Name: name, Data: data})
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
func Tar(w io.Writer, files []File, at time.Time) error {
	out := tar.NewWriter(w)
	for _, f := range sorted(files) {
		header := &tar.Header{
			Name: f.Name, Mode: int64(f.mode()), Size: int64(len(f.Data)), ModTime: at.UTC(),
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR,
		}
		if f.folder() {
			header.Typeflag = tar.TypeDir
		}
		if err := out.WriteHeader(header); err != nil {
			return fmt.Errorf("writing %s: %w", f.Name, err)
		}
		if _, err := out.Write(f.Data); err != nil {
			return fmt.Errorf("writing %s: %w", f.Name, err)
		}
	}
	return out.Close()
}

// TarGz writes the files as Tar does, compressed. The header of gzip has neither a name nor a time.
func TarGz(w io.Writer, files []File, at time.Time) error {
	zipped := gzip.NewWriter(w)
	if err := Tar(zipped, files, at); err != nil {
		return err
	}
	return zipped.Close()
}

// Zip writes the files as a zip archive.
func Zip(w io.Writer, files []File, at time.Time) error {
	out := zip.NewWriter(w)
	for _, f := range sorted(files) {
		header := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: at.UTC()}
		header.SetMode(f.mode())
		entry, err := out.CreateHeader(header)
		if err == nil {
			_, err = entry.Write(f.Data)
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", f.Name, err)
		}
	}
	return out.Close()
}
