package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/internal/truncate"
)

// message is a line that kubectl writes to its standard error.
var message = regexp.MustCompile(`^(Warning: |[EWI][0-9]{4} [0-9:.]+ )`)

// objectLines reads a text without messages of kubectl, and without the logs of containers that "kubectl cluster-info
// dump" writes to the standard output.
type objectLines struct {
	from   *bufio.Reader
	rest   []byte // of the line that has been read, or of a part of it
	long   bool   // the next part continues the line
	number int    // of the line

	skip bool   // the line is no part of an object
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
	for l.rest = nil; l.err == nil && len(l.rest) == 0; {
		l.rest, l.err = l.from.ReadSlice('\n')
		if !l.long {
			l.number++
			l.skip = l.skips(l.rest)
		}
		if l.long = errors.Is(l.err, bufio.ErrBufferFull); l.long {
			l.err = nil
		}
		if l.skip {
			l.rest = nil
		}
	}
	return len(l.rest) > 0
}

// failure returns a clause if the text ends where it must not.
func (l *objectLines) failure() error {
	switch ended := errors.Is(l.err, io.EOF); {
	case l.err != nil && !ended:
		return fmt.Errorf("reading it failed after line %d: %w", l.number-1, l.err)
	case ended && l.log != nil:
		return fmt.Errorf("it is truncated within a log, where %q is missing", l.log)
	}
	return nil
}

// skips reports whether a line is a message, or in a log.
func (l *objectLines) skips(line []byte) bool {
	what, begins := bytes.CutPrefix(line, []byte("==== START logs for "))
	switch {
	case l.log == nil && begins:
		l.logs, l.log = true, append([]byte("==== END logs for "), bytes.TrimRight(what, "\r\n")...)
	case l.log == nil:
		return len(line) > 0 && strings.IndexByte("WEI", line[0]) >= 0 && message.Match(line)
	case bytes.Equal(bytes.TrimRight(line, "\r\n"), l.log):
		l.log = nil
	}
	return true
}

// yamlReader reads YAML one piece at a time: a document, or an item of a list or an array as kubectl writes it, which
// begins with a dash at the left margin. A second apiVersion or kind there begins another document, as in files that
// were appended to each other.
type yamlReader struct {
	*reader

	piece  []byte // whole lines
	begins int    // the line at which it begins
	within bool   // the last line is in a spec or a status
	unread bool   // and in a member of it that is not read

	seen  map[string]bool // whether the document has an apiVersion and a kind at the left margin
	list  *object         // which the document is; nil if it is none
	items bool            // a line with a dash begins an item, of the list or of an array
}

// kyaml has the lines by which "kubectl -o kyaml" begins, separates and ends the items of a list: the first line of the
// piece in which each is, and the same in lines with dashes at the left margin.
var kyaml = map[string][2]string{
	"  items: [{": {"{\n", "}\nitems:\n- {"}, "  }, {": {"- {\n", "  }\n- {"}, "  }],": {"- {\n", "  }\n{"},
}

func (y *yamlReader) read() error {
	var line []byte
	for more := true; more && len(y.piece)+len(line) < mostParsed; more = y.lines.next() {
		if line = append(line, y.lines.rest...); y.lines.long {
			continue
		}
		line = bytes.TrimRight(line, " \r\n")
		if same, found := kyaml[string(line)]; found && bytes.HasPrefix(y.piece, []byte(same[0])) {
			line = []byte(same[1])
		}
		for part := range bytes.SplitSeq(line, []byte("\n")) {
			if err := y.add(part); err != nil {
				return err
			}
		}
		line = line[:0]
	}
	switch {
	case len(y.piece)+len(line) >= mostParsed:
		const what = "the YAML at line %d has more than %d MiB without an end; write it with -o json"
		return fmt.Errorf(what, y.begins, mostParsed>>20)
	case y.lines.failure() != nil:
		return nil
	}
	if len(line) > 0 { // the text ends where a part of a line does
		if err := y.add(line); err != nil {
			return err
		}
	}
	return y.add([]byte("---"))
}

// add ends the piece and the document that end before this line, and adds the line to the piece to which it belongs.
func (y *yamlReader) add(line []byte) (err error) {
	name, _, _ := bytes.Cut(line, []byte(":"))
	ends := bytes.HasPrefix(line, []byte("---")) || string(line) == "..."
	if margin := len(line) > 0 && strings.IndexByte(" \t#", line[0]) < 0; margin && y.items {
		err = y.pass()
		y.items = line[0] == '-'
	}
	if err == nil && (ends || y.seen[string(name)]) {
		err = y.finish()
		y.items = ends
	}
	switch {
	case err != nil:
		return err
	case ends:
		line = line[len("---"):] // what follows is the next document's
	case string(name) == "apiVersion", string(name) == "kind":
		y.seen[string(name)] = true
	case y.list == nil && string(line) == "items:":
		y.line = y.begins
		y.list = y.begin()
		err = y.pass()
		y.list.hasItems, y.items = true, true
		return err
	}
	y.take(line)
	return nil
}

// take adds a line to the piece. A line becomes empty, so that lines count on, if it belongs to a member of a spec or a
// status that is not read, in the form of kubectl: such members are most of a pod, and parsing YAML takes time.
func (y *yamlReader) take(line []byte) {
	text := bytes.TrimLeft(line, " \t")
	column := len(line) - len(text) // of the text, from that of the members of the object
	if y.items {
		column -= len("- ")
	}
	blank := len(text) == 0 || text[0] == '#'
	if len(y.piece) == 0 {
		if blank {
			return
		}
		y.begins, y.within, y.unread = y.lines.number, false, false
	}
	switch {
	case blank, column == 2 && text[0] == '-':
	case column < 2:
		y.within, y.unread = column == 0 && (string(text) == "spec:" || string(text) == "status:"), false
	case column == 2:
		name, _, _ := bytes.Cut(text, []byte(":"))
		plain := 'a' <= text[0] && text[0] <= 'z' // neither quoted nor with an anchor
		y.unread = y.within && plain && !mayBeRead(string(bytes.TrimRight(name, " ")))
	}
	if !y.unread {
		y.piece = append(y.piece, line...)
	}
	y.piece = append(y.piece, '\n')
}

// pass passes on the piece: a document, an array with one item or, beside the items of a list, its members.
func (y *yamlReader) pass() error {
	text, err := yaml.YAMLToJSONStrict(y.piece)
	if err != nil {
		cause := truncate.Text(strings.Join(strings.Fields(err.Error()), " ")) // it has a line for each duplicate key
		return fmt.Errorf("invalid document at line %d (lines are counted from there): %s", y.begins, cause)
	}
	y.line, y.begins, y.piece = y.begins, y.lines.number, y.piece[:0]
	y.Reset(bytes.NewBuffer(text), lenient)
	switch {
	case string(text) == "null":
		return nil
	case y.list != nil && !y.items && text[0] == '{':
		return y.fill(y.list)
	}
	return y.value(y.list)
}

func (y *yamlReader) finish() error {
	err := y.pass()
	list := y.list
	if y.list = nil; list != nil && err == nil {
		err = y.reader.take(list, nil)
	}
	clear(y.seen)
	return err
}
