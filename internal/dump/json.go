package dump

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient are the options to accept the texts that package encoding/json accepts.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// oneOfEach is the option to decode an object that is read: no name is there twice.
var oneOfEach = jsontext.AllowInvalidUTF8(true)

// jsonReader reads objects, and lists and arrays of objects, however they are nested. It holds one object at a time.
type jsonReader struct {
	*jsontext.Decoder
	text *objectLines
	yaml *yamlReader // converts the text; nil: it is JSON
	to   *receiver

	begins int64          // the byte near which the object being read begins
	spare  jsontext.Value // memory for the members of the next object
}

// readAll reads JSON to its end.
func (j *jsonReader) readAll(from io.Reader) error {
	j.Reset(from, lenient)
	for {
		switch err := j.value(nil); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return j.failure(err)
		}
	}
}

// value reads an object, a list or an array, in this list; nil is none. It returns io.EOF at the end of the text.
func (j *jsonReader) value(of *object) error {
	j.begins = j.InputOffset()
	j.text.allow()
	switch j.PeekKind() {
	case '[':
		return j.elements(of)
	case '{':
		return j.object(of)
	}
	value, err := j.ReadValue()
	if err != nil {
		return err
	}
	return fmt.Errorf("in place of an object of Kubernetes there is %s %s", beginning(string(value), 80), j.place())
}

// elements reads the values of an array.
func (j *jsonReader) elements(of *object) error {
	if _, err := j.ReadToken(); err != nil {
		return err
	}
	for j.PeekKind() != ']' {
		if err := j.value(of); err != nil {
			return err
		}
	}
	_, err := j.ReadToken()
	return err
}

// object reads an object or a list.
func (j *jsonReader) object(of *object) error {
	o := &object{at: j.place(), yaml: j.yaml != nil, listed: j.StackDepth() > 0, Members: j.spare[:0]}
	o.Items.list, o.Items.by, j.spare = o, j, nil
	err := json.UnmarshalDecode(j.Decoder, o)
	switch _, unfit := errors.AsType[*json.SemanticError](err); {
	case o.Items.err != nil:
		return o.Items.err
	case unfit:
		return fmt.Errorf("the object %s can't be read: %w", o.at, err)
	case err != nil:
		return err
	}
	j.spare = o.Members
	return j.to.object(o, of)
}

// place returns where the object begins.
func (j *jsonReader) place() string {
	if j.yaml != nil {
		return fmt.Sprintf("in the document at line %d", j.yaml.at)
	}
	return fmt.Sprintf("near byte %d", j.begins)
}

// failure returns an error that names the defect of the text itself, and its place.
func (j *jsonReader) failure(err error) error {
	syntax, invalid := errors.AsType[*jsontext.SyntacticError](err)
	broken := j.text.err
	if errors.Is(broken, io.EOF) {
		broken = nil // it has ended
	}
	switch y := j.yaml; {
	case errors.Is(err, errTooLarge) && y != nil:
		return fmt.Errorf("the YAML at line %d has more than %d MiB without an end; write it with -o json", y.start(),
			largest>>20)
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("the object near byte %d is larger than any that an API server has", j.begins)
	case broken != nil && errors.Is(err, broken) && y != nil:
		return fmt.Errorf("reading it failed after line %d: %w", y.line-1, broken)
	case broken != nil && errors.Is(err, broken):
		return fmt.Errorf("reading it failed at byte %d: %w", j.text.read, broken)
	case y != nil && y.err != nil && errors.Is(err, y.err):
		return y.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it is cut off at byte %d, after %d whole objects", j.text.read, j.to.read)
	case invalid:
		return fmt.Errorf("it is not JSON after byte %d and %d whole objects: %w", syntax.ByteOffset, j.to.read,
			syntax.Err)
	}
	return err
}
