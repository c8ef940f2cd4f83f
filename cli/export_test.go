package cli

// NewCommand returns the command line, for tests of its flags.
var NewCommand = newCommand
