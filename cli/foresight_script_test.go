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

// TestForesightScripts runs plan and explain as their users do. Each script has the dump shop.yaml.
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
	return copyFile(filepath.Join(env.WorkDir, "shop.yaml"), shop)
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
