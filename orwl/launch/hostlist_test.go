package launch

import (
	"slices"
	"strings"
	"testing"
)

func TestExpandHosts(t *testing.T) {
	for list, want := range map[string]string{
		"node01":                       "node01",
		"a,b,c":                        "a b c",
		"node[01-03,07],gpu1":          "node01 node02 node03 node07 gpu1",
		"rack[1-2]n[01-03]":            "rack1n01 rack1n02 rack1n03 rack2n01 rack2n02 rack2n03",
		"n[8-11]":                      "n8 n9 n10 n11",
		"n[098-101]":                   "n098 n099 n100 n101",
		"c[1-2]-ib.cluster,login":      "c1-ib.cluster c2-ib.cluster login",
		"[1-2]":                        "1 2",
		"n[5-5]":                       "n5",
		"b,a[2,1]":                     "b a2 a1",
		"x[0000000001-0000000002]":     "x0000000001 x0000000002",
		"r[0-1]c[0-1]s[0-1]":           "r0c0s0 r0c0s1 r0c1s0 r0c1s1 r1c0s0 r1c0s1 r1c1s0 r1c1s1",
		"login.example.org,n[1-2].lan": "login.example.org n1.lan n2.lan",
	} {
		if got, err := expandHosts(list, checkHost); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v, want %s", list, got, err, want)
		}
	}
}

func TestExpandHostsMistakes(t *testing.T) {
	for list, want := range map[string]string{
		"":                               "no host",
		",":                              "an empty name",
		"a,":                             "an empty name",
		"a,,b":                           "an empty name",
		",a":                             "an empty name",
		"n[1-2":                          "a [ without a ]",
		"n1-2]":                          "a ] without a [",
		"n[]":                            `"" in brackets is no number`,
		"n[1,]":                          `"" in brackets is no number`,
		"n[a-b]":                         `"a" in brackets is no number`,
		"n[1-2-3]":                       `"2-3" in brackets is no number`,
		"n[+1-2]":                        `"+1" in brackets is no number`,
		"n[[1-2]]":                       `"[1" in brackets is no number`,
		"n[2-1]":                         "the range 2-1 runs backwards",
		"n[00000000001]":                 `"00000000001" in brackets is no number`,
		"n[0-4294967295]":                "more than 65536 hosts",
		"n[0-999]x[0-999]":               "more than 65536 hosts",
		"n[0-65535],m":                   "more than 65536 hosts",
		"n[0-65535],m[0-1]":              "more than 65536 hosts",
		strings.Repeat("n", 256):         "a host's name has more than 255 bytes",
		strings.Repeat("n", 250) + "[0]": "",
	} {
		got, err := expandHosts(list, checkHost)
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || want == "" {
			t.Errorf("%s: %d hosts, %v, want %s", list, len(got), err, want)
		}
	}
}

// An expanded list has no brackets left, is bounded, and expands to itself.
func FuzzExpandHosts(f *testing.F) {
	for _, list := range []string{"node[01-03,07],gpu1", "rack[1-2]n[01-04]", "a,b", "n[1", "[0-9][0-9]", "n[0-4294967295]", "n]"} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		hosts, err := expandHosts(list, checkHost)
		if err != nil {
			if hosts != nil {
				t.Errorf("%d hosts and %v", len(hosts), err)
			}
			return
		}
		if len(hosts) == 0 || len(hosts) > mostNodes {
			t.Fatalf("%d hosts", len(hosts))
		}
		for _, host := range hosts {
			if host == "" || len(host) > longestHost || strings.ContainsAny(host, "[],") {
				t.Fatalf("host %q", host)
			}
		}
		again, err := expandHosts(strings.Join(hosts, ","), checkHost)
		if err != nil || !slices.Equal(again, hosts) {
			t.Errorf("written out again: %d hosts, %v, want %d", len(again), err, len(hosts))
		}
	})
}
