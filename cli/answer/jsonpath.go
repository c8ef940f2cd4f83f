package answer

import (
	"bytes"
	"encoding/json"
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/hint"
)

// parsePath parses a template of jsonpath, as kubectl get does.
func parsePath(template string) (*jsonpath.JSONPath, error) {
	path := jsonpath.New("output").AllowMissingKeys(true)
	if err := path.Parse(template); err != nil || template == "" {
		reason := "the template is empty"
		if err != nil {
			reason = "invalid template: " + err.Error()
		}
		return nil, hint.Add(flags.Invalid("output", asPath+template, reason),
			"Write the template as for kubectl get, such as -o jsonpath='{.pods[*].name}'.")
	}
	return path, nil
}

// byPath applies a template to a document. The strings of the document are escaped.
func byPath(document any, template string) ([]byte, error) {
	path, err := parsePath(template)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	var plain any
	if err := utiljson.Unmarshal(text, &plain); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := path.Execute(&out, safe(plain)); err != nil {
		return nil, fmt.Errorf("executing the template of --output: %w", err)
	}
	return out.Bytes(), nil
}

// safe escapes all strings of a document.
func safe(value any) any {
	switch value := value.(type) {
	case string:
		return terminal.Escape(value)
	case []any:
		for i := range value {
			value[i] = safe(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = safe(value[name])
		}
	}
	return value
}
