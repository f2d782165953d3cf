package promserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Sample is one of an instant vector.
type Sample struct {
	Labels map[string]string
	Value  float64
}

// patience is for how long something may not come true. It is never waited for if all is
// well.
const patience = 5 * time.Minute

// Query evaluates an expression in PromQL now.
func (s *Server) Query(expr string) []Sample {
	s.t.Helper()
	samples, err := s.ask(expr)
	if err != nil {
		s.t.Fatalf("%s: %v", expr, err)
	}
	return samples
}

// Value is the value of an expression that selects exactly one sample.
func (s *Server) Value(expr string) float64 {
	s.t.Helper()
	samples := s.Query(expr)
	if len(samples) != 1 {
		s.t.Fatalf("%s: %d samples, want 1: %v", expr, len(samples), samples)
	}
	return samples[0].Value
}

// Until asks until all samples of an expression are as wanted, and there is one at least. It
// returns them.
func (s *Server) Until(expr string, wanted func(value float64) bool) []Sample {
	s.t.Helper()
	var last []Sample
	s.until(expr, func() (bool, any) {
		last = s.Query(expr)
		for _, one := range last {
			if !wanted(one.Value) {
				return false, last
			}
		}
		return len(last) > 0, last
	})
	return last
}

// Returns waits until an expression returns something, as a panel that shows it does.
func (s *Server) Returns(expr string) {
	s.t.Helper()
	s.Until("count(("+expr+") >= -Inf) or vector(0)", func(n float64) bool { return n > 0 })
}

// until tries again and again. If it never is, the failure shows what was seen last.
func (s *Server) until(what string, is func() (yes bool, seen any)) {
	s.t.Helper()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	enough := time.After(patience)
	for {
		yes, seen := is()
		if yes {
			return
		}
		select {
		case <-again.C:
		case <-s.t.Context().Done():
			s.t.Fatalf("%s: the test is over", what)
		case <-enough:
			s.t.Fatalf("%s: not in %v, but %v", what, patience, seen)
		}
	}
}

func (s *Server) ready() bool {
	r, err := http.Get("http://" + s.address + "/-/ready")
	if err != nil {
		return false
	}
	defer r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// answer is the answer of Prometheus's HTTP API to an instant query.
type answer struct {
	Error string
	Data  struct {
		ResultType string
		Result     []struct {
			Metric map[string]string
			Value  [2]any // a time, and a number as text
		}
	}
}

func (s *Server) ask(expr string) ([]Sample, error) {
	r, err := http.PostForm("http://"+s.address+"/api/v1/query", url.Values{"query": {expr}})
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	var a answer
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		return nil, err
	}
	if a.Error != "" || a.Data.ResultType != "vector" {
		return nil, fmt.Errorf("a %s, %s", a.Data.ResultType, a.Error)
	}
	var samples []Sample
	for _, one := range a.Data.Result {
		text, _ := one.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		samples = append(samples, Sample{one.Metric, value})
	}
	return samples, nil
}
