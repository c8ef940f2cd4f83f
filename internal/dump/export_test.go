package dump

import "io"

// ReadAlone reads a file that is given alone.
func ReadAlone(r io.Reader, to Visit) error {
	return NewTree(func(string) Visit { return to }).File("dump", r)
}
