// SPDX-License-Identifier: MIT

// mutex with sync.Mutex; Go always has a second kernel thread (its monitor).
package main

import (
	"sync"

	"weft/bench/common/gobench"
)

func main() {
	rec := gobench.New(1000000, 2, 7, 1, "mutex")
	var mutex sync.Mutex
	count := 0
	round := func() {
		for i := 0; i < rec.N; i++ {
			mutex.Lock()
			count++
			mutex.Unlock()
		}
	}
	round()
	rec.TimeRounds(rec.N, round)
	rec.Check(count == rec.N*(1+rec.Rounds*rec.Repeats), "every critical section ran")
	rec.Finish()
}
