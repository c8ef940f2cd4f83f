package dump

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// jsonReader reads documents, which are lists or single objects.
type jsonReader struct {
	*json.Decoder
	from *counted
	to   Visitor
	read int // objects
}

func readJSON(r io.Reader, to Visitor) error {
	from := &counted{Reader: r}
	j := &jsonReader{Decoder: json.NewDecoder(from), from: from, to: to}
	for {
		switch err := j.document(); {
		case errors.Is(err, errNoMore):
			return nil
		case err != nil:
			return err
		}
	}
}

// errNoMore is what a document returns that is not there.
var errNoMore = errors.New("no more documents")

// document reads one document. What is not in "items" is a single object, or the frame of a list.
func (j *jsonReader) document() error {
	token, err := j.Token()
	if errors.Is(err, io.EOF) {
		return errNoMore
	}
	if err != nil {
		return j.failure(err)
	}
	if token == json.Delim('[') {
		return j.elements(nil)
	}
	if token != json.Delim('{') {
		return fmt.Errorf("a document must be an object of Kubernetes, but at byte %d there is %v", j.InputOffset(), token)
	}
	begins := j.InputOffset() - 1
	frame, list, err := j.members()
	if err != nil || list {
		return err
	}
	return j.single(frame, begins)
}

// members reads the members of a document up to its end. It returns those beside "items", and
// whether there was an "items".
func (j *jsonReader) members() (frame map[string]json.RawMessage, list bool, err error) {
	frame = map[string]json.RawMessage{}
	for j.More() {
		name, err := j.Token()
		if err != nil {
			return nil, false, j.failure(err)
		}
		if name == "items" {
			if err := j.items(frame); err != nil {
				return nil, false, err
			}
			list = true
			continue
		}
		var value json.RawMessage
		if err := j.Decode(&value); err != nil {
			return nil, false, j.failure(err)
		}
		frame[fmt.Sprint(name)] = value
	}
	if _, err := j.Token(); err != nil {
		return nil, false, j.failure(err)
	}
	return frame, list, nil
}

// items reads the objects of a list.
func (j *jsonReader) items(frame map[string]json.RawMessage) error {
	token, err := j.Token()
	switch {
	case err != nil:
		return j.failure(err)
	case token == nil: // a list of nothing
		return nil
	case token != json.Delim('['):
		return fmt.Errorf(`"items" must be a list, but at byte %d there is %v`, j.InputOffset(), token)
	}
	return j.elements(frame)
}

// elements reads the objects of an array after its opening bracket. The frame of the list, if there is one,
// says what they are.
func (j *jsonReader) elements(frame map[string]json.RawMessage) error {
	apiVersion, kind := ofItems(frame)
	for j.More() {
		o := object{APIVersion: apiVersion, Kind: kind}
		if err := j.item(&o); err != nil {
			return err
		}
	}
	if _, err := j.Token(); err != nil {
		return j.failure(err)
	}
	return nil
}

// ofItems is what the items of a list are that do not say it themselves: the API server's own lists
// name it once, in front.
func ofItems(frame map[string]json.RawMessage) (apiVersion, kind string) {
	if json.Unmarshal(frame["kind"], &kind) != nil || json.Unmarshal(frame["apiVersion"], &apiVersion) != nil {
		return "", ""
	}
	return apiVersion, strings.TrimSuffix(kind, "List")
}

func (j *jsonReader) item(o *object) error {
	begins := j.InputOffset()
	err := j.Decode(o)
	if err != nil && !j.misfit(err) {
		return j.failure(err)
	}
	return j.told(o, begins, err)
}

// single reads an object that was a document of its own.
func (j *jsonReader) single(frame map[string]json.RawMessage, begins int64) error {
	whole, err := json.Marshal(frame)
	if err != nil {
		return fmt.Errorf("the document at byte %d can't be read: %w", begins, err)
	}
	var o object
	return j.told(&o, begins, json.Unmarshal(whole, &o))
}

// told tells of an object, unless it can't be read and would be needed.
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

// misfit says whether an error means that the JSON is right, but not what was expected of its kind.
// All that fits was decoded then, and the next object can be read.
func (j *jsonReader) misfit(err error) bool {
	return j.from.err == nil && !errors.As(err, new(*json.SyntaxError)) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF)
}

// failure says what is wrong with the JSON itself, and where.
func (j *jsonReader) failure(err error) error {
	switch {
	case j.from.err != nil:
		return fmt.Errorf("reading it failed at byte %d: %w", j.from.bytes, j.from.err)
	case errors.As(err, new(*json.SyntaxError)):
		return fmt.Errorf("it is no JSON in what follows byte %d, after %d whole objects: %w", j.InputOffset(), j.read, err)
	}
	return cut{fmt.Sprintf("byte %d", j.from.bytes), j.read}
}

// counted counts what is read, and keeps what went wrong.
type counted struct {
	io.Reader
	bytes int64
	err   error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}
