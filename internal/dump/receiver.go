package dump

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// receiver passes objects to a visitor, and refuses what an API server does not have.
type receiver struct {
	to   Visit
	read int // objects
}

// place is where an object begins: at a line of YAML, or near a byte of JSON.
type place struct {
	yaml bool
	n    int64
}

func (p place) String() string {
	if p.yaml {
		return fmt.Sprintf("at line %d", p.n)
	}
	return fmt.Sprintf("near byte %d", p.n)
}

// found is an object that was read, or err if it could not be read.
type found struct {
	object
	err error
	at  place
}

// object passes an object under the heading of a list on, or lets it wait for the rest of the heading.
func (r *receiver) object(text jsontext.Value, under *heading, at place) error {
	o := &found{at: at}
	if o.err = json.Unmarshal(text, &o.object, lenient); o.err != nil {
		o.setHead(text) // the error may come before it
	}
	if o.Items != nil && (o.Kind == "" || isList(o.APIVersion, o.Kind)) {
		return r.noItems(text, o)
	}
	if o.under(under); under.open && (o.APIVersion == "" || o.Kind == "") {
		under.waiting = append(under.waiting, o)
		return nil
	}
	return r.pass(o)
}

// pass passes an object on, if its kind is one of those that are read. pass returns an error if the object has no kind,
// if its kind does not exist, if the object is the answer to a request that failed, or if it is wanted and can't be
// read.
func (r *receiver) pass(o *found) error {
	typed := o.typed()
	switch {
	case o.Kind == "":
		return fmt.Errorf("the object %s has no kind", o.at)
	case typed == nil:
		if refusal := o.refused(); refusal != "" {
			return fmt.Errorf("the object %s %s", o.at, refusal)
		}
	case o.err != nil:
		return fmt.Errorf("the %s %s %s can't be read: %w", o.Kind, o.name(), o.at, o.err)
	default:
		r.to(typed, o.times())
	}
	r.read++
	return nil
}

// noItems returns an error unless the items of the list, which are no array, are null.
func (r *receiver) noItems(text jsontext.Value, o *found) error {
	if o.Items.Kind() == 'n' {
		return r.list(frameOf(text), &heading{}, o.at)
	}
	return fmt.Errorf(`the "items" of the list %s must be an array, and not %s`, o.at, shortened(o.Items))
}

// list passes on the items that wait for the frame of their list. list returns an error if the list is one page of a
// longer list, or if it has no kind in YAML: kubectl writes the kind after the items.
func (r *receiver) list(f frame, items *heading, at place) error {
	if at.yaml && f.Kind == "" {
		return fmt.Errorf("the list %s has no kind, so it may be cut off", at)
	}
	if more := f.leftOut(); more != "" {
		return fmt.Errorf("the list %s is one page of a longer list: %s left out", at, more)
	}
	return r.settle(f, items)
}

// settle passes on the items that wait for the frame of their list.
func (r *receiver) settle(f frame, items *heading) error {
	for _, o := range items.waiting {
		o.under(f.heading())
		if err := r.pass(o); err != nil {
			return err
		}
	}
	return nil
}

// setHead sets the apiVersion, kind, namespace and name, and the message of a Status.
func (o *object) setHead(text jsontext.Value) {
	var head struct {
		APIVersion, Kind, Message string
		Metadata                  struct{ Namespace, Name string }
	}
	_ = json.Unmarshal(text, &head, lenient, json.MatchCaseInsensitiveNames(true)) // what can't be read is empty
	o.APIVersion, o.Kind, o.Message = head.APIVersion, head.Kind, head.Message
	o.Metadata.Namespace, o.Metadata.Name = head.Metadata.Namespace, head.Metadata.Name
}

// shortened returns the beginning of a value in JSON, for a message. A string keeps its quotes.
func shortened(value jsontext.Value) string {
	const most = 80
	short := beginning(string(value), most)
	if value.Kind() == '"' && len(value) > most {
		short += `"`
	}
	return short
}

// beginning returns a text, or its first characters if it is longer than most bytes.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}
