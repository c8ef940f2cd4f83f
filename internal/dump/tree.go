// Package dump reads dumps: cluster objects in files written by kubectl and other tools.
//
// A [Tree] reads folders, archives and files, and calls a [Visit] with each object. What one tool wrote into one folder
// is a [Collection]. In folders and archives, non-objects are skipped, and possible gaps and exceeded limits are
// recorded as [Hole]s. Nothing is written to disk; depth, number and size of what is read are limited.
//
// A file is JSON or YAML: lists, arrays and single objects, lists within lists, and several documents in sequence. One
// object is in memory at a time, except items without a kind, which are buffered until their list's kind is read. The
// objects are Kubernetes' own types, without long fields that are never needed, such as containers.
//
// A single file is rejected if objects may be silently missing. The error names the line of YAML, the byte of JSON. In
// YAML of single objects, a truncation between two lines looks like the end.
package dump

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"
	"github.com/mikelolasagasti/xz"
)

// Visit is called with each object of the kinds that are read, in the order of the dump. It is of Kubernetes' own type:
// *v1.Event for events, *policyv1.PodDisruptionBudget for budgets. The dump is as new as the latest of all timestamps
// in objects, or a little newer.
type Visit func(object any, times []time.Time)

// Limits of a tree.
const (
	deepest   = 8       // archives and compressions within each other
	mostFiles = 1 << 20 // in all archives and folders
	mostBytes = 1 << 36 // after decompression
	mostKept  = 1 << 26 // bytes of a zip archive within another archive, and of a decompressor's window
	mostHoles = 20      // of a collection that are named
)

// errTooMuch ends the reading of a tree.
var errTooMuch = errors.New("it has more")

// Tree reads folders, archives and files. What one tool wrote into one folder is a [Collection].
type Tree struct {
	Collections map[string]*Collection // by their roots
	Joined      string                 // the root of the collection to which files belong that are given alone

	visit   func(root string) Visit
	files   int                        // that may still be read
	bytes   int64                      // that may still be read
	kept    int64                      // bytes of a zip archive within another archive, at most
	buffers [deepest + 1]*bufio.Reader // by depth: files of one depth are read one after the other
	decoder jsontext.Decoder           // of one file after the other
}

// NewTree returns a tree that passes the objects of each collection to a visitor of its own.
func NewTree(visit func(root string) Visit) *Tree {
	all := map[string]*Collection{}
	return &Tree{Collections: all, visit: visit, files: mostFiles, bytes: mostBytes, kept: mostKept}
}

// place is where a file is: in an argument, and there within archives.
type place struct {
	argument string // as messages name it
	inner    string // the path within the argument, through all archives
	path     string // within the innermost archive; empty if the argument itself is the file
	depth    int

	root  string // of the collection to which a file of an archive or of a tool belongs; empty for others
	tool  *Tool  // that wrote the file, as its path shows; nil if it is not known
	below string // the path in the tool's folder
}

func (p place) String() string { return strings.TrimSuffix(p.argument+": "+p.inner, ": ") }

// folder returns the folder of a file through all archives, with the argument.
func (p place) folder() string { return path.Dir(path.Join(p.argument, p.inner)) }

// alone reports whether the file was given alone, and not in a folder or an archive.
func (p place) alone() bool { return p.path == "" }

// in returns the place of a member of the folder or the archive that is at p.
func (p place) in(name string) place {
	name = strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
	tool, root, below := toolOf(name)
	if tool != nil || p.inner != "" {
		root = path.Join(p.argument, p.inner, root)
	}
	return place{p.argument, path.Join(p.inner, name), name, p.depth, root, tool, below}
}

// Folder reads the files below a folder. Links are followed to files that fsys has: it must not lead out of the folder.
func (t *Tree) Folder(argument string, fsys fs.FS) error {
	return fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err // it names the folder
		}
		info, err := fs.Stat(fsys, name)
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // a link that leads nowhere or out of the folder, or a device
		}
		open := func() (io.ReadCloser, error) { return fsys.Open(name) }
		return t.member(place{argument: argument}.in(name), open)
	})
}

// File reads a file, which may be an archive.
func (t *Tree) File(argument string, r io.Reader) error {
	return t.content(place{argument: argument}, r)
}

// member reads a file of a folder or an archive, unless its place says that it has no objects.
func (t *Tree) member(p place, open func() (io.ReadCloser, error)) error {
	if t.files--; t.files < 0 {
		return fmt.Errorf("%w than %d files", errTooMuch, mostFiles)
	}
	if !p.isRead() {
		return nil
	}
	r, err := open()
	if err == nil {
		defer r.Close()
		err = t.content(p, r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.path, err)
	}
	return nil
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// limited returns a reader that reads until the tree has no bytes left.
func (t *Tree) limited(r io.Reader) io.Reader {
	return readFunc(func(p []byte) (int, error) {
		if t.bytes < 0 {
			return 0, fmt.Errorf("%w than %d GiB", errTooMuch, mostBytes>>30)
		}
		n, err := r.Read(p)
		t.bytes -= int64(n)
		return n, err
	})
}

// compressions are read by these readers; mark begins the file.
var compressions = []struct {
	name, mark string
	open       func(io.Reader) (io.Reader, error)
}{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"bzip2", "BZh", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"xz", "\xfd7zXZ\x00", func(r io.Reader) (io.Reader, error) { return xz.NewReader(r, mostKept) }},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (io.Reader, error) { // which needs no Close without goroutines
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(mostKept))
	}},
}

// content reads what a file has: a text, or an archive, either of which may be compressed.
func (t *Tree) content(p place, r io.Reader) error {
	if p.depth++; p.depth > deepest {
		return errors.New("archives are nested too deeply; extract this one first")
	}
	if t.buffers[p.depth] == nil {
		t.buffers[p.depth] = bufio.NewReaderSize(nil, 1<<16)
	}
	ahead := t.buffers[p.depth]
	ahead.Reset(t.limited(r))
	peeked, _ := ahead.Peek(262) // as far as a tar archive has its mark; the next read returns an error again
	begin := string(peeked)
	for _, c := range compressions {
		if strings.HasPrefix(begin, c.mark) {
			unpacked, err := c.open(ahead)
			if err != nil {
				return fmt.Errorf("invalid %s data: %w", c.name, err)
			}
			return t.content(p, unpacked)
		}
	}
	switch {
	case len(begin) == 262 && strings.HasSuffix(begin, "ustar"):
		return t.tarball(p, ahead)
	case strings.HasPrefix(begin, "PK\x03\x04"), strings.HasPrefix(begin, "PK\x05\x06"):
		return t.zipped(p, r, ahead)
	}
	return t.text(p, ahead)
}

// tarball reads the files of a tar archive; links and devices are skipped. A cut between two files looks like the end
// to the package tar, which then has read to the end without finding the end mark.
func (t *Tree) tarball(p place, r io.Reader) error {
	ended := false
	archive, last := tar.NewReader(readFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		ended = ended || errors.Is(err, io.EOF)
		return n, err
	})), p
	open := func() (io.ReadCloser, error) { return io.NopCloser(archive), nil }
	for {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF) && ended:
			t.hole(last, Hole{What: "the tar archive ends after this file without its end mark, so files may be missing"})
			return nil
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("cannot read the tar archive: %w", err)
		case header.Typeflag != tar.TypeReg:
			continue
		}
		last = p.in(header.Name)
		if err := t.member(last, open); err != nil {
			return err
		}
	}
}

// zipped reads the files of a zip archive, whose directory is at its end: in place if it is a file of the disk. Any
// other is held, up to a limit.
func (t *Tree) zipped(p place, file, ahead io.Reader) error {
	at, _ := file.(io.ReaderAt)
	size := int64(0)
	if f, ok := file.(io.Seeker); ok && at != nil {
		size, _ = f.Seek(0, io.SeekEnd) // 0 if it is a pipe
	}
	if size == 0 {
		held, err := io.ReadAll(io.LimitReader(ahead, t.kept+1))
		if err != nil {
			return fmt.Errorf("cannot read the zip archive: %w", err)
		}
		if at, size = bytes.NewReader(held), int64(len(held)); size > t.kept {
			const what = "the zip archive has more than %d MiB and is not a file of its own, so it was not read"
			t.hole(p, Hole{What: fmt.Sprintf(what, mostKept>>20)})
			return nil
		}
	}
	archive, err := zip.NewReader(at, size)
	if err != nil {
		return fmt.Errorf("cannot read the zip archive: %w", err)
	}
	for _, f := range archive.File {
		if !f.Mode().IsRegular() {
			continue
		}
		open := func() (io.ReadCloser, error) {
			if f.Flags&1 != 0 {
				return nil, errors.New("it is encrypted; use an archive without a password")
			}
			return f.Open()
		}
		if err := t.member(p.in(f.Name), open); err != nil {
			return err
		}
	}
	return nil
}
