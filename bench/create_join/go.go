// SPDX-License-Identifier: MIT

// create_join with goroutines, joined through a WaitGroup.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"

	"weft/bench/common/gobench"
)

func main() {
	rec := gobench.New(4096, 20, 5, 1, "thread")
	runtime.GOMAXPROCS(rec.Workers)
	var done sync.WaitGroup
	var count atomic.Int64
	counting := func() { count.Add(1); done.Done() }
	empty := func() { done.Done() }
	round := func(body func()) {
		done.Add(rec.N)
		for i := 0; i < rec.N; i++ {
			go body()
		}
		done.Wait()
	}
	round(counting)
	rec.Check(int(count.Load()) == rec.N, "every unit runs exactly once")
	rec.TimeRounds(rec.N, func() { round(empty) })
	rec.Finish()
}
