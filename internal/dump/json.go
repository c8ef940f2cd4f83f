package dump

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient are the options to accept the texts that package encoding/json accepts.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// jsonReader reads documents, which are lists or single objects. It holds one object at a time.
type jsonReader struct {
	*jsontext.Decoder
	from   *meter
	to     Visit
	begins int64 // the byte near which the object being read begins
	read   int   // objects
}

func readJSON(r io.Reader, to Visit) error {
	from := &meter{from: r}
	j := &jsonReader{Decoder: jsontext.NewDecoder(from, lenient), from: from, to: to}
	for {
		switch err := j.document(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return j.failure(err)
		}
	}
}

// document reads one document: a list, an array, or a single object. It returns io.EOF if there is none.
func (j *jsonReader) document() error {
	j.begin()
	switch j.PeekKind() {
	case '[':
		return j.elements(object{})
	case '{':
		return j.members()
	}
	value, err := j.ReadValue()
	if err != nil {
		return err
	}
	return fmt.Errorf("a document must be an object of Kubernetes, but at byte %d there is %s", j.InputOffset(), value)
}

// begin notes that an object begins.
func (j *jsonReader) begin() {
	j.begins = j.InputOffset()
	j.from.allow(largest)
}

// members reads the members of a document. With "items" it is a list, else a single object.
func (j *jsonReader) members() error {
	if _, err := j.ReadToken(); err != nil {
		return err
	}
	frame, list := map[string]jsontext.Value{}, false
	for j.PeekKind() != '}' {
		token, err := j.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		if name == "items" && j.PeekKind() == '[' {
			list, err = true, j.elements(blankOf(frame))
		} else {
			err = j.member(frame, name)
		}
		if err != nil {
			return err
		}
	}
	if _, err := j.ReadToken(); err != nil || list {
		return err
	}
	return j.single(frame)
}

// member reads the value of a member into the frame of its document.
func (j *jsonReader) member(frame map[string]jsontext.Value, name string) error {
	value, err := j.ReadValue()
	if err != nil {
		return err
	}
	if name == "items" && value.Kind() != 'n' {
		return fmt.Errorf(`"items" must be a list, but at byte %d there is %s`, j.InputOffset(), value)
	}
	frame[name] = value.Clone()
	return nil
}

// blankOf returns the apiVersion and kind of items that do not have them: the API server's own lists have them once,
// at the beginning.
func blankOf(frame map[string]jsontext.Value) (blank object) {
	// A list without them, or with something else in their place, has items with their own.
	_ = json.Unmarshal(frame["apiVersion"], &blank.APIVersion)
	_ = json.Unmarshal(frame["kind"], &blank.Kind)
	blank.Kind = strings.TrimSuffix(blank.Kind, "List")
	return blank
}

// single reads a document that is one object, or a list of nothing.
func (j *jsonReader) single(frame map[string]jsontext.Value) error {
	if frame["items"] != nil {
		return nil
	}
	text, err := json.Marshal(frame, lenient)
	if err != nil {
		return fmt.Errorf("joining the members of an object: %w", err)
	}
	return j.object(text, object{})
}

// elements reads the objects of an array. Objects without apiVersion and kind have those of blank.
func (j *jsonReader) elements(blank object) error {
	if _, err := j.ReadToken(); err != nil {
		return err
	}
	for j.PeekKind() != ']' {
		j.begin()
		text, err := j.ReadValue()
		if err != nil {
			return err
		}
		if err := j.object(text, blank); err != nil {
			return err
		}
	}
	_, err := j.ReadToken()
	return err
}

// object passes an object to the visitor. It returns an error if the object has no kind, or is wanted and can't be
// read.
func (j *jsonReader) object(text jsontext.Value, o object) error {
	err := json.Unmarshal(text, &o, lenient)
	if err != nil {
		o.setHead(text) // err may come before it
	}
	switch {
	case o.Kind == "":
		return fmt.Errorf("the object near byte %d has no kind", j.begins)
	case err != nil && o.typed() != nil:
		return fmt.Errorf("the %s %s near byte %d can't be read: %w", o.Kind, o.name(), j.begins, err)
	case err == nil:
		j.to.tell(&o)
	}
	j.read++
	return nil
}

// setHead sets the apiVersion, kind, namespace and name.
func (o *object) setHead(text jsontext.Value) {
	head := struct {
		APIVersion, Kind string
		Metadata         struct{ Namespace, Name string }
	}{APIVersion: o.APIVersion, Kind: o.Kind}
	_ = json.Unmarshal(text, &head, lenient, json.MatchCaseInsensitiveNames(true)) // what can't be read is empty
	o.APIVersion, o.Kind = head.APIVersion, head.Kind
	o.Metadata.Namespace, o.Metadata.Name = head.Metadata.Namespace, head.Metadata.Name
}

// failure returns an error that names the defect of the JSON itself, and its place.
func (j *jsonReader) failure(err error) error {
	syntax, invalid := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("the object near byte %d is larger than any that an API server has", j.begins)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return cutOff(fmt.Sprintf("byte %d", j.from.read), j.read)
	case j.from.err != nil && errors.Is(err, j.from.err):
		return fmt.Errorf("reading it failed at byte %d: %w", j.from.read, j.from.err)
	case invalid:
		return fmt.Errorf("it is not JSON after byte %d and %d whole objects: %w", syntax.ByteOffset, j.read,
			syntax.Err)
	}
	return err
}
