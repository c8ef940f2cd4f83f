package report

import (
	"encoding/json"
	"fmt"
)

// JSON returns the summary with a verdict for each target.
func JSON(s Summary) ([]byte, error) {
	type target struct {
		Target
		Verdict
	}
	type row struct {
		Row
		Targets []target `json:"targets"`
	}
	judged := struct {
		Summary
		Rows []row `json:"rows"`
	}{Summary: s}
	for _, r := range s.Rows {
		made := row{Row: r}
		for _, t := range r.Targets {
			made.Targets = append(made.Targets, target{t, r.Judge(t)})
		}
		judged.Rows = append(judged.Rows, made)
	}
	text, err := json.MarshalIndent(judged, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing JSON: %w", err)
	}
	return append(text, '\n'), nil
}
