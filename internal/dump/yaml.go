package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"sigs.k8s.io/yaml"
)

// yamlReader splits documents by their lines: at "---", and within a list at each item of "items". That is safe
// without parsing YAML, because everything that belongs to an item is indented deeper than its dash, even in a
// string of several lines.
type yamlReader struct {
	lines *bufio.Reader
	from  *meter // of the lines
	to    *receiver
	line  int // the number of the last line read

	frame   part     // the document without its items
	current part     // the item being read
	items   *heading // of the items; nil before the document has "items", or is a list of them
	bare    bool     // the document is nothing but items
	within  bool     // the last line belonged to the items
	indent  int      // of the items' dashes; -1 before the first
	ended   bool     // there are no more lines
}

// part is a piece of a document, to be parsed by itself.
type part struct {
	text   []byte
	begins int // its first line
}

func readYAML(r io.Reader, to *receiver) error {
	from := &meter{from: r, most: largest}
	y := &yamlReader{lines: bufio.NewReader(from), from: from, to: to}
	for {
		line, err := y.next()
		switch {
		case errors.Is(err, io.EOF):
			y.ended = true
			return y.endDocument()
		case errors.Is(err, errTooLarge):
			return fmt.Errorf("the object at line %d is larger than any that an API server has", y.part().begins)
		case err != nil:
			return fmt.Errorf("reading it failed at line %d: %w", y.line, err)
		}
		switch {
		case !beginsJSON(line):
		case y.items != nil || hasContent(y.frame.text):
			return fmt.Errorf("JSON begins at line %d, within YAML; give each as a file of its own with --filename",
				y.line)
		default:
			return y.readRestAsJSON(line)
		}
		if err := y.addLine(line); err != nil {
			return err
		}
	}
}

// beginsJSON reports whether an object in JSON begins with the line, as programs write it.
func beginsJSON(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"`)) || string(bytes.TrimRight(line, "\r\n")) == "{"
}

// readRestAsJSON reads the rest of the dump as JSON, beginning with the line.
func (y *yamlReader) readRestAsJSON(line []byte) error {
	y.from.allow(math.MaxInt64 - y.from.read) // the size of an object in JSON is limited below
	rest := io.MultiReader(bytes.NewReader(line), y.lines)
	if err := readJSON(rest, y.to); err != nil {
		return fmt.Errorf("in the JSON that begins at line %d: %w", y.line, err)
	}
	return nil
}

// next returns the next line with its line break, which the last line may lack.
func (y *yamlReader) next() ([]byte, error) {
	y.line++
	line, err := y.lines.ReadBytes('\n')
	if len(line) > 0 && errors.Is(err, io.EOF) {
		return line, nil
	}
	return line, err
}

func (y *yamlReader) addLine(line []byte) error {
	content := bytes.TrimRight(line, " \t\r\n")
	indent := len(content) - len(bytes.TrimLeft(content, " "))
	switch {
	case separates(content):
		return y.endDocument()
	case len(content) == indent || content[indent] == '#': // nothing, unless it is in a string of several lines
		y.add(line)
		return nil
	case y.items == nil && y.isItem(content, indent) && !hasContent(y.frame.text):
		y.openItems()
		y.bare = true
		return y.beginItem(line, indent)
	case y.within && y.isItem(content, indent):
		return y.beginItem(line, indent)
	case y.within && indent <= max(y.indent, 0):
		if err := y.endItem(); err != nil {
			return err
		}
		y.within = false
	}
	if opensItems(content) {
		y.openItems()
		return nil
	}
	y.add(line)
	return nil
}

// openItems handles the line before the items.
func (y *yamlReader) openItems() {
	y.within, y.indent = true, -1
	f, _ := y.frameSoFar() // its error is returned at the end of the list
	y.items = f.heading()
}

// frameSoFar returns the fields of the list that have been read.
func (y *yamlReader) frameSoFar() (frame, error) {
	text, err := yaml.YAMLToJSON(y.frame.text)
	return frameOf(text), err
}

// separates reports whether a line separates documents.
func separates(content []byte) bool {
	return string(content) == "---" || string(content) == "..." || bytes.HasPrefix(content, []byte("--- #"))
}

// opensItems reports whether the items of a list follow, each with its dash at the start of a line. Items in any
// other form are read with the whole document.
func opensItems(content []byte) bool {
	return string(content) == "items:" || bytes.HasPrefix(content, []byte("items: #"))
}

// isItem reports whether an item begins with the line. The first item determines the indentation of all.
func (y *yamlReader) isItem(content []byte, indent int) bool {
	dash := content[indent] == '-' && (len(content) == indent+1 || content[indent+1] == ' ')
	return dash && (indent == y.indent || y.indent < 0)
}

func (y *yamlReader) beginItem(line []byte, indent int) error {
	if err := y.endItem(); err != nil {
		return err
	}
	y.indent = indent
	y.add(line)
	y.current.text[indent] = ' ' // without its dash, an item is an object
	return nil
}

// part returns the item or frame that the current line belongs to.
func (y *yamlReader) part() *part {
	if y.within {
		return &y.current
	}
	return &y.frame
}

// add adds a line to its part.
func (y *yamlReader) add(line []byte) {
	p := y.part()
	if len(p.text) == 0 {
		p.begins = y.line
		y.from.allow(largest)
	}
	p.text = append(p.text, line...)
}

// endItem passes the last item to the receiver.
func (y *yamlReader) endItem() error {
	defer y.current.clear()
	return y.convert(&y.current, y.items)
}

// endDocument passes the rest of a document to the receiver, and prepares for the next document.
func (y *yamlReader) endDocument() error {
	defer func() { *y = yamlReader{lines: y.lines, from: y.from, to: y.to, line: y.line} }()
	if y.items != nil {
		return y.endList()
	}
	return y.convert(&y.frame, &heading{})
}

// endList handles the last item, unless the list was truncated: kubectl writes its kind after its items.
func (y *yamlReader) endList() error {
	f, err := y.frameSoFar()
	switch {
	case y.ended && f.Kind == "" && !y.bare:
		return cutOff(fmt.Sprintf("line %d", y.line-1), y.to.read)
	case err != nil:
		return y.broken(y.frame.begins, err)
	}
	at := place{yaml: true, n: int64(y.frame.begins)}
	switch err := y.endItem(); {
	case err != nil:
		return err
	case y.bare:
		return y.to.settle(f, y.items)
	}
	return y.to.list(f, y.items, at)
}

// convert reads a part as JSON.
func (y *yamlReader) convert(p *part, under *heading) error {
	if !hasContent(p.text) {
		return nil
	}
	text, err := yaml.YAMLToJSON(p.text)
	if err != nil {
		return y.broken(p.begins, err)
	}
	j := newJSONReader(bytes.NewReader(text), y.to)
	j.line = p.begins
	return j.value(under)
}

func (y *yamlReader) broken(begins int, err error) error {
	return fmt.Errorf("the object at line %d can't be read (lines count from there): %w", begins, err)
}

func (p *part) clear() { p.text = p.text[:0] }

// hasContent reports whether the text has anything other than spaces and comments.
func hasContent(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return true
		}
	}
	return false
}
