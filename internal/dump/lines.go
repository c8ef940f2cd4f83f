package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// message is a line that kubectl writes to its standard error.
var message = regexp.MustCompile(`^(Warning: |[EWI][0-9]{4} [0-9:.]+ )`)

// objectLines reads a text without messages of kubectl, and without the logs of containers that "kubectl cluster-info
// dump" writes to the standard output.
type objectLines struct {
	from *bufio.Reader
	rest []byte // of a line that has been read
	mid  bool   // the next bytes continue a line
	skip bool   // that line is no part of an object
	logs bool   // there were logs
	log  []byte // the line that ends the log that is being skipped
	err  error  // that ends the text
}

func (l *objectLines) Read(p []byte) (n int, _ error) {
	for n < len(p) && (len(l.rest) > 0 || l.next()) {
		copied := copy(p[n:], l.rest)
		l.rest = l.rest[copied:]
		n += copied
	}
	if n == 0 {
		return 0, l.err
	}
	return n, nil
}

// next reads a line that is not skipped, or a part of a long one. It returns false at the end.
func (l *objectLines) next() bool {
	for l.err == nil {
		l.rest, l.err = l.from.ReadSlice('\n')
		l.skip = l.mid && l.skip || !l.mid && l.skips(l.rest)
		if l.mid = errors.Is(l.err, bufio.ErrBufferFull); l.mid {
			l.err = nil
		}
		if !l.skip && len(l.rest) > 0 {
			return true
		}
	}
	if l.rest = nil; l.log != nil && errors.Is(l.err, io.EOF) {
		l.err = fmt.Errorf("it is truncated within a log, where %q is missing: %w", l.log, io.ErrUnexpectedEOF)
	}
	return false
}

// skips reports whether a line is a message, or in a log.
func (l *objectLines) skips(line []byte) bool {
	what, begins := bytes.CutPrefix(line, []byte("==== START logs for "))
	switch {
	case l.log == nil && begins:
		l.logs, l.log = true, append([]byte("==== END logs for "), bytes.TrimRight(what, "\r\n")...)
	case l.log == nil:
		return len(line) > 0 && bytes.IndexByte([]byte("WEI"), line[0]) >= 0 && message.Match(line)
	case bytes.Equal(bytes.TrimRight(line, "\r\n"), l.log):
		l.log = nil
	}
	return true
}
