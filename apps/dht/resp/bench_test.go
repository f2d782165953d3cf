package resp

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkBesideRedis gives redis-benchmark a server of plain maps, which is the
// face alone, and Redis, in turn, and reports medians and how many times as many
// requests the first one answers in a second. Redis has one core, we have what
// redis-benchmark leaves of all:
//
//	go test -run '^$' -bench BesideRedis -benchtime 5x ./apps/dht/resp
func BenchmarkBesideRedis(b *testing.B) {
	program := installed(b, "redis-benchmark")
	theirs := redisServer(b)
	ours := serve(b, Options{}).addr
	for _, deep := range []int{1, 16} {
		b.Run(fmt.Sprintf("P=%d", deep), func(b *testing.B) {
			rates := make(map[string][]float64)
			for b.Loop() {
				for who, addr := range map[string]string{"ours": ours, "redis": theirs} {
					for test, rate := range redisBenchmark(b, program, addr, deep) {
						rates[test+"-"+who] = append(rates[test+"-"+who], rate)
					}
				}
			}
			for _, test := range []string{"set", "get"} {
				mine, his := median(rates[test+"-ours"]), median(rates[test+"-redis"])
				b.ReportMetric(mine/his, test+"-x-redis")
				b.ReportMetric(mine, test+"/s")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// redisBenchmark is the requests that a server answers in a second.
func redisBenchmark(b *testing.B, program, addr string, deep int) map[string]float64 {
	b.Helper()
	host, port, _ := net.SplitHostPort(addr)
	out, err := exec.Command(program, "-h", host, "-p", port, "-t", "set,get", "-c", "50", "-r", "100000",
		"-n", strconv.Itoa(50_000*min(deep, 10)), "-P", strconv.Itoa(deep), "--csv").Output()
	if err != nil {
		b.Fatal(err)
	}
	rates := make(map[string]float64)
	for line := range strings.Lines(string(bytes.TrimSpace(out))) {
		fields := strings.Split(strings.ReplaceAll(line, `"`, ""), ",")
		if rate, err := strconv.ParseFloat(fields[1], 64); err == nil {
			rates[strings.ToLower(fields[0])] = rate
		}
	}
	if len(rates) != 2 {
		b.Fatalf("redis-benchmark says %q", out)
	}
	return rates
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// BenchmarkPipeline reads, executes and answers on one core, without a network.
func BenchmarkPipeline(b *testing.B) {
	for _, name := range []string{"GET", "SET"} {
		b.Run(name, func(b *testing.B) {
			f := newFake()
			s, err := New(Options{Store: f})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			const deep = 16
			value := []string{"xxx"}
			if name == "GET" {
				value = nil
			}
			var text []byte
			for i := range deep {
				text = append(text, array(append([]string{name, fmt.Sprintf("key:%012d", i)}, value...)...)...)
			}
			p := &tape{}
			c := s.newConn(p, 1)
			for b.Loop() {
				p.pieces = append(p.pieces[:0], text)
				p.heard.Reset()
				if c.wait() != nil || c.pipeline() != nil {
					b.Fatal("the pipeline ended")
				}
				c.flush()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/deep, "ns/command")
		})
	}
}
