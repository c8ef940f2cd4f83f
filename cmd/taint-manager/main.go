// Command taint-manager evicts pods from nodes whose NoExecute taints they do not tolerate.
package main

import (
	"context"
	"os"

	"github.com/taint-manager/taint-manager/cli"
)

func main() { os.Exit(cli.Run(context.Background(), os.Args, os.Stdout, os.Stderr)) }
