package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// jsonReader reads documents, which are lists or single objects. It decodes only the wanted members of each object.
type jsonReader struct {
	*window
	to   Visitor
	read int    // objects
	kept []byte // of the object being read
}

func readJSON(r io.Reader, to Visitor) error {
	j := &jsonReader{window: newWindow(r), to: to}
	for {
		switch err := j.document(); {
		case errors.Is(err, errNoMore):
			return nil
		case err != nil:
			return j.failure(err)
		}
	}
}

// errNoMore is returned by document if there are no more documents.
var errNoMore = errors.New("no more documents")

// document reads one document: a list, an array, or a single object.
func (j *jsonReader) document() error {
	switch err := j.spaces(); {
	case errors.Is(err, io.EOF):
		return errNoMore
	case err != nil:
		return err
	}
	switch j.rest()[0] {
	case '[':
		j.pass(1)
		return j.elements(nil)
	case '{':
		begins := j.offset()
		j.pass(1)
		frame, list, err := j.members()
		if err != nil || list {
			return err
		}
		var o object
		return j.told(&o, begins, json.Unmarshal(frame, &o))
	}
	value, err := j.value()
	if err != nil {
		return err
	}
	return fmt.Errorf("a document must be an object of Kubernetes, but at byte %d there is %s", j.offset(), value)
}

// spaces skips spaces. It returns io.EOF if nothing follows them.
func (j *jsonReader) spaces() error {
	return j.take(func(b []byte) (int, error) {
		if end := space(b, 0); end < len(b) {
			return end, nil
		}
		return 0, errShort
	})
}

// value skips a value and returns it.
func (j *jsonReader) value() (value []byte, err error) {
	err = j.take(func(b []byte) (int, error) {
		end, err := skip(b, 0, 0)
		if errors.Is(err, errShort) && errors.Is(j.err, io.EOF) && json.Valid(b) { // a number at the end
			end, err = len(b), nil
		}
		value = bytes.TrimSpace(b[:min(end, len(b))])
		return end, err
	})
	return value, err
}

// ended skips the separator between two values. It returns true, after skipping the closing bracket, if no value
// follows.
func (j *jsonReader) ended(closing byte, first bool) (ended bool, err error) {
	if err := j.spaces(); err != nil {
		return false, err
	}
	switch c := j.rest()[0]; {
	case c == closing:
		j.pass(1)
		return true, nil
	case first:
		return false, nil
	case c != ',':
		return false, errInvalid
	}
	j.pass(1)
	return false, nil
}

// members reads the members of a document up to its end. It returns the wanted members other than "items", as an
// object, and whether there was an "items".
func (j *jsonReader) members() (frame []byte, list bool, err error) {
	for first := true; ; first = false {
		ended, err := j.ended('}', first)
		if err != nil || ended {
			return closed(frame, 0, '{'), list, err
		}
		name, err := j.name()
		switch {
		case err != nil:
			return nil, false, err
		case unescaped(name) == "items":
			list, err = true, j.items(closed(bytes.Clone(frame), 0, '{'))
		default:
			err = j.take(func(b []byte) (int, error) {
				kept, end, err := wanted.member(frame, name, b, 0)
				if err == nil {
					frame = kept
				}
				return end, err
			})
		}
		if err != nil {
			return nil, false, err
		}
	}
}

// name skips the name of a member and its colon, and returns the name.
func (j *jsonReader) name() (name []byte, err error) {
	err = j.take(func(b []byte) (int, error) {
		found, end, err := member(b, 0)
		name = bytes.Clone(found)
		return end, err
	})
	return name, err
}

// items reads the objects of a list. The frame has the other members of the list that are known.
func (j *jsonReader) items(frame []byte) error {
	if err := j.spaces(); err != nil {
		return err
	}
	if j.rest()[0] == '[' {
		j.pass(1)
		return j.elements(frame)
	}
	value, err := j.value()
	if err != nil || string(value) == "null" { // a list of nothing
		return err
	}
	return fmt.Errorf(`"items" must be a list, but at byte %d there is %s`, j.offset(), value)
}

// elements reads the objects of an array after its opening bracket. The frame of the list, if there is one, has
// their kind.
func (j *jsonReader) elements(frame []byte) error {
	apiVersion, kind := ofItems(frame)
	for first := true; ; first = false {
		if ended, err := j.ended(']', first); err != nil || ended {
			return err
		}
		begins := j.offset()
		err := j.take(func(b []byte) (end int, err error) {
			j.kept, end, err = wanted.keep(j.kept[:0], b, 0)
			return end, err
		})
		if err != nil {
			return err
		}
		o := object{APIVersion: apiVersion, Kind: kind}
		if err := j.told(&o, begins, json.Unmarshal(j.kept, &o)); err != nil {
			return err
		}
	}
}

// ofItems returns the apiVersion and kind of items that do not have them: the API server's own lists have them
// once, at the beginning.
func ofItems(frame []byte) (apiVersion, kind string) {
	var list object
	if json.Unmarshal(frame, &list) != nil {
		return "", ""
	}
	return list.APIVersion, strings.TrimSuffix(list.Kind, "List")
}

// told passes an object to the visitor. It returns an error if the object has no kind, or is wanted and can't be
// read.
func (j *jsonReader) told(o *object, begins int64, err error) error {
	switch {
	case o.Kind == "":
		return fmt.Errorf("the object near byte %d has no kind", begins)
	case err != nil && o.wanted():
		return fmt.Errorf("the %s %s near byte %d can't be read: %w", o.Kind, o.name(), begins, err)
	}
	j.to.tell(o)
	j.read++
	return nil
}

// failure returns an error that says what is wrong with the JSON itself, and where.
func (j *jsonReader) failure(err error) error {
	switch {
	case errors.Is(err, errInvalid):
		return fmt.Errorf("it is not JSON after byte %d and %d whole objects: %w", j.offset(), j.read, j.syntax())
	case errors.Is(err, io.EOF):
		return cut{fmt.Sprintf("byte %d", j.seen()), j.read}
	case j.err != nil && errors.Is(err, j.err):
		return fmt.Errorf("reading it failed at byte %d: %w", j.seen(), err)
	}
	return err
}

// syntax returns encoding/json's error for the rest of the text.
func (j *jsonReader) syntax() error {
	var value json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(j.rest())).Decode(&value); err != nil {
		return err
	}
	return errInvalid
}
