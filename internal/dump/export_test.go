package dump

import "io"

// ReadAlone reads a file that is given alone.
func ReadAlone(r io.Reader, to Visit) error {
	return NewTree(func(string) Visit { return to }).File("dump", r)
}

// MostParsed is how many bytes an object that is read, and a piece of YAML, may have.
const MostParsed = mostParsed

// Limit sets how many files and bytes are read.
func (t *Tree) Limit(files int, bytes int64) { t.files, t.bytes = files, bytes }

// LimitZip sets how many bytes a zip archive within another archive may have.
func (t *Tree) LimitZip(bytes int64) { t.kept = bytes }
