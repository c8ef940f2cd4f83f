package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// The lines around the log of a container in the standard output of "kubectl cluster-info dump".
const (
	logBegins = "==== START logs for "
	logEnds   = "==== END logs for "
)

// message is a line that kubectl writes to its standard error.
var message = regexp.MustCompile(`^(Warning: |[EWI][0-9]{4} [0-9:.]+ )`)

// objectLines reads a text without the logs of containers, and without messages of kubectl. It returns errTooLarge
// after more bytes than are allowed.
type objectLines struct {
	from *bufio.Reader
	rest []byte // of a line that has been read
	mid  bool   // the next bytes continue a line
	logs bool   // there were logs
	log  []byte // the line that ends the log that is being skipped

	read, most int64 // bytes
	err        error // of the last line
}

// largest is the maximum size of an object in bytes. The API server accepts at most 3 MiB.
const largest = 32 << 20

var errTooLarge = errors.New("more bytes than allowed")

// allow allows the bytes of another object, in addition to those that a buffer has read ahead.
func (l *objectLines) allow() { l.most = l.read + largest }

func (l *objectLines) Read(p []byte) (n int, _ error) {
	if l.read > l.most {
		return 0, errTooLarge
	}
	l.err = nil
	for l.err == nil && n < len(p) && (n == 0 || len(l.rest) > 0 || l.from.Buffered() > 0) {
		if len(l.rest) == 0 {
			l.err = l.next()
		}
		copied := copy(p[n:], l.rest)
		l.rest = l.rest[copied:]
		n += copied
	}
	if l.read += int64(n); n > 0 {
		return n, nil // the next read returns the error again
	}
	return 0, l.err
}

// next reads a line, or a part of a long one, that is not skipped; or an error.
func (l *objectLines) next() error {
	part, err := l.from.ReadSlice('\n')
	switch {
	case len(part) == 0 && errors.Is(err, io.EOF) && l.log != nil:
		return fmt.Errorf("it is cut off within a log, where %q is missing: %w", l.log, io.ErrUnexpectedEOF)
	case len(part) == 0 && err != nil:
		return err
	case l.mid && l.log == nil, !l.mid && !l.skips(part):
		l.rest = part
	}
	l.mid = errors.Is(err, bufio.ErrBufferFull)
	return nil
}

// skips reports whether a line is no part of an object.
func (l *objectLines) skips(line []byte) bool {
	if l.log != nil {
		if bytes.Equal(bytes.TrimRight(line, "\r\n"), l.log) {
			l.log = nil
		}
		return true
	}
	if what, ok := bytes.CutPrefix(line, []byte(logBegins)); ok {
		l.logs, l.log = true, append([]byte(logEnds), bytes.TrimRight(what, "\r\n")...)
		return true
	}
	return strings.IndexByte("WEI", line[0]) >= 0 && message.Match(line)
}
