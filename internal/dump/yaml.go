package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"sigs.k8s.io/yaml"
)

// yamlReader reads YAML line by line, and parses one piece at a time: a document, or an item of a list as kubectl
// writes it. A second apiVersion or kind at the left margin begins another document, as files have it that were
// appended to each other.
type yamlReader struct {
	from *bufio.Reader
	to   *receiver
	line int // the number of the last line
	end  bool

	document piece // without items
	list     *object
	items    bool // the lines belong to items
	indent   int  // of items; -1 before the first
	item     piece
}

// piece is a text that begins at a line.
type piece struct {
	text []byte
	line int
	kind bool // it has a kind at the left margin
	api  bool // it has an apiVersion there
}

func readYAML(r *bufio.Reader, to *receiver) error {
	y := &yamlReader{from: r, to: to}
	for !y.end {
		line, err := y.next()
		if err != nil {
			return err
		}
		if err := y.add(line); err != nil {
			return err
		}
	}
	return y.finish()
}

// next returns the next line with its end.
func (y *yamlReader) next() (line []byte, _ error) {
	for {
		part, err := y.from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line)+len(y.document.text)+len(y.item.text) > largest:
			return nil, fmt.Errorf("the YAML at line %d has more than %d MiB without an end; write it with -o json",
				max(y.document.line, y.item.line, 1), largest>>20)
		case err == nil, errors.Is(err, io.EOF):
			y.line++
			y.end = err != nil
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("reading it failed after line %d: %w", y.line, err)
		}
	}
}

// add adds a line to the piece to which it belongs.
func (y *yamlReader) add(line []byte) error {
	text := bytes.TrimRight(line, "\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("---")), string(text) == "...":
		if err := y.finish(); err != nil {
			return err
		}
		line = append([]byte("   "), line[3:]...)
		text = bytes.TrimSpace(line)
	case y.items && isItem(text, &y.indent):
		return y.beginItem(line)
	case y.items && (len(text) == 0 || strings.ContainsRune(" \t#-", rune(text[0]))):
		y.item.text = append(y.item.text, line...)
		return nil
	case y.items:
		y.items = false
		if err := y.finishItem(); err != nil {
			return err
		}
	}
	return y.addToDocument(text, line)
}

func (y *yamlReader) addToDocument(text, line []byte) error {
	d := &y.document
	api, kind := bytes.HasPrefix(text, []byte("apiVersion:")), bytes.HasPrefix(text, []byte("kind:"))
	if api && d.api || kind && d.kind {
		if err := y.finish(); err != nil {
			return err
		}
	}
	if len(d.text) == 0 && y.list == nil && (len(bytes.TrimSpace(text)) == 0 || text[0] == '#') {
		return nil
	}
	array := len(d.text) == 0 && y.list == nil && isItem(text, new(-1)) && text[0] == '-'
	if len(d.text) == 0 {
		d.line = y.line
	}
	d.api, d.kind = d.api || api, d.kind || kind
	if !array && string(bytes.TrimRight(text, " ")) != "items:" || y.list != nil {
		d.text = append(d.text, line...)
		return nil
	}
	list := &object{at: y.place(d.line), yaml: true}
	if !array {
		_ = yaml.Unmarshal(d.text, list) // what can't be read is found at the end
		d.text = append(d.text, "items: []\n"...)
	}
	if list.Kind != "" && !list.isList() {
		d.text = append(bytes.TrimSuffix(d.text, []byte("items: []\n")), line...)
		return nil
	}
	y.list, y.items, y.indent = list, true, -1
	if array {
		return y.add(line)
	}
	return nil
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

// beginItem ends the last item, and begins one whose dash becomes a space.
func (y *yamlReader) beginItem(line []byte) error {
	err := y.finishItem()
	y.item.text, y.item.line = append(y.item.text, line...), y.line
	y.item.text[y.indent] = ' '
	return err
}

// finishItem passes the item on.
func (y *yamlReader) finishItem() error {
	item := y.item
	y.item = piece{text: item.text[:0]}
	if len(bytes.TrimSpace(item.text)) == 0 {
		return nil
	}
	err := y.convert(&item, y.list)
	if err != nil && y.end && len(y.document.text) > 0 && !y.document.kind { // the item may be wrong because of that
		return fmt.Errorf("%w; the list %s has no kind, so it may be cut off", err, y.list.at)
	}
	return err
}

// finish passes on what is left of a document.
func (y *yamlReader) finish() error {
	if err := y.finishItem(); err != nil {
		return err
	}
	document, list := y.document, y.list
	y.document, y.list, y.items = piece{}, nil, false
	switch {
	case list == nil:
		return y.convert(&document, nil)
	case len(document.text) == 0: // an array
		return y.to.array(list)
	}
	text, err := yaml.YAMLToJSONStrict(document.text)
	if err != nil {
		return y.unreadable(&document, err)
	}
	if err := json.Unmarshal(text, list, lenient); err != nil {
		return fmt.Errorf("the list %s can't be read: %w", list.at, err)
	}
	list.Items.read = true
	return y.to.list(list)
}

// convert reads a piece as JSON, in this list; nil is none. It refuses duplicate keys.
func (y *yamlReader) convert(p *piece, of *object) error {
	text, err := yaml.YAMLToJSONStrict(p.text)
	if err != nil {
		return y.unreadable(p, err)
	}
	if string(text) == "null" {
		return nil
	}
	j := newJSONReader(bytes.NewReader(text), y.to)
	j.line = p.line
	return j.value(of)
}

func (y *yamlReader) place(line int) string { return fmt.Sprintf("in the document at line %d", line) }

func (y *yamlReader) unreadable(p *piece, err error) error {
	cause := beginning(strings.Join(strings.Fields(err.Error()), " "), 300) // it has a line for each duplicate key
	return fmt.Errorf("the document at line %d can't be read (lines count from there): %s", p.line, cause)
}
