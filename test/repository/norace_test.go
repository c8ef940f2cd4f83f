package repository

import (
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

// The race detector's build leaves out files with the constraint !race, so `make test` has to run their tests without it.
func TestMakeTestRunsTheTestsThatTheRaceDetectorLeavesOut(t *testing.T) {
	atRoot(t)
	makefile := read(t, "Makefile")
	names := regexp.MustCompile(`(?m)^WITHOUT_RACE := '(.*)'$`).FindStringSubmatch(makefile)
	runs := regexp.MustCompile(`go test .* -run \$\(WITHOUT_RACE\) (.*)\)\n`).FindStringSubmatch(makefile)
	if names == nil || runs == nil {
		t.Fatal("the Makefile has no tests without the race detector")
	}
	run := regexp.MustCompile(strings.ReplaceAll(names[1], "$$", "$"))
	files, err := exec.CommandContext(t.Context(), "git", "grep", "-l", "^//go:build !race", "*_test.go").Output()
	if err != nil {
		t.Skipf("it needs git and a clone: %v", err)
	}
	for file := range strings.FieldsSeq(string(files)) {
		for _, test := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(read(t, file), -1) {
			if !run.MatchString(test[1]) || !strings.Contains(runs[1]+" ", "./"+path.Dir(file)+" ") {
				t.Errorf("%s has %s, which make test does not run", file, test[1])
			}
		}
	}
}
