// SPDX-License-Identifier: MIT

// The patterns (workload.hpp) with goroutines, joined through a WaitGroup.
package main

import (
	"runtime"
	"strings"
	"sync"
	"time"

	"weft/bench/common/gobench"
)

const (
	longest    = 60 * time.Millisecond
	longEnough = 20e3 // ns
)

var (
	rec     *gobench.Recorder
	y       []float32
	factor  float32
	n       int
	workers int
)

func begin(k int) int { return k * n / workers }

func scale(first, last int) {
	part := y[first:last]
	for i := range part {
		part[i] *= factor
	}
}

func perWorker(created func()) {
	var done sync.WaitGroup
	done.Add(workers)
	for k := 0; k < workers; k++ {
		go func(k int) { y[k] *= factor; done.Done() }(k)
	}
	created()
	done.Wait()
}

// parts calls body for each of the parts of [0, n), a goroutine each, shifted by base.
func parts(base int, body func(first, last int)) {
	var done sync.WaitGroup
	done.Add(workers)
	for k := 0; k < workers; k++ {
		go func(k int) { body(base+begin(k), base+begin(k+1)); done.Done() }(k)
	}
	done.Wait()
}

func tasks(first, last int) {
	var done sync.WaitGroup
	done.Add(last - first)
	for i := first; i < last; i++ {
		go func(i int) { y[i] *= factor; done.Done() }(i)
	}
	done.Wait()
}

func rows(first, last int) {
	for row := first; row < last; row++ {
		parts(row*n, scale)
	}
}

func start(i int) float32 { return float32(i%1021 + 1) }

func main() {
	var forms []string
	for _, pattern := range []string{"create", "join", "for_loop", "single", "parallel", "nested"} {
		forms = append(forms, pattern+".thread")
	}
	rec = gobench.New(1000, 20, 40, 2, forms...)
	rec.Unit = "ns/round"
	runtime.GOMAXPROCS(rec.Workers)
	pattern := strings.TrimSuffix(rec.Form, ".thread")
	n, workers = rec.N, rec.Workers
	if pattern == "create" || pattern == "join" {
		n = workers
	}
	size := n
	if pattern == "nested" {
		size = n * n
	}
	y = make([]float32, size)
	for i := range y {
		y[i] = start(i)
	}

	clock := time.Hour
	for i := 0; i < 1000; i++ {
		if from := time.Now(); time.Since(from) < clock {
			clock = time.Since(from)
		}
	}
	rounds := 0
	round := func() float64 {
		rounds++
		factor = 0.5
		if rounds%2 != 0 {
			factor = 2
		}
		from := time.Now()
		switch pattern {
		case "create", "join":
			var between time.Time
			perWorker(func() { between = time.Now() })
			if pattern == "create" {
				return float64((between.Sub(from) - clock).Nanoseconds())
			}
			from = between
		case "for_loop":
			parts(0, scale)
		case "single":
			tasks(0, n)
		case "parallel":
			parts(0, tasks)
		case "nested":
			parts(0, rows)
		}
		return float64((time.Since(from) - clock).Nanoseconds())
	}
	check := func() {
		sum, expected := 0.0, 0.0
		for i, value := range y {
			sum += float64(value)
			expected += float64(start(i))
		}
		if rounds%2 != 0 {
			expected *= 2
		}
		rec.Check(sum == expected, "the sum of the scaled vector")
	}

	for from := time.Now(); rounds == 0 || time.Since(from) < longest/3; {
		round()
	}
	if rounds%2 == 0 {
		round()
	}
	check()
	from := time.Now()
	enough := false
	for repeat := 0; repeat < rec.Repeats && !enough; repeat++ {
		sum, count := 0.0, 0
		for count == 0 || (count < rec.Rounds && sum < longEnough && !enough) {
			sum += round()
			count++
			enough = time.Since(from) > longest
		}
		rec.AddSample(sum / float64(count))
		rec.AddOps(count)
	}
	check()
	rec.Finish()
}
