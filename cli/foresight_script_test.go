package cli_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// shop is the dump that the docs and the help use in their examples.
const shop = "../docs/examples/shop.yaml"

// TestForesightScripts runs plan, explain and pending as their users do. Each script has the dump shop.yaml, and a
// kubeconfig NAME.kubeconfig for each of the API servers that there are, see shopAPI.
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
	api, err := newShopAPI()
	if err != nil {
		return err
	}
	env.Defer(api.Close)
	env.Setenv("API", api.URL)
	env.Setenv("GORACE", os.Getenv("GORACE"))
	return prepareShop(api, env.WorkDir)
}

// prepareShop writes the dump and the kubeconfigs into a folder.
func prepareShop(api *shopAPI, dir string) error {
	if err := copyFile(filepath.Join(dir, "shop.yaml"), shop); err != nil {
		return err
	}
	return api.writeKubeconfigs(dir)
}

func copyFile(to, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		return err
	}
	return target.Close()
}
