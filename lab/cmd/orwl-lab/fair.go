package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/lab/fair"
)

// fairGroups are the flags of orwl-lab fair, as help shows them.
var fairGroups = []command.Group{{Title: "what to measure", Flags: "case repeats llk23 poisson"}, {Title: "with what", Flags: "beside"}}

// runFair is orwl-lab fair.
func runFair(f *flag.FlagSet, args []string, out io.Writer) (err error) {
	cases := f.String("case", "*", "measure the cases `NAME,...`; a name may end with *")
	turns := f.Int("repeats", 9, command.Usage("repeats", "; METG is played 3 times at most, because once takes seconds"))
	llk23 := f.String("llk23", "llk23", command.Usage("llk23", ""))
	poisson := f.String("poisson", "poisson", "for cg: poisson is the `PROGRAM`: a path, or a name that PATH knows after go install")
	beside := f.String("beside", "", "more contenders, from a `FILE`: a line is CASE NAME COMMAND, and the command prints its figure before ns or us")
	if err := command.Parse(f, args); err != nil {
		return err
	}
	if err := inRange("repeats", *turns, 1, 1000); err != nil {
		return err
	}
	plan := fair.Plan{Turns: *turns}
	if plan.Cases, err = fair.Cases(*cases); err != nil {
		return command.Misusef("-case: %w", err)
	}
	program, err := exec.LookPath(*llk23)
	if err != nil && slices.ContainsFunc(plan.Cases, func(c fair.Case) bool { return c.Name == "kill" || strings.HasPrefix(c.Name, "llk23") }) {
		return command.Misusef("-llk23: %w: install it by go install ./apps/llk23 in the root, or name it", err)
	}
	gradients := *poisson
	if slices.ContainsFunc(plan.Cases, func(c fair.Case) bool { return c.Name == "cg" }) {
		if gradients, err = exec.LookPath(*poisson); err != nil {
			return command.Misusef("-poisson: %w: install it by go install ./examples/poisson in the root, or name it", err)
		}
	}
	if *beside != "" {
		file, err := os.Open(*beside)
		if err != nil {
			return fmt.Errorf("-beside: %w", err)
		}
		plan.Beside, err = fair.ReadBeside(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return command.Misusef("-beside %s: %w", *beside, err)
		}
	}
	ctx, stop := untilInterrupt()
	defer stop()
	shop := fair.NewShop(program, gradients)
	defer func() { err = errors.Join(err, shop.Close()) }()
	if err := plan.Run(ctx, shop, out); err != nil {
		if ctx.Err() != nil {
			return command.ErrInterrupted
		}
		return err
	}
	return nil
}
