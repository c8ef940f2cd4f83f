package dump

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// largestYAML is the maximum size of YAML in bytes: a document is parsed as a whole, which takes many times its size.
const largestYAML = 64 << 20

// readYAML reads YAML, document by document.
func readYAML(r io.Reader, to *receiver) error {
	documents := utilyaml.NewYAMLReader(bufio.NewReader(&meter{from: r, most: largestYAML}))
	for line := 1; ; {
		text, err := documents.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errTooLarge):
			return fmt.Errorf("it has more than %d MiB of YAML; write it with -o json", largestYAML>>20)
		case err != nil:
			return fmt.Errorf("reading it failed after line %d: %w", line, err)
		}
		// A parser ignores what follows the end of a document.
		for part := range bytes.SplitSeq(text, []byte("\n...\n")) {
			if err := convert(part, line, to); err != nil {
				return err
			}
			line += bytes.Count(part, []byte("\n")) + 1
		}
	}
}

// convert reads a document, which begins at this line, as JSON. It refuses duplicate keys: two lists without "---"
// between them would lose the first one's objects.
func convert(document []byte, line int, to *receiver) error {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		cause := beginning(strings.Join(strings.Fields(err.Error()), " "), 300) // it has a line for each duplicate key
		return fmt.Errorf("the document at line %d can't be read (lines count from there): %s", line, cause)
	}
	if string(text) == "null" {
		return nil
	}
	j := newJSONReader(bytes.NewReader(text), to)
	j.line = line
	if err = j.value(nil); err != nil && isCutOff(text) { // its last item may be wrong because of that
		err = fmt.Errorf("the list %s has no kind, so it may be cut off", j.place())
	}
	return err
}

// isCutOff reports whether a document is a list without a kind, which kubectl writes after the items.
func isCutOff(document []byte) bool {
	var list struct {
		Kind  string         `json:"kind"`
		Items jsontext.Value `json:"items"`
	}
	return json.Unmarshal(document, &list, lenient) == nil && list.Kind == "" && list.Items != nil
}
