// SPDX-License-Identifier: MIT

// delegation with sync.Mutex: goroutines that increment one number, as workload.hpp has it.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"

	"weft/bench/common/gobench"
)

// As in workload.hpp: of all goroutines together in a round.
const increments = 1 << 19

func main() {
	rec := gobench.New(2, 1, 7, 2, "mutex")
	runtime.GOMAXPROCS(rec.Workers)
	var number struct {
		before [128]byte // alone on its lines
		mutex  sync.Mutex
		value  int
		after  [128]byte
	}
	count := increments / rec.N
	round := func() {
		var begun atomic.Int64
		var all sync.WaitGroup
		for t := 0; t < rec.N; t++ {
			all.Add(1)
			go func() {
				defer all.Done()
				for begun.Add(1); begun.Load() < int64(rec.N); {
					runtime.Gosched()
				}
				for i := 0; i < count; i++ {
					number.mutex.Lock()
					number.value++
					number.mutex.Unlock()
				}
			}()
		}
		all.Wait()
	}
	round()
	rec.TimeRounds(count*rec.N, round)
	rec.Check(number.value == rec.N*count*(1+rec.Rounds*rec.Repeats), "every increment was made")
	rec.Finish()
}
