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

// object passes an object on, if its kind is one of those that are read. o has the apiVersion and kind of an object
// that lacks them. object returns an error if the object has no kind, if its kind does not exist, if the object is the
// answer to a request that failed, or if it is wanted and can't be read.
func (r *receiver) object(text jsontext.Value, o object, at place) error {
	err := json.Unmarshal(text, &o, lenient)
	if err != nil {
		o.setHead(text) // err may come before it
	}
	typed := o.typed()
	switch {
	case o.Items != nil && (o.Kind == "" || strings.HasSuffix(o.Kind, "List")):
		return r.noItems(&o, at)
	case o.Kind == "":
		return fmt.Errorf("the object %s has no kind", at)
	case typed == nil:
		if refusal := o.refused(); refusal != "" {
			return fmt.Errorf("the object %s %s", at, refusal)
		}
	case err != nil:
		return fmt.Errorf("the %s %s %s can't be read: %w", o.Kind, o.name(), at, err)
	default:
		r.to(typed, o.times())
	}
	r.read++
	return nil
}

// noItems returns an error unless the items of the list, which are no array, are null.
func (r *receiver) noItems(o *object, at place) error {
	if o.Items.Kind() == 'n' {
		return r.list(frame{Kind: o.Kind}, at)
	}
	return fmt.Errorf(`the "items" of the list %s must be an array, and not %s`, at, shortened(o.Items))
}

// list returns an error if a list is one page of a longer list, or if it has no kind in YAML: kubectl writes the kind
// after the items.
func (r *receiver) list(f frame, at place) error {
	if at.yaml && f.Kind == "" {
		return fmt.Errorf("the list %s has no kind, so it may be cut off", at)
	}
	thing := strings.ToLower(strings.TrimSuffix(f.Kind, "List"))
	if thing == "" {
		thing = "object"
	}
	left := f.Metadata.RemainingItemCount
	switch {
	case left != nil && *left == 1:
		return fmt.Errorf("the list %s is one page of a longer list: 1 more %s was left out", at, thing)
	case left != nil && *left > 1:
		return fmt.Errorf("the list %s is one page of a longer list: %d more %ss were left out", at, *left, thing)
	case f.Metadata.Continue != "":
		return fmt.Errorf("the list %s is one page of a longer list: more %ss were left out", at, thing)
	}
	return nil
}

// setHead sets the apiVersion, kind, namespace and name, and the message of a Status.
func (o *object) setHead(text jsontext.Value) {
	head := struct {
		APIVersion, Kind, Message string
		Metadata                  struct{ Namespace, Name string }
	}{APIVersion: o.APIVersion, Kind: o.Kind}
	_ = json.Unmarshal(text, &head, lenient, json.MatchCaseInsensitiveNames(true)) // what can't be read is empty
	o.APIVersion, o.Kind, o.Message = head.APIVersion, head.Kind, head.Message
	o.Metadata.Namespace, o.Metadata.Name = head.Metadata.Namespace, head.Metadata.Name
}

// shortened returns the beginning of a value in JSON, for a message.
func shortened(value jsontext.Value) string {
	const most = 80
	if len(value) > most {
		return string(value[:most]) + "..."
	}
	return string(value)
}
