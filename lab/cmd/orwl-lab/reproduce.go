package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/orwl/go-orwl/internal/command"
	"github.com/orwl/go-orwl/lab/claims"
)

// runReproduce is orwl-lab reproduce.
func runReproduce(f *flag.FlagSet, args []string, out io.Writer) error {
	only := f.String("figure", "*", "play the figures that match the `PATTERN`, such as 'HPDC16 *' or 'Uffmann22 benchmark 5.9'")
	share := f.String("share", "1/1", "play the `K/N`-th part of the figures: 1/20 plays the first of 20 parts")
	page := f.String("html", "", "write the figures and the claims to `FILE`, too")
	folder := f.String("out", "", command.Usage("out", ", index.html and claims.csv, in the `FOLDER`, too"))
	var as form
	as.define(f)
	if err := errors.Join(command.Parse(f, args), as.validate()); err != nil {
		return err
	}
	studies, err := selectStudies(*only, *share)
	if err != nil {
		return err
	}
	if *folder != "" {
		if err := os.MkdirAll(*folder, 0o777); err != nil {
			return command.Misusef("-out: %w", err)
		}
	}
	ctx, stop := untilInterrupt()
	defer stop()
	p := newProgress(os.Stderr)
	outcomes, err := claims.Reproduce(ctx, studies, func(what string) { p.at(func() string { return what }) })
	p.clear()
	if errors.Is(err, context.Canceled) {
		err = errCutShort
	}
	html := func(to io.Writer) error { return claims.HTML(to, outcomes) }
	err = errors.Join(writeClaims(out, as, outcomes), err, wholeFile("html", *page, html))
	if *folder != "" {
		err = errors.Join(err, wholeFile("out", filepath.Join(*folder, "index.html"), html),
			wholeFile("out", filepath.Join(*folder, "claims.csv"), func(to io.Writer) error { return writeClaims(to, form{csv: true}, outcomes) }))
	}
	return err
}

func writeClaims(out io.Writer, as form, outcomes []claims.Outcome) error {
	if as.text() {
		return claims.Table(out, outcomes)
	}
	return writeRows(out, as, []string{"figure", "run", "claim", "came", "holds", "why", "broken_by"}, claims.RowsWith(outcomes), func(r claims.Row) []string {
		return []string{r.Figure, r.Run, r.Claim, r.Came, fmt.Sprint(r.Holds), r.Why, r.Broken}
	})
}

// selectStudies are the studies that match, and of these a share.
func selectStudies(pattern, share string) (chosen []claims.Study, err error) {
	var k, n int
	if count, _ := fmt.Sscanf(share, "%d/%d", &k, &n); count != 2 || k < 1 || k > n {
		return nil, command.Misusef("-share is %q, want K/N with 1 <= K <= N, such as 1/20", share)
	}
	var known []string
	matched := 0
	for _, s := range claims.Studies() {
		known = append(known, s.Figure)
		hit, err := path.Match(pattern, s.Figure)
		if err != nil {
			return nil, command.Misusef("-figure: %q: %w", pattern, err)
		}
		if !hit {
			continue
		}
		if matched%n == k-1 {
			chosen = append(chosen, s)
		}
		matched++
	}
	if len(chosen) == 0 {
		return nil, command.Misusef("-figure %q and -share %s leave nothing to play: there are %s", pattern, share, strings.Join(known, ", "))
	}
	return chosen, nil
}
