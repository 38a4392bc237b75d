// SPDX-License-Identifier: MIT

// Package gobench is bench.hpp for the Go adapters: the same arguments, the same JSON object.
package gobench

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// Recorder holds the options and the samples of one run.
type Recorder struct {
	N, Rounds, Repeats, Workers int
	Form                        string
	Unit                        string

	samples []float64
	extras  map[string]float64
	ops     int
	right   bool
}

// New parses the arguments; the first form is the default.
func New(n, rounds, repeats, workers int, forms ...string) *Recorder {
	r := &Recorder{Unit: "ns/op", extras: map[string]float64{}, right: true}
	flag.IntVar(&r.N, "n", n, "size")
	flag.IntVar(&r.Rounds, "rounds", rounds, "rounds in a sample")
	flag.IntVar(&r.Repeats, "repeats", repeats, "samples")
	flag.IntVar(&r.Workers, "workers", workers, "kernel threads")
	flag.StringVar(&r.Form, "form", forms[0], strings.Join(forms, "|"))
	list := flag.Bool("list-forms", false, "print the forms, one a line")
	flag.Parse()
	if *list {
		fmt.Println(strings.Join(forms, "\n"))
		os.Exit(0)
	}
	for _, form := range forms {
		if form == r.Form {
			return r
		}
	}
	fmt.Fprintln(os.Stderr, "no such form:", r.Form)
	os.Exit(2)
	return nil
}

// TimeRounds calls round Repeats x Rounds times.
func (r *Recorder) TimeRounds(opsPerRound int, round func()) {
	for i := 0; i < r.Repeats; i++ {
		begin := time.Now()
		for k := 0; k < r.Rounds; k++ {
			round()
		}
		r.AddSample(float64(time.Since(begin).Nanoseconds()) / float64(opsPerRound*r.Rounds))
	}
	r.ops += opsPerRound * r.Rounds * r.Repeats
}

// AddSample adds one sample in Unit.
func (r *Recorder) AddSample(value float64) { r.samples = append(r.samples, value) }

// AddOps counts operations that TimeRounds did not count.
func (r *Recorder) AddOps(ops int) { r.ops += ops }

// Extra adds a named number to the report.
func (r *Recorder) Extra(name string, value float64) { r.extras[name] = value }

// Check reports a wrong answer.
func (r *Recorder) Check(right bool, what string) {
	if !right {
		r.right = false
		fmt.Fprintln(os.Stderr, "wrong answer:", what)
	}
}

// Finish prints the JSON object and ends the process.
func (r *Recorder) Finish() {
	sorted := append([]float64{}, r.samples...)
	sort.Float64s(sorted)
	least, median := 0.0, 0.0
	if count := len(sorted); count > 0 {
		least = sorted[0]
		median = (sorted[(count-1)/2] + sorted[count/2]) / 2
	}
	workload, peer, _ := strings.Cut(filepath.Base(os.Args[0]), ".")
	out := map[string]any{
		"workload": workload, "peer": peer, "form": r.Form, "n": r.N, "rounds": r.Rounds,
		"repeats": r.Repeats, "workers": r.Workers, "unit": r.Unit, "ops": r.ops, "min": least,
		"median": median, "samples": r.samples, "checked": r.right,
	}
	if r.Unit == "ns/op" {
		out["ns_per_op"] = map[string]float64{"min": least, "median": median}
	}
	for name, value := range r.extras {
		out[name] = value
	}
	text, _ := json.Marshal(out)
	fmt.Println(string(text))
	if !r.right {
		os.Exit(1)
	}
	os.Exit(0)
}

// MemoryNow gives resident bytes and bytes of page tables.
func MemoryNow() (resident, pageTables float64) {
	return kib("/proc/self/smaps_rollup", "Rss:") * 1024, kib("/proc/self/status", "VmPTE:") * 1024
}

func kib(path, key string) float64 {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), key) {
			var value float64
			fmt.Sscan(strings.TrimPrefix(lines.Text(), key), &value)
			return value
		}
	}
	return 0
}
