package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
	sigsyaml "sigs.k8s.io/yaml"
)

// MaxFileSize is the maximum size of a file, in bytes: that of a ConfigMap.
const MaxFileSize = 1 << 20

const maxErrors = 100 // that are reported for one file, which bounds the cost of a hostile one

// Decode applies a file of YAML or JSON to c, and returns every error of the file and of the result: first those of the
// file's form, each with its line, then those of Validate. If there are errors, c must not be used.
func Decode(name string, data []byte, c *Configuration) []error {
	document, err := parse(name, data)
	if err != nil {
		return []error{err}
	}
	f := &form{name: name, missing: map[string]int{}}
	if !f.check(document, reflect.TypeFor[Configuration](), nil) || len(f.errs) > maxErrors {
		return f.firstErrors()
	}
	c.APIVersion, c.Kind = "", "" // the file must have them
	pruned, err := toJSON(document)
	if err == nil {
		err = sigsyaml.UnmarshalStrict(pruned, c)
	}
	if err != nil { // an error of the form that check does not find
		return append(f.errs, fmt.Errorf("%s: %w", name, err))
	}
	for _, e := range c.Validate() {
		if text, ok := e.BadValue.(string); ok {
			e.BadValue = clip(text)
		}
		i, isMissing := f.missing[e.Field]
		switch {
		case isMissing: // e says what is allowed
			f.errs[i] = fmt.Errorf("%w: %s", f.errs[i], e.Detail)
			delete(f.missing, e.Field)
		case !f.isConsequence(e):
			f.errs = append(f.errs, fmt.Errorf("%s: %w", name, e))
		}
	}
	return f.firstErrors()
}

// firstErrors returns at most maxErrors errors, and one that says so.
func (f *form) firstErrors() []error {
	if len(f.errs) <= maxErrors {
		return f.errs
	}
	return append(f.errs[:maxErrors], fmt.Errorf("%s: too many errors; these are the first %d", f.name, maxErrors))
}

// parse returns the document in the file.
func parse(name string, data []byte) (*yaml.Node, error) {
	if len(data) > MaxFileSize {
		return nil, fmt.Errorf("%s: must be at most %d bytes (1 MiB), the maximum size of a ConfigMap", name, MaxFileSize)
	}
	if bytes.HasPrefix(data, []byte("{")) { // JSON may have tabs between its values, and has none within them
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" "))
	}
	documents := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	err := documents.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the file is empty; 'taint-manager config defaults' prints a complete one", name)
	}
	if err == nil {
		err = documents.Decode(&second) // io.EOF if nothing follows
	}
	switch {
	case err == nil:
		return nil, fmt.Errorf("%s:%d: must be one document: remove this line and all that follow", name, second.Line)
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: not YAML or JSON: %w", name, err)
	}
	return document.Content[0], nil
}

func clip(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// isConsequence reports whether an error may only be a consequence of a value of the wrong form: the error's field is
// that value, is a part of it, or contains it.
func (f *form) isConsequence(e *field.Error) bool {
	return slices.ContainsFunc(f.malformed, func(path string) bool {
		return within(path, e.Field) || within(e.Field, path)
	})
}

// within reports whether the path inner is outer, or a part of outer.
func within(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
