package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// yamlReader reads YAML as JSON, one piece at a time: a document, or an item of a list as kubectl writes it. A second
// apiVersion or kind at the left margin begins another document, as in files that were appended to each other.
type yamlReader struct {
	from *bufio.Reader
	next []byte // the line that is looked at; empty: it is to be read
	line int    // its number

	piece  []byte // whole lines
	begins int    // the line at which it begins
	within bool   // the last line is in a spec or a status
	unread bool   // and in a member of it that is not read
	at     int    // the line at which the piece begins that was converted last

	seen map[string]bool // whether the document has an apiVersion and a kind at the left margin

	list   string // what ends the list of the document in JSON; empty if it has none
	items  bool   // lines belong to its items
	indent int    // of items; -1 before the first
	comma  string // before an item

	out []byte // JSON that is not read yet
	err error
}

// Read returns JSON of one piece at a time, so that at is where the last object began.
func (y *yamlReader) Read(p []byte) (int, error) {
	for len(y.out) == 0 && y.err == nil {
		y.err = y.add()
	}
	if len(y.out) == 0 {
		return 0, y.err
	}
	n := copy(p, y.out)
	y.out = y.out[n:]
	return n, nil
}

// look reads the next line with its end, unless there is one that was not taken. At the end of the text it is empty.
func (y *yamlReader) look() error {
	if len(y.next) > 0 {
		return nil
	}
	y.line++
	for {
		part, err := y.from.ReadSlice('\n')
		y.next = append(y.next, part...)
		switch {
		case err == nil, errors.Is(err, io.EOF):
			return nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// start returns the line at which the piece begins.
func (y *yamlReader) start() int {
	if len(y.piece) > 0 {
		return y.begins
	}
	return y.line
}

// take adds the line with this text to the piece. A line that is not needed becomes empty, so that lines count on.
func (y *yamlReader) take(text []byte) {
	if len(y.piece) == 0 {
		y.begins, y.within, y.unread = y.line, false, false
	}
	if y.skips(text) {
		y.next = append(y.next[:0], '\n')
	}
	y.piece = append(y.piece, y.next...)
	y.next = y.next[:0]
}

// skips reports whether a line belongs to a member of a spec or a status that is not read, in the form of kubectl. Such
// members are most of a pod, and parsing YAML takes time.
func (y *yamlReader) skips(text []byte) bool {
	column := 0 // of the members of the object
	if y.items {
		column = y.indent + 2
	}
	n := len(text) - len(bytes.TrimLeft(text, " "))
	switch {
	case n == len(text) || text[n] == '#' || n > column+2 || n == column+2 && text[n] == '-':
	case n == column+2:
		if name, _, member := bytes.Cut(text[n:], []byte(":")); member {
			plain := 'a' <= text[n] && text[n] <= 'z' // neither quoted nor with an anchor
			y.unread = y.within && plain && !mayBeRead(string(bytes.TrimRight(name, " ")))
		}
	default:
		y.within, y.unread = n == column && (string(text[n:]) == "spec:" || string(text[n:]) == "status:"), false
	}
	return y.unread
}

// add adds the next line to the piece to which it belongs. A line that ends a piece is looked at again.
func (y *yamlReader) add() error {
	if err := y.look(); err != nil {
		return err
	}
	text := bytes.TrimRight(y.next, " \r\n")
	ends := len(y.next) == 0 || bytes.HasPrefix(text, []byte("---")) || string(text) == "..."
	inner := !ends && (len(text) == 0 || strings.IndexByte(" \t#-", text[0]) >= 0)
	item := y.items && inner && isItem(text, &y.indent)
	empty := len(y.piece) == 0
	switch {
	case y.items && !empty && (item || !inner):
		return y.finishItem()
	case item:
		y.next[y.indent] = ' '
		y.take(text)
	case y.items && inner:
		y.take(text)
	case y.items:
		y.items = false
	case ends && (!empty || y.list != ""), y.repeats(text):
		return y.finish()
	case len(y.next) == 0:
		return io.EOF
	case ends:
		copy(y.next, "   ")
	case empty && y.list == "" && (len(bytes.TrimSpace(text)) == 0 || text[0] == '#'):
		y.next = y.next[:0]
	case empty && y.list == "" && text[0] == '-' && isItem(text, new(-1)):
		return y.open("]")
	case y.list == "" && string(text) == "items:":
		y.next = y.next[:0]
		return y.open("]}")
	default:
		y.take(text)
	}
	return nil
}

// repeats reports whether a line has an apiVersion or a kind although the document has one.
func (y *yamlReader) repeats(text []byte) bool {
	name, _, _ := bytes.Cut(text, []byte(":"))
	repeated := y.seen[string(name)]
	if string(name) == "apiVersion" || string(name) == "kind" {
		y.seen[string(name)] = true
	}
	return repeated
}

// isItem reports whether a line begins an item at this indentation; -1 is any, and becomes that of the line.
func isItem(text []byte, indent *int) bool {
	n := len(text) - len(bytes.TrimLeft(text, " "))
	dash := n < len(text) && text[n] == '-' && (n+1 == len(text) || text[n+1] == ' ')
	if dash && *indent < 0 {
		*indent = n
	}
	return dash && n == *indent
}

// open begins a list. Members that come before its items come before them in JSON, too.
func (y *yamlReader) open(end string) error {
	head, err := y.convert()
	switch {
	case err != nil:
		return err
	case end == "]":
		y.out = []byte("[")
	case head == nil:
		y.out = []byte(`{"items":[`)
	default:
		y.out = append(bytes.TrimSuffix(head, []byte("}")), `,"items":[`...)
	}
	y.list, y.items, y.indent, y.comma = end, true, -1, ""
	return nil
}

func (y *yamlReader) finishItem() error {
	item, err := y.convert()
	if item != nil {
		y.out, y.comma = append([]byte(y.comma), item...), ","
	}
	return err
}

// finish ends the document.
func (y *yamlReader) finish() error {
	rest, err := y.convert()
	switch {
	case err != nil:
		return err
	case y.list == "" || rest == nil:
		y.out = append([]byte(y.list), rest...)
	case y.list == "]}" && rest[0] == '{':
		y.out = append([]byte("],"), rest[1:]...)
	default:
		return fmt.Errorf("the document at line %d can't be read: it goes on after its items with %s", y.at,
			beginning(string(rest), 80))
	}
	y.out = append(y.out, '\n')
	y.list = ""
	clear(y.seen)
	return nil
}

// convert returns the piece as JSON; nil if it has nothing. It refuses duplicate keys.
func (y *yamlReader) convert() ([]byte, error) {
	y.at = y.start()
	text, err := yaml.YAMLToJSONStrict(y.piece)
	y.piece = y.piece[:0]
	if err != nil {
		cause := beginning(strings.Join(strings.Fields(err.Error()), " "), 300) // it has a line for each duplicate key
		return nil, fmt.Errorf("the document at line %d can't be read (lines count from there): %s", y.at, cause)
	}
	if string(text) == "null" {
		return nil, nil
	}
	return text, nil
}
