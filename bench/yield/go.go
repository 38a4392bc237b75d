// SPDX-License-Identifier: MIT

// yield with goroutines on one P, by runtime.Gosched.
package main

import (
	"runtime"
	"sync"

	"weft/bench/common/gobench"
)

func main() {
	rec := gobench.New(100000, 5, 5, 1, "thread")
	runtime.GOMAXPROCS(1)
	last, steps, changes := -1, 0, 0
	round := func(counting bool) {
		var done sync.WaitGroup
		done.Add(2)
		for me := 0; me < 2; me++ {
			go func(me int) {
				for i := 0; i < rec.N; i++ {
					if counting {
						steps++
						if last != me {
							changes++
						}
						last = me
					}
					runtime.Gosched()
				}
				done.Done()
			}(me)
		}
		done.Wait()
	}
	round(true)
	rec.Check(steps == 2*rec.N, "both goroutines yield n times")
	rec.Extra("alternation", float64(changes)/float64(steps))
	rec.TimeRounds(2*rec.N, func() { round(false) })
	rec.Finish()
}
