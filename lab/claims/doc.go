// Package claims says which claims of the papers hold for our locks. A [Study] is a figure of a
// paper: a benchmark, the contenders, a machine, and the claims that the paper reads off the
// figure. All are data. `orwl-lab reproduce` runs them.
//
//	outcomes, err := claims.Reproduce(ctx, claims.Studies(), nil)
//	err = claims.Table(os.Stdout, outcomes)
//	err = claims.HTML(file, outcomes)
//
// The studies are played in virtual time on a described machine. A rank makes a fixed number of
// iterations or, where fairness counts, plays for a fixed virtual time. So the outcome is the same on any
// computer. Nothing is tuned to a claim: a claim that does not hold is reported so, with what came out.
//
// Throughput is what HPDC16 defines: all iterations, divided by the time of the whole run. A
// factor that a paper gives as about n holds from n/1.5 to 1.5 n.
//
// [Missing] has the claims that no study runs, with the reason.
package claims
