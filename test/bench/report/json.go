package report

import (
	"encoding/json"
	"fmt"
	"slices"
)

// JSON returns the summary with a verdict for each target.
func JSON(s Summary) ([]byte, error) {
	s.Rows = slices.Clone(s.Rows)
	for i, r := range s.Rows {
		s.Rows[i].Targets = slices.Clone(r.Targets)
		for j, t := range r.Targets {
			v := r.Judge(t)
			s.Rows[i].Targets[j].Verdict = &v
		}
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	return append(text, '\n'), nil
}
