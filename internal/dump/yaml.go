package dump

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// yamlReader reads YAML one piece at a time: a document, or an item of a list as kubectl writes it. A second apiVersion
// or kind at the left margin begins another document, as in files that were appended to each other.
type yamlReader struct {
	to   *reader
	line int // the number of the last line

	piece  []byte // whole lines
	begins int    // the line at which it begins
	within bool   // the last line is in a spec or a status
	unread bool   // and in a member of it that is not read
	at     int    // the line at which the piece begins that was converted last

	seen   map[string]bool // whether the document has an apiVersion and a kind at the left margin
	list   *object         // which the document is; nil if it is none
	items  bool            // lines belong to items, of the list or of an array
	indent int             // of items; -1 before the first
}

// read reads YAML to its end.
func (y *yamlReader) read(from io.Reader) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 2*largest)
	for lines.Scan() {
		y.line++
		if err := y.add(lines.Bytes()); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("the YAML at line %d has more than %d MiB without an end; use -o json", y.start(),
			largest>>20)
	case err != nil:
		return fmt.Errorf("reading it failed after line %d: %w", y.line, err)
	}
	return y.add([]byte("---"))
}

// add ends the piece and the document that end before this line, and adds the line to the piece to which it belongs.
func (y *yamlReader) add(line []byte) error {
	text := bytes.TrimRight(line, " \r")
	name, _, _ := bytes.Cut(text, []byte(":"))
	ends := bytes.HasPrefix(text, []byte("---")) || string(text) == "..."
	inner := !ends && (len(text) == 0 || strings.IndexByte(" \t#-", text[0]) >= 0)
	if inner && y.isBetween() {
		y.indent = -1
		y.items = y.isItem(text) // of an array
	}
	item := y.items && inner && y.isItem(text)
	if y.items && (item || !inner) {
		if err := y.pass(); err != nil {
			return err
		}
		y.items = inner
	}
	if ends || y.seen[string(name)] {
		if err := y.finish(); err != nil {
			return err
		}
	}
	switch {
	case ends:
		copy(line, "   ") // what follows is the next document's
	case item:
		line[y.indent] = ' '
	case string(name) == "apiVersion", string(name) == "kind":
		y.seen[string(name)] = true
	case y.list == nil && string(text) == "items:":
		return y.open()
	}
	if !y.isBetween() || len(bytes.TrimSpace(text)) > 0 && text[0] != '#' {
		y.take(text)
	}
	return nil
}

// isBetween reports whether the last line belongs to no document.
func (y *yamlReader) isBetween() bool { return len(y.piece) == 0 && y.list == nil && !y.items }

// isItem reports whether a line begins an item, at the indentation of the first.
func (y *yamlReader) isItem(text []byte) bool {
	n := len(text) - len(bytes.TrimLeft(text, " "))
	dash := n < len(text) && text[n] == '-' && (n+1 == len(text) || text[n+1] == ' ')
	if dash && y.indent < 0 {
		y.indent = n
	}
	return dash && n == y.indent
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
	if !y.skips(text) {
		y.piece = append(y.piece, text...)
	}
	y.piece = append(y.piece, '\n')
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

// pass passes on the piece: an object, or an item of the list.
func (y *yamlReader) pass() error {
	text, err := y.convert()
	if text == nil || y.list != nil && !y.list.Items.read {
		return err
	}
	y.to.Reset(bytes.NewBuffer(text), lenient)
	return y.to.value(y.list)
}

// open begins a list. The piece has the members that come before its items.
func (y *yamlReader) open() error {
	y.list, y.items, y.indent = &object{}, true, -1
	y.list.Items.list, y.list.Items.by = y.list, y.to
	err := y.fill()
	y.list.Items.read = y.list.mayBeList()
	return err
}

// finish ends the document.
func (y *yamlReader) finish() error {
	clear(y.seen)
	list := y.list
	if list == nil {
		return y.pass()
	}
	err := y.fill()
	if y.list = nil; err != nil {
		return err
	}
	return y.to.take(list, nil)
}

// fill adds the members in the piece to the list.
func (y *yamlReader) fill() error {
	text, err := y.convert()
	y.list.at = cmp.Or(y.list.at, y.to.place())
	switch {
	case text == nil:
		return err
	case text[0] != '{':
		return fmt.Errorf("invalid document at line %d: next to items it has %s", y.at, beginning(string(text), 80))
	}
	y.to.Reset(bytes.NewBuffer(text), lenient)
	return y.to.fill(y.list)
}

// convert takes the piece, and returns it as JSON; nil if it has nothing. It refuses duplicate keys.
func (y *yamlReader) convert() ([]byte, error) {
	y.at = y.start()
	text, err := yaml.YAMLToJSONStrict(y.piece)
	y.piece = y.piece[:0]
	if err != nil {
		cause := beginning(strings.Join(strings.Fields(err.Error()), " "), 300) // it has a line for each duplicate key
		return nil, fmt.Errorf("invalid document at line %d (lines are counted from there): %s", y.at, cause)
	}
	if string(text) == "null" {
		return nil, nil
	}
	return text, nil
}
