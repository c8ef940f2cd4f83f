package dump

import "errors"

// The errors of scanning JSON.
var (
	errShort   = errors.New("the text ends within a value")
	errInvalid = errors.New("the text is no JSON")
)

// deepest is the maximum nesting depth of values, as in package encoding/json.
const deepest = 10000

// skip returns the index after the value that begins at or after i. It accepts what encoding/json accepts.
func skip(b []byte, i, depth int) (int, error) {
	i = space(b, i)
	if i >= len(b) {
		return i, errShort
	}
	switch b[i] {
	case '"':
		return text(b, i)
	case '{', '[':
		return skipNested(b, i, depth)
	case 't':
		return word(b, i, "true")
	case 'f':
		return word(b, i, "false")
	case 'n':
		return word(b, i, "null")
	}
	return number(b, i)
}

// skipNested returns the index after an object or array.
func skipNested(b []byte, i, depth int) (int, error) {
	if depth >= deepest {
		return i, errInvalid
	}
	return each(b, i, func(_ []byte, begins int) (int, error) { return skip(b, begins, depth+1) })
}

// each calls value with the position before each value of the object or array at i, and returns the index after the
// object or array. value returns the index after the value. Its name is as written between the quotes; nil in an
// array.
func each(b []byte, i int, value func(name []byte, begins int) (int, error)) (int, error) {
	object, closing := b[i] == '{', b[i]+2 // as ASCII orders the brackets
	next := space(b, i+1)
	if next < len(b) && b[next] == closing {
		return next + 1, nil
	}
	for {
		var name []byte
		var err error
		if object {
			if name, next, err = member(b, next); err != nil {
				return next, err
			}
		}
		if next, err = value(name, next); err != nil {
			return next, err
		}
		switch next = space(b, next); {
		case next >= len(b):
			return next, errShort
		case b[next] == closing:
			return next + 1, nil
		case b[next] != ',':
			return next, errInvalid
		}
		next++
	}
}

// member returns the name of a member, and the index after its colon.
func member(b []byte, i int) (name []byte, next int, err error) {
	i = space(b, i)
	if i >= len(b) {
		return nil, i, errShort
	}
	if b[i] != '"' {
		return nil, i, errInvalid
	}
	end, err := text(b, i)
	if err != nil {
		return nil, end, err
	}
	next, err = sign(b, end, ':')
	return b[i+1 : end-1], next, err
}

// sign returns the index after c, which must be the next character.
func sign(b []byte, i int, c byte) (int, error) {
	i = space(b, i)
	switch {
	case i >= len(b):
		return i, errShort
	case b[i] != c:
		return i, errInvalid
	}
	return i + 1, nil
}

// space returns the index of the next byte that is not a space.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// plain has the bytes that need no escape in a string.
var plain = func() (set [256]bool) {
	for c := range set {
		set[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return set
}()

// text returns the index after the string at i.
func text(b []byte, i int) (int, error) {
	for i++; i < len(b); i++ {
		if plain[b[i]] {
			continue
		}
		switch b[i] {
		case '"':
			return i + 1, nil
		case '\\':
			end, err := escape(b, i)
			if err != nil {
				return i, err
			}
			i = end - 1
		default:
			return i, errInvalid
		}
	}
	return i, errShort
}

// escape returns the index after the escaped character at i.
func escape(b []byte, i int) (int, error) {
	if i+1 >= len(b) {
		return i, errShort
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
	default:
		return i, errInvalid
	}
	for end := i + 2; end < i+6; end++ {
		if end >= len(b) {
			return i, errShort
		}
		if c := b[end]; (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return i, errInvalid
		}
	}
	return i + 6, nil
}

// word returns the index after a literal.
func word(b []byte, i int, literal string) (int, error) {
	for n := range len(literal) {
		if i+n >= len(b) {
			return i, errShort
		}
		if b[i+n] != literal[n] {
			return i, errInvalid
		}
	}
	return i + len(literal), nil
}

// number returns the index after the number at i. A number at the end of the text may continue.
func number(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	switch begins := i; {
	case i >= len(b):
		return i, errShort
	case b[i] == '0':
		i++
	default:
		if i = digits(b, i); i == begins {
			return i, errInvalid
		}
	}
	return fraction(b, i)
}

// fraction returns the index after the rest of a number, which begins with its decimal point or exponent.
func fraction(b []byte, i int) (int, error) {
	if i < len(b) && b[i] == '.' {
		begins := i + 1
		if i = digits(b, begins); i == begins && i < len(b) {
			return i, errInvalid
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		begins := i + 1
		if begins < len(b) && (b[begins] == '+' || b[begins] == '-') {
			begins++
		}
		if i = digits(b, begins); i == begins && i < len(b) {
			return i, errInvalid
		}
	}
	if i >= len(b) {
		return i, errShort
	}
	return i, nil
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}
