package dump

import (
	"errors"
	"io"
)

// largest is the maximum size of an object in bytes. The API server accepts at most 3 MiB.
const largest = 32 << 20

var errTooLarge = errors.New("more bytes than allowed")

// meter counts the bytes that it reads, and returns errTooLarge after more than were allowed.
type meter struct {
	from       io.Reader
	read, most int64
	err        error // of the last call
}

// allow allows n more bytes, in addition to the bytes that a buffer reads ahead.
func (m *meter) allow(n int64) { m.most = m.read + n }

func (m *meter) Read(p []byte) (n int, err error) {
	if m.read > m.most {
		return 0, errTooLarge
	}
	n, m.err = m.from.Read(p)
	m.read += int64(n)
	return n, m.err
}
