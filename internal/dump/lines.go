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

func (l *objectLines) Read(p []byte) (int, error) {
	if l.read > l.most {
		return 0, errTooLarge
	}
	for l.err = nil; len(l.rest) == 0; {
		if l.err = l.next(); l.err != nil {
			return 0, l.err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	l.read += int64(n)
	return n, nil
}

// next reads what is in the buffer, up to a line that may be skipped; or such a line, or a part of it.
func (l *objectLines) next() error {
	ahead, err := l.from.Peek(max(1, l.from.Buffered()))
	switch {
	case errors.Is(err, io.EOF) && l.log != nil:
		return fmt.Errorf("it is truncated within a log, where %q is missing: %w", l.log, io.ErrUnexpectedEOF)
	case err != nil:
		return err
	case l.log != nil, !l.mid && maySkip(ahead):
		part, err := l.from.ReadSlice('\n')
		if l.mid && l.log == nil || !l.mid && !l.skips(part) {
			l.rest = part
		}
		l.mid = errors.Is(err, bufio.ErrBufferFull)
		return nil
	}
	end := 0
	for l.mid = true; end < len(ahead) && (l.mid || !maySkip(ahead[end:])); {
		line := bytes.IndexByte(ahead[end:], '\n')
		if l.mid = line < 0; l.mid {
			line = len(ahead[end:]) - 1
		}
		end += line + 1
	}
	l.rest = ahead[:end]
	_, err = l.from.Discard(end)
	return err
}

// maySkip reports whether a line may be one that is skipped, by how it begins.
func maySkip(line []byte) bool { return strings.IndexByte("=WEI", line[0]) >= 0 }

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
