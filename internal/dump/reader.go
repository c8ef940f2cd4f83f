package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient are the options to accept the texts that package encoding/json accepts. In an object that is read, no name
// may be there twice.
var (
	oneOfEach = jsontext.AllowInvalidUTF8(true)
	lenient   = json.JoinOptions(oneOfEach, jsontext.AllowDuplicateNames(true))
)

// reader reads the objects of a file, and lists and arrays of objects, however they are nested. It holds one object at a
// time, and refuses what an API server does not have.
type reader struct {
	*jsontext.Decoder
	collection *Collection
	hole       func(Hole)
	file       place
	text       *objectLines
	yaml       *yamlReader // converts the text; nil: it is JSON

	begins int64          // the byte near which the object being read begins
	spare  jsontext.Value // memory for the members of the next object

	read, wanted int // number of objects, and of those whose kind is read
	held         int // bytes of the items that wait for the kind of their list
}

// mostHeld is the maximum number of bytes of items that wait for the kind of their list.
const mostHeld = 1 << 28

// all reads a file that is not compressed. The error is a clause that says what is wrong with it and where.
func (r *reader) all(plain *bufio.Reader) error {
	if has(plain, 0, markUTF8) {
		_, _ = plain.Discard(len(markUTF8)) // they are in the buffer
	}
	ahead, err := plain.Peek(plain.Size()) // the next read returns an error again
	line, _, _ := bytes.Cut(bytes.TrimSpace(ahead), []byte("\n"))
	first := string(bytes.TrimSpace(line))
	switch mistake := mistakenFor(first); {
	case first == "" && err == nil:
		return errors.New("it begins with only whitespace")
	case first == "" && errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case first == "":
		return fmt.Errorf("reading it: %w", err)
	case !r.file.alone() && (mistake == audit || mistake == described || mistake == table):
		return nil // it is beside what is read
	case mistake != "":
		return errors.New(mistake)
	}
	if !isJSON(first) {
		r.yaml = &yamlReader{to: r, seen: map[string]bool{}}
		return r.yaml.read(plain)
	}
	r.Reset(plain, lenient)
	for {
		if err := r.value(nil); err != nil {
			return r.failure(err)
		}
	}
}

// value reads an object, a list or an array, in this list; nil is none. It returns io.EOF at the end of the text.
func (r *reader) value(of *object) error {
	r.begins = r.InputOffset()
	r.text.allow()
	switch r.PeekKind() {
	case '[':
		return r.elements(of)
	case '{':
		return r.object(of)
	}
	value, err := r.ReadValue()
	if err != nil {
		return err
	}
	return fmt.Errorf("expected a Kubernetes object, found %s %s", beginning(string(value), 80), r.place())
}

// elements reads the values of an array.
func (r *reader) elements(of *object) error {
	_, err := r.ReadToken()
	for err == nil && r.PeekKind() != ']' {
		err = r.value(of)
	}
	if err == nil {
		_, err = r.ReadToken()
	}
	return err
}

// object reads an object or a list.
func (r *reader) object(of *object) error {
	o := &object{at: r.place(), listed: r.StackDepth() > 0 || r.yaml != nil && r.yaml.items, Members: r.spare[:0]}
	o.Items.list, o.Items.by, r.spare = o, r, nil
	if err := r.fill(o); err != nil {
		return err
	}
	r.spare = o.Members
	return r.take(o, of)
}

// take passes on a list, or an object of this list; nil is none.
func (r *reader) take(o, of *object) error {
	switch {
	case o.Items.read || o.Items.other != nil && o.mayBeList():
		return r.list(o)
	case of == nil:
		return r.pass(o)
	}
	of.Items.some = true
	if o.inherit(of); o.APIVersion != "" && o.Kind != "" {
		return r.pass(o)
	}
	o.Members = o.Members.Clone()
	of.Items.waiting = append(of.Items.waiting, o)
	if r.held += len(o.Members); r.held > mostHeld {
		return fmt.Errorf("the list %s has its kind after more than %d MiB; use -o json", of.at, mostHeld>>20)
	}
	return nil
}

// fill reads the members of an object or a list, and passes on the items of a list.
func (r *reader) fill(o *object) error {
	err := json.UnmarshalDecode(r.Decoder, o)
	switch _, unfit := errors.AsType[*json.SemanticError](err); {
	case o.Items.err != nil:
		return o.Items.err
	case unfit:
		return fmt.Errorf("invalid object %s: %w", o.at, err)
	}
	return err
}

// list passes on the items that wait for the end of the list. It returns an error if the list is one page of a longer
// list, or if it has no kind in YAML: kubectl writes the kind after the items.
func (r *reader) list(o *object) error {
	switch more := o.leftOut(); {
	case !o.Items.read && o.Items.other.Kind() != 'n':
		return fmt.Errorf(`invalid "items" of the list %s: must be an array, found %s`, o.at,
			beginning(string(o.Items.other), 80))
	case r.yaml != nil && o.Kind == "":
		return fmt.Errorf("the list %s has no kind, so it may be truncated", o.at)
	case more != "":
		return fmt.Errorf("the list %s is one page of a longer list: %s left out", o.at, more)
	}
	if o.kindOfItems() == "Pod" && !o.foreign() && !o.Items.some {
		r.collection.PodLists[""] = true
	}
	for _, item := range o.Items.waiting {
		item.inherit(o)
		if err := r.pass(item); err != nil {
			return err
		}
	}
	return nil
}

// pass passes an object on if its kind is one of those that are read. It returns an error if the object has no kind, if
// its kind does not exist, if the object is the answer to a request that failed, or if it is wanted and can't be
// read or has a name that no API server accepts.
func (r *reader) pass(o *object) error {
	if o.Kind == "" {
		switch of := o.tell(); {
		case of.Type.Kind() == '"' && of.Object.Kind() == '{':
			return errors.New("it is a stream of watch events, which has several states of an object (run kubectl " +
				"without --output-watch-events)")
		case r.file.alone():
			return fmt.Errorf("the object %s has no kind", o.at)
		}
	}
	r.read++
	if w := o.wanted(); w != nil {
		return r.passWanted(o, w)
	}
	switch refusal := o.refused(); {
	case refusal == "", !r.file.alone() && o.other():
	case !r.file.alone() && o.Kind == "Status":
		r.hole(Hole{What: "it " + refusal})
	default:
		return fmt.Errorf("the object %s %s", o.at, refusal)
	}
	return nil
}

// passWanted passes on an object whose kind is read, unless a part of its key is masked, which other objects may have in
// common, or it has a value that no API server stores.
func (r *reader) passWanted(o *object, w *wantedKind) error {
	r.wanted++
	if tool := r.collection.Tool; tool != nil && tool.nulls {
		o.Members = withNulls(o.Members)
	}
	typed, err := o.decode(w)
	if err != nil {
		return o.unreadable(err)
	}
	switch name := typed.GetName(); {
	case name == "":
		return fmt.Errorf("the %s %s has no name, so it may be truncated", o.Kind, o.at)
	case name[0] == '-': // commands would take it as a flag
		return fmt.Errorf("the %s %s has the name %q, which no API server accepts", o.Kind, o.at, name)
	}
	for _, part := range [][2]string{{"name", typed.GetName()}, {"namespace", typed.GetNamespace()}} {
		if !w.ours && Masked(part[1]) {
			why := fmt.Sprintf("a %s was skipped, because its %s is masked (%s)", o.Kind, part[0], part[1])
			r.hole(Hole{What: why, Skipped: o.Kind})
			return nil
		}
	}
	if errs := impossible(typed); len(errs) > 0 {
		what := fmt.Sprintf("%s %s was skipped: %v", o.Kind, o.name(), errs.ToAggregate())
		r.hole(Hole{What: what, Namespace: typed.GetNamespace(), Skipped: o.Kind})
		return nil
	}
	r.collection.add(typed, o.listed, r.file)
	return nil
}

// place returns where the object begins.
func (r *reader) place() string {
	if r.yaml != nil {
		return fmt.Sprintf("in the document at line %d", r.yaml.at)
	}
	return fmt.Sprintf("near byte %d", r.begins)
}

// failure returns an error that names the defect of the text itself, which is JSON, and its place; nil at its end.
func (r *reader) failure(err error) error {
	syntax, invalid := errors.AsType[*jsontext.SyntacticError](err)
	broken := r.text.err
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, errTooLarge):
		return fmt.Errorf("the object near byte %d is larger than an API server allows", r.begins)
	case broken != nil && !errors.Is(broken, io.EOF) && errors.Is(err, broken):
		return fmt.Errorf("reading it failed at byte %d: %w", r.text.read, broken)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it is truncated at byte %d, after %d complete objects", r.text.read, r.read)
	case invalid:
		return fmt.Errorf("invalid JSON after byte %d and %d complete objects: %w", syntax.ByteOffset, r.read, syntax.Err)
	}
	return err
}
