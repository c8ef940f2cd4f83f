package dump

import (
	"encoding/json"
	"reflect"
	"strings"
)

// tree has the names of the members of objects that are kept, at every depth. A nil tree keeps all.
type tree map[string]tree

// wanted are the members that are decoded.
var wanted = treeOf(reflect.TypeFor[object]())

// treeOf returns the tree of the fields that are decoded into a type.
func treeOf(t reflect.Type) tree {
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return nil
	case t.Kind() == reflect.Pointer, t.Kind() == reflect.Slice:
		return treeOf(t.Elem())
	case t.Kind() != reflect.Struct:
		return nil
	}
	members := tree{}
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			members[name] = treeOf(field.Type)
		}
	}
	return members
}

// keep appends the value at or after i to kept, without the members that are not wanted and without most spaces,
// and returns the index after it.
func (t tree) keep(kept, b []byte, i int) ([]byte, int, error) {
	i = space(b, i)
	if t == nil || i >= len(b) || b[i] != '{' && b[i] != '[' {
		end, err := skip(b, i, 0)
		if err != nil {
			return kept, end, err
		}
		return append(kept, b[i:end]...), end, nil
	}
	begins := len(kept)
	end, err := each(b, i, func(name []byte, next int) (end int, err error) {
		kept, end, err = t.member(kept, name, b, next)
		return end, err
	})
	if err != nil {
		return kept, end, err
	}
	return closed(kept, begins, b[i]), end, nil
}

// member appends a member of an object, or an element of an array, with a comma before it.
func (t tree) member(kept, name, b []byte, i int) ([]byte, int, error) {
	within := t
	if name != nil {
		var ok bool
		if within, ok = t[unescaped(name)]; !ok {
			end, err := skip(b, i, 0)
			return kept, end, err
		}
		kept = append(append(append(kept, `,"`...), name...), `":`...)
	} else {
		kept = append(kept, ',')
	}
	return within.keep(kept, b, i)
}

// closed makes an object or array of the members that were appended from begins on.
func closed(kept []byte, begins int, opening byte) []byte {
	if len(kept) == begins {
		return append(kept, opening, opening+2)
	}
	kept[begins] = opening // instead of the first comma
	return append(kept, opening+2)
}

// unescaped returns the name without escapes.
func unescaped(name []byte) string {
	if !strings.Contains(string(name), `\`) {
		return string(name)
	}
	var meant string
	if err := json.Unmarshal([]byte(`"`+string(name)+`"`), &meant); err != nil {
		return string(name)
	}
	return meant
}
