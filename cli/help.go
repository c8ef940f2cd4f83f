package cli

import (
	"github.com/spf13/cobra"

	"github.com/taint-manager/taint-manager/cli/usage"
)

// helpCommand prints the help of the command that its arguments name.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil {
				return usage.Wrap(err)
			}
			if err := about.ValidateArgs(rest); err != nil && len(rest) > 0 {
				return err
			}
			return about.Help()
		},
	}
}
