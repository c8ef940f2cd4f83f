package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"
)

// shop is the dump that the docs and the help use in their examples.
const shop = "../docs/examples/shop.json"

// exampleGPUs is a dump with eight GPUs, and exampleRule taints four of them.
const (
	exampleGPUs = "../docs/examples/gpus.json"
	exampleRule = "../docs/examples/xid-79.yaml"
)

// examplePolicies has the configuration files of docs/policies.md.
const examplePolicies = "../docs/examples/policies"

// bundles has one cluster as several tools write it.
const bundles = "testdata/bundles"

// TestForesightScripts runs plan, explain and pending as users do. Each script has the dump cluster.json, which equals
// shop.yaml, and a kubeconfig NAME.kubeconfig for each of the fake API servers, see shopAPI, and the configuration files of the docs.
func TestForesightScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script", "foresight"),
		Setup:               setUpForesight,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

func setUpForesight(env *testscript.Env) error {
	api := newShopAPI()
	env.Defer(api.Close)
	env.Setenv("API", api.URL)
	env.Setenv("EXAMPLES", must(filepath.Abs(examplePolicies)))
	env.Setenv("GORACE", os.Getenv("GORACE"))
	env.Setenv("MUTANT", os.Getenv("MUTANT")) // of a program built by test/mutants
	return prepareShop(api, env.WorkDir)
}

// prepareShop writes the dump, in both of kubectl's formats, and the kubeconfigs into a folder.
func prepareShop(api *shopAPI, dir string) error {
	inJSON := must(os.ReadFile(shop))
	for name, text := range map[string][]byte{
		"cluster.json": inJSON, "shop.yaml": must(yaml.JSONToYAML(inJSON)),
		filepath.Base(exampleGPUs): must(os.ReadFile(exampleGPUs)),
		filepath.Base(exampleRule): must(os.ReadFile(exampleRule)),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	for _, from := range []string{examplePolicies, bundles} {
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			return err
		}
	}
	return api.writeKubeconfigs(dir)
}
