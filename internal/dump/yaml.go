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

// yamlReader reads YAML one piece at a time: a document, or an item of a list or an array as kubectl writes it, which
// begins with a dash at the left margin. A second apiVersion or kind there begins another document, as in files that
// were appended to each other.
type yamlReader struct {
	to   *reader
	line int // the number of the last line

	piece  []byte // whole lines
	begins int    // the line at which it begins
	within bool   // the last line is in a spec or a status
	unread bool   // and in a member of it that is not read

	seen  map[string]bool // whether the document has an apiVersion and a kind at the left margin
	list  *object         // which the document is; nil if it is none
	items bool            // a line with a dash begins an item, of the list or of an array
}

func (y *yamlReader) read(from io.Reader) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, largest)
	for y.items = true; lines.Scan() && len(y.piece) < largest; {
		y.line++
		if err := y.add(bytes.TrimRight(lines.Bytes(), " \r")); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong), len(y.piece) >= largest:
		return fmt.Errorf("the YAML at line %d has more than %d MiB without an end; use -o json", y.begins, largest>>20)
	case err != nil:
		return fmt.Errorf("reading it failed after line %d: %w", y.line, err)
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
		y.to.line = y.begins
		y.list = y.to.begin()
		err = y.pass()
		y.list.hasItems, y.items = y.list.mayBeList(), true
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
		y.begins, y.within, y.unread = y.line, false, false
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
	y.to.line, y.begins, y.piece = y.begins, y.line, y.piece[:0]
	y.to.Reset(bytes.NewBuffer(text), lenient)
	switch {
	case err != nil:
		cause := beginning(strings.Join(strings.Fields(err.Error()), " "), 300) // it has a line for each duplicate key
		return fmt.Errorf("invalid document at line %d (lines are counted from there): %s", y.to.line, cause)
	case string(text) == "null", y.items && y.list != nil && !y.list.hasItems:
		return nil
	case y.list != nil && !y.items && text[0] == '{':
		return y.to.fill(y.list)
	}
	return y.to.value(y.list)
}

func (y *yamlReader) finish() error {
	err := y.pass()
	list := y.list
	if y.list = nil; list != nil && err == nil {
		err = y.to.take(list, nil)
	}
	clear(y.seen)
	return err
}
