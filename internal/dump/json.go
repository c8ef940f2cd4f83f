package dump

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient are the options to accept the texts that package encoding/json accepts.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// jsonReader reads objects, and lists and arrays of objects, however they are nested. It holds one object at a time.
type jsonReader struct {
	*jsontext.Decoder
	from *meter
	to   *receiver

	line   int    // the line of YAML that was converted, or 0
	begins int64  // the byte near which the object being read begins
	text   []byte // what was read of the objects that are open, the innermost last
}

func newJSONReader(r io.Reader, to *receiver) *jsonReader {
	from := &meter{from: r}
	return &jsonReader{Decoder: jsontext.NewDecoder(from, lenient), from: from, to: to}
}

func readJSON(r io.Reader, to *receiver) error {
	j := newJSONReader(r, to)
	for {
		switch err := j.value(&heading{}); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return j.failure(err)
		}
	}
}

// value reads an object, a list or an array, under the heading of the list that it is in. It returns io.EOF at the end
// of the text.
func (j *jsonReader) value(under *heading) error {
	j.begins = j.InputOffset()
	j.from.allow(largest)
	switch j.PeekKind() {
	case '[':
		return j.elements(under)
	case '{':
		return j.object(under)
	}
	value, err := j.ReadValue()
	if err != nil {
		return err
	}
	return fmt.Errorf("in place of an object of Kubernetes there is %s %s", shortened(value), j.place())
}

// elements reads the values of an array.
func (j *jsonReader) elements(under *heading) error {
	if _, err := j.ReadToken(); err != nil {
		return err
	}
	for j.PeekKind() != ']' {
		if err := j.value(under); err != nil {
			return err
		}
	}
	_, err := j.ReadToken()
	return err
}

// object reads an object or, if it has items, a list.
func (j *jsonReader) object(under *heading) error {
	start, at := len(j.text), j.place()
	defer func() { j.text = j.text[:start] }()
	if _, err := j.ReadToken(); err != nil {
		return err
	}
	j.text = append(j.text, '{')
	var list *heading
	for j.PeekKind() != '}' {
		items, err := j.member(start)
		if err != nil {
			return err
		}
		list = cmp.Or(list, items)
	}
	if _, err := j.ReadToken(); err != nil {
		return err
	}
	text := closed(j.text[start:])
	if list != nil {
		return j.to.list(frameOf(text), list, at)
	}
	return j.to.object(text, under, at)
}

// member reads a member of the object that begins at start. It appends the member to the text unless the member is the
// items of a list, whose heading it returns.
func (j *jsonReader) member(start int) (items *heading, err error) {
	name, err := j.ReadValue()
	if err != nil {
		return nil, err
	}
	mark, named := len(j.text), string(name) == `"items"`
	j.text = append(append(j.text, name...), ':')
	if named && j.PeekKind() == '[' {
		frame := frameOf(closed(slices.Clone(j.text[start:mark])))
		if frame.Kind == "" || isList(frame.APIVersion, frame.Kind) {
			j.text = j.text[:mark]
			items = frame.heading()
			return items, j.elements(items)
		}
	}
	value, err := j.ReadValue()
	j.text = append(append(j.text, value...), ',')
	return nil, err
}

// closed ends the text of an object, of which each member ends with a comma.
func closed(text []byte) []byte {
	if len(text) > 1 {
		text = text[:len(text)-1]
	}
	return append(text, '}')
}

// place returns the place of the object that begins.
func (j *jsonReader) place() place {
	if j.line > 0 {
		return place{yaml: true, n: int64(j.line)}
	}
	return place{n: j.begins}
}

// failure returns an error that names the defect of the JSON itself, and its place.
func (j *jsonReader) failure(err error) error {
	syntax, invalid := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("the object near byte %d is larger than any that an API server has", j.begins)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return cutOff(fmt.Sprintf("byte %d", j.from.read), j.to.read)
	case j.from.err != nil && errors.Is(err, j.from.err):
		return fmt.Errorf("reading it failed at byte %d: %w", j.from.read, j.from.err)
	case invalid:
		return fmt.Errorf("it is not JSON after byte %d and %d whole objects: %w", syntax.ByteOffset, j.to.read,
			syntax.Err)
	}
	return err
}
