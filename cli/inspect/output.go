package inspect

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/config"
)

// The forms in which an answer is printed.
const (
	asTable = "table"
	asWide  = "wide"
	asJSON  = "json"
	asYAML  = "yaml"
	asName  = "name"
)

// outputForms are in the order in which help and completion name them.
func outputForms() []string { return []string{asTable, asWide, asJSON, asYAML, asName} }

func addOutputFlag(fs *pflag.FlagSet, form *string) {
	*form = asTable
	fs.StringVarP(form, "output", "o", asTable, "`FORM` of the answer: table, wide, json, yaml or name.")
}

func checkOutput(form string) error {
	for _, known := range outputForms() {
		if form == known {
			return nil
		}
	}
	return config.Refusal{Flag: "output", Value: form, Allowed: "it takes table, wide, json, yaml or name", Next: "leave it out for table"}
}

// printDocument prints a versioned document.
func printDocument(w io.Writer, document any, form string) (err error) {
	var text []byte
	if form == asYAML {
		text, err = inYAML(document)
	} else {
		text, err = json.MarshalIndent(document, "", "  ")
		text = append(terminal.EscapeJSON(text), '\n')
	}
	if err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	_, err = w.Write(text)
	return err
}

// inYAML writes a document. One with characters that a terminal might obey is written in JSON, which is YAML,
// too, as YAML would leave some of them as they are.
func inYAML(document any) ([]byte, error) {
	plain, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	if safe := terminal.EscapeJSON(plain); len(safe) != len(plain) {
		return append(safe, '\n'), nil
	}
	return yaml.Marshal(document)
}
