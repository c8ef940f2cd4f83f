package chart

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// goMemoryLimit returns GOMEMLIMIT of the container that the chart renders with these values; empty if it is not set.
func goMemoryLimit(t *testing.T, values string) string {
	t.Helper()
	d := only[appsv1.Deployment](t, "kube-system", values, "Deployment")
	for _, variable := range d.Spec.Template.Spec.Containers[0].Env {
		if variable.Name == "GOMEMLIMIT" {
			return variable.Value
		}
	}
	return ""
}

func TestGOMEMLIMITIsNineTenthsOfTheMemoryLimitInWholeBytes(t *testing.T) {
	for limit, want := range map[string]string{
		"512Mi":      "483183820B",
		"1Gi":        "966367641B",
		"1G":         "900000000B",
		"500M":       "450000000B",
		"1500k":      "1350000B",
		"524288Ki":   "483183820B",
		"0.5Gi":      "483183820B",
		".5Gi":       "483183820B",
		"0.1Gi":      "96636764B",
		"2Ti":        "1979120929996B",
		"0.5T":       "450000000000B",
		"536870912":  "483183820B",
		"1e9":        "900000000B",
		"'1e9'":      "900000000B",
		"'1.5E+9'":   "1350000000B",
		"1Mi":        "943718B",
		"1000T":      "900000000000000B",
		"1073741825": "966367642B",
	} {
		if got := goMemoryLimit(t, "resources: {limits: {memory: "+limit+"}}"); got != want {
			t.Errorf("limits.memory %s: got %q, want %s", limit, got, want)
		}
	}
}

func TestWithoutAMemoryLimitGOMEMLIMITIsNotSet(t *testing.T) {
	for _, values := range []string{
		"resources: null", "resources: {limits: null}", "resources: {limits: {memory: null}}",
		"resources: {limits: {cpu: 1, memory: null}, requests: {memory: 128Mi}}",
	} {
		if got := goMemoryLimit(t, values); got != "" {
			t.Errorf("%s: got %q, want none", values, got)
		}
	}
}

func TestAMemoryLimitThatTheChartCannotReadIsRefusedInOneSentence(t *testing.T) {
	for limit, text := range map[string]string{
		"512m": `"512m"`, "1Gb": `"1Gb"`, "1K": `"1K"`, "1e9Mi": `"1e9Mi"`, "-1Gi": `"-1Gi"`, "much": `"much"`, "''": `""`, "Mi": `"Mi"`,
		"1Pi": `"1Pi"`, "1001T": `"1001T"`, "0": "0", "512": "512", "1048575": "1048575", "1e30": "1e+30",
	} {
		_, err := Render(dir, release(t, "kube-system", "resources: {limits: {memory: "+limit+"}}"))
		want := fmt.Sprintf("resources.limits.memory is %s, and GOMEMLIMIT can't be computed from it: "+
			"set it to a quantity of 1Mi to 1000T without a suffix or with k, M, G, T, Ki, Mi, Gi or Ti, such as 512Mi, or to null for no limit", text)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("limits.memory %s: got %v, want %s", limit, err, want)
		}
	}
}
