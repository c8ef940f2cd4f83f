package dump

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

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
		switch err := j.value(object{}); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return j.failure(err)
		}
	}
}

// value reads an object, a list or an array. Objects without apiVersion and kind have those of blank. It returns io.EOF
// at the end of the text.
func (j *jsonReader) value(blank object) error {
	j.begins = j.InputOffset()
	j.from.allow(largest)
	switch j.PeekKind() {
	case '[':
		return j.elements(blank)
	case '{':
		return j.object(blank)
	}
	value, err := j.ReadValue()
	if err != nil {
		return err
	}
	return fmt.Errorf("in place of an object of Kubernetes there is %s %s", shortened(value), j.place())
}

// elements reads the values of an array.
func (j *jsonReader) elements(blank object) error {
	if _, err := j.ReadToken(); err != nil {
		return err
	}
	for j.PeekKind() != ']' {
		if err := j.value(blank); err != nil {
			return err
		}
	}
	_, err := j.ReadToken()
	return err
}

// object reads an object or, if it has items, a list.
func (j *jsonReader) object(blank object) error {
	start, at := len(j.text), j.place()
	defer func() { j.text = j.text[:start] }()
	if _, err := j.ReadToken(); err != nil {
		return err
	}
	j.text = append(j.text, '{')
	list := false
	for j.PeekKind() != '}' {
		items, err := j.member(start)
		if err != nil {
			return err
		}
		list = list || items
	}
	if _, err := j.ReadToken(); err != nil {
		return err
	}
	text := closed(j.text[start:])
	if list {
		return j.to.list(frameOf(text), at)
	}
	return j.to.object(text, blank, at)
}

// member reads a member of the object that begins at start. It appends the member to the text unless the member is the
// items of a list.
func (j *jsonReader) member(start int) (items bool, err error) {
	name, err := j.ReadValue()
	if err != nil {
		return false, err
	}
	items = string(name) == `"items"`
	mark := len(j.text)
	j.text = append(append(j.text, name...), ':')
	if items && j.PeekKind() == '[' {
		frame := frameOf(closed(slices.Clone(j.text[start:mark])))
		if frame.mayBeList() {
			j.text = j.text[:mark]
			return true, j.elements(frame.blank())
		}
	}
	value, err := j.ReadValue()
	j.text = append(append(j.text, value...), ',')
	return false, err
}

// closed ends the text of an object, of which each member ends with a comma.
func closed(text []byte) []byte {
	if len(text) > 1 {
		text = text[:len(text)-1]
	}
	return append(text, '}')
}

// frame has the fields of a list other than its items.
type frame struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Continue           string `json:"continue"`
		RemainingItemCount *int64 `json:"remainingItemCount"`
	} `json:"metadata"`
}

func frameOf(text []byte) (f frame) {
	_ = json.Unmarshal(text, &f, lenient) // what is of another type is left out: the items have apiVersion and kind
	return f
}

// mayBeList reports whether an object with the fields known so far may be a list.
func (f *frame) mayBeList() bool { return f.Kind == "" || strings.HasSuffix(f.Kind, "List") }

// blank returns the apiVersion and kind of items that do not have them: the API server's own lists have them once, at
// the beginning.
func (f *frame) blank() (blank object) {
	blank.APIVersion, blank.Kind = f.APIVersion, strings.TrimSuffix(f.Kind, "List")
	return blank
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
