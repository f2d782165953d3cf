package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	trials   = flag.Int("trials", 20, "how often each package runs in each way")
	suspect  = flag.Int("suspects", 300, "how often each suspect runs in each way")
	notes    = flag.String("notes", ".steady", "the folder for what has run")
	limit    = flag.Duration("for", 12*time.Hour, "stop after this time; what is left runs the next time")
	only     = flag.String("only", "", "run only the cells whose names this pattern finds, such as 'busy .*llk23'")
	patience = flag.Duration("patience", 10*time.Minute, "a run that takes longer has failed")
	spin     = flag.Bool("spin", false, "compute for ever: what the way busy starts")
)

func main() {
	flag.Parse()
	if *spin {
		for n := new(atomic.Uint64); ; {
			n.Add(1)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "steady:", err)
		os.Exit(1)
	}
}

// run runs all cells that are left, and prints the table.
func run(ctx context.Context) error {
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	commit, err := output("git", "rev-parse", "--short", "HEAD")
	if err != nil {
		return err
	}
	folder := filepath.Join(*notes, commit)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	book, err := openBook(filepath.Join(folder, "runs"))
	if err != nil {
		return err
	}
	defer book.close()
	var chosen []cell
	for _, c := range cells(*trials, *suspect) {
		if pattern.MatchString(c.String()) {
			chosen = append(chosen, c)
		}
	}
	binaries, err := compile(chosen, filepath.Join(folder, "binaries"))
	if err != nil {
		return err
	}
	began := time.Now()
	ctx, stop := context.WithTimeout(ctx, *limit)
	defer stop()
	// One run of each cell at a time, so that a run that is cut short has seen all of them.
	for again := true; again && ctx.Err() == nil; {
		again = false
		for _, c := range chosen {
			if ctx.Err() != nil || book.runs(c) >= c.most {
				continue
			}
			again = true
			n := min(c.batch, c.most-book.runs(c))
			r := c.play(ctx, binaries[c.pkg], n)
			if ctx.Err() != nil {
				break // it was interrupted, and says nothing
			}
			if err := book.note(c, n, r, folder); err != nil {
				return err
			}
		}
	}
	failed := book.table(os.Stdout, chosen)
	fmt.Printf("\n%.1f hours now, %.1f in all\n", time.Since(began).Hours(), book.hours())
	if failed > 0 {
		return fmt.Errorf("%d runs have failed: see %s", failed, folder)
	}
	return nil
}
