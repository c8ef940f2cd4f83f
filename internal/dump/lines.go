package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// The lines around the log of a container in the standard output of "kubectl cluster-info dump".
const (
	logBegins = "==== START logs for "
	logEnds   = "==== END logs for "
)

// message is a line that kubectl writes to its standard error.
var message = regexp.MustCompile(`^(Warning: |[EWI][0-9]{4} [0-9:.]+ )`)

// objectLines reads a text without the logs of containers, and without messages of kubectl.
type objectLines struct {
	from *bufio.Reader
	rest []byte // of a line that has been read
	mid  bool   // the next bytes continue a line
	logs bool   // there were logs
	log  []byte // the line that ends the log that is being skipped
}

func (l *objectLines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		part, err := l.from.ReadSlice('\n')
		if len(part) == 0 && err != nil {
			if errors.Is(err, io.EOF) && l.log != nil {
				err = fmt.Errorf("it is cut off within a log, where %q is missing: %w", l.log, io.ErrUnexpectedEOF)
			}
			return 0, err
		}
		if l.mid && l.log == nil || !l.mid && !l.skips(part) {
			l.rest = part
		}
		l.mid = errors.Is(err, bufio.ErrBufferFull)
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
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
	return message.Match(line)
}
