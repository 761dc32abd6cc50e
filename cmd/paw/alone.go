package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// alone refuses other flags beside a flag that makes a command do something else, except for those
// in with and those that say where to look and how to print.
func alone(cmd *cobra.Command, flag string, with ...string) error {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	with = append(with, flag, "session", "json")
	var err error
	cmd.LocalFlags().VisitAll(func(other *pflag.Flag) {
		if err == nil && other.Changed && !slices.Contains(with, other.Name) {
			err = usagef(cmd, "--%s and --%s exclude each other", flag, other.Name)
		}
	})
	return err
}
