package command

import (
	"flag"
	"io"
)

// listed is a flag for completions and the manual.
type listed struct {
	name, value, text string // value is empty for a flag without one
}

// flags are the flags of the command. It is asked for its help, which defines them.
func (c *Command) flags(program string) []listed {
	f := flag.NewFlagSet(program+" "+c.Name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	_ = c.Run(f, []string{"-h"}, io.Discard) // help is no failure of interest
	return list(f)
}

// flags are the flags of the program without a command.
func (p Program) flags() []listed {
	if p.Flags == nil {
		return nil
	}
	return list(p.Flags())
}

func list(f *flag.FlagSet) (all []listed) {
	f.VisitAll(func(one *flag.Flag) {
		value, text := about(one)
		if b, is := one.Value.(interface{ IsBoolFlag() bool }); is && b.IsBoolFlag() {
			value = ""
		}
		all = append(all, listed{one.Name, value, text})
	})
	return all
}
