package dump

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
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

	frame  part    // the document without its items
	item   part    // the item being read
	list   *object // as far as it was read before its items; nil if the document has none
	within bool    // the last line belonged to the items
	indent int     // of the items' dashes; -1 before the first
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
			return y.endDocument(true)
		case errors.Is(err, errTooLarge):
			return y.tooLarge()
		case err != nil:
			return fmt.Errorf("reading it failed at line %d: %w", y.line, err)
		}
		if beginsJSON(line) && (y.list != nil || hasContent(y.frame.text)) {
			return fmt.Errorf("JSON begins at line %d, within YAML; give each as a file of its own with --filename",
				y.line)
		}
		if err := y.addLine(line); err != nil {
			return err
		}
	}
}

// tooLarge refuses the part being read. Outside "items" that may be a whole list, as it is not split.
func (y *yamlReader) tooLarge() error {
	advice := ""
	if !y.within {
		advice = "; if it is a list, give it as a file of JSON, or as YAML with its objects below a line 'items:'"
	}
	return fmt.Errorf("the object at line %d is larger than any that an API server has%s",
		cmp.Or(y.part().begins, y.line), advice)
}

// beginsJSON reports whether an object in JSON begins with the line, as programs write it.
func beginsJSON(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"`)) || string(bytes.TrimRight(line, "\r\n")) == "{"
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
	case is(content, "---"), is(content, "..."):
		return y.endDocument(false)
	case len(content) == indent || content[indent] == '#': // nothing, unless it is in a string of several lines
		y.add(line)
		return nil
	case y.within && y.isItem(content, indent):
		return y.beginItem(line, indent)
	case y.within && indent <= max(y.indent, 0):
		if err := y.endItem(); err != nil {
			return err
		}
		y.within = false
	}
	if is(content, "items:") { // each with its dash at the start of a line; other forms are read with the document
		y.within, y.indent = true, -1
		y.list, _ = y.listSoFar() // its error is returned at the end of the list
		return nil
	}
	y.add(line)
	return nil
}

// is reports whether a line has this content, and perhaps a comment.
func is(content []byte, want string) bool {
	rest, ok := bytes.CutPrefix(content, []byte(want))
	return ok && (len(rest) == 0 || bytes.HasPrefix(rest, []byte(" #")))
}

// listSoFar returns the list as far as it has been read, without its items.
func (y *yamlReader) listSoFar() (*object, error) {
	list := &object{at: fmt.Sprintf("at line %d", y.frame.begins), yaml: true}
	text, err := yaml.YAMLToJSON(y.frame.text)
	if err == nil {
		err = json.Unmarshal(text, list, lenient)
	}
	list.Items.read = true
	return list, err
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
	y.item.text[indent] = ' ' // without its dash, an item is an object
	return nil
}

// part returns the item or frame that the current line belongs to.
func (y *yamlReader) part() *part {
	if y.within {
		return &y.item
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
	defer func() { y.item.text = y.item.text[:0] }()
	return y.convert(&y.item)
}

// endDocument passes the rest of a document to the receiver, and prepares for the next document. A list was truncated
// if the dump ends before its kind: kubectl writes the kind after the items.
func (y *yamlReader) endDocument(dumpEnds bool) error {
	defer func() { *y = yamlReader{lines: y.lines, from: y.from, to: y.to, line: y.line} }()
	if y.list == nil {
		return y.convert(&y.frame)
	}
	list, err := y.listSoFar()
	switch {
	case dumpEnds && list.Kind == "":
		return cutOff(fmt.Sprintf("line %d", y.line-1), y.to.read)
	case err != nil:
		return broken(y.frame.begins, err)
	}
	if err := y.endItem(); err != nil {
		return err
	}
	list.Items.waiting = y.list.Items.waiting
	return y.to.list(list)
}

// convert reads a part as JSON.
func (y *yamlReader) convert(p *part) error {
	if !hasContent(p.text) {
		return nil
	}
	text, err := yaml.YAMLToJSON(p.text)
	if err != nil {
		return broken(p.begins, err)
	}
	j := newJSONReader(bytes.NewReader(text), y.to)
	j.line = p.begins
	return j.value(y.list)
}

func broken(begins int, err error) error {
	return fmt.Errorf("the object at line %d can't be read (lines count from there): %w", begins, err)
}

// hasContent reports whether the text has anything other than spaces and comments.
func hasContent(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return true
		}
	}
	return false
}
