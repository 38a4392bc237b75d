// SPDX-License-Identifier: MIT

// lateness with goroutines: the sleeper is one like all others. Go preempts each after 10 ms.
package main

import (
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"weft/bench/common/gobench"
)

const (
	sleepLength = 10 * time.Millisecond
	leafNs      = 1000000
)

var (
	turns  int
	leaves atomic.Int64
)

func turn(times int) uint64 {
	x := uint64(88172645463325252)
	for i := 0; i < times; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

func turnsOfALeaf() int {
	const tried = 1000000
	least := time.Hour
	for i := 0; i < 20; i++ {
		begin := time.Now()
		if turn(tried) != 0 {
			least = min(least, time.Since(begin))
		}
	}
	return int(tried * leafNs / least.Nanoseconds())
}

func leaf() {
	if turn(turns) != 0 {
		leaves.Add(1)
	}
}

func halves(n int) {
	if n == 1 {
		leaf()
		return
	}
	done := make(chan struct{})
	go func() { halves(n / 2); close(done) }()
	halves(n - n/2)
	<-done
}

func group(n int) {
	var done sync.WaitGroup
	done.Add(n)
	for i := 0; i < n; i++ {
		go func() { leaf(); done.Done() }()
	}
	done.Wait()
}

// A goroutine a worker takes indices until none is left.
func loop(n, workers int) {
	var next atomic.Int64
	var done sync.WaitGroup
	done.Add(workers)
	for k := 0; k < workers; k++ {
		go func() {
			for next.Add(1) <= int64(n) {
				leaf()
			}
			done.Done()
		}()
	}
	done.Wait()
}

func alone(n int) {
	for i := 0; i < n; i++ {
		leaf()
	}
}

func main() {
	rec := gobench.New(2000, 1, 1, 2, "fork_join", "parallel_for", "task_group", "alone")
	runtime.GOMAXPROCS(rec.Workers)
	turns = turnsOfALeaf()
	var over atomic.Bool
	var late []float64
	var sleeper sync.WaitGroup
	sleeper.Add(1)
	go func() {
		for !over.Load() {
			begin := time.Now()
			time.Sleep(sleepLength)
			if took := time.Since(begin); !over.Load() {
				late = append(late, float64((took-sleepLength).Nanoseconds())/1000)
			}
		}
		sleeper.Done()
	}()
	begin := time.Now()
	switch rec.Form {
	case "fork_join":
		halves(rec.N)
	case "parallel_for":
		loop(rec.N, rec.Workers)
	case "task_group":
		group(rec.N)
	default:
		alone(rec.N)
	}
	length := time.Since(begin)
	over.Store(true)
	sleeper.Wait()
	rec.Check(leaves.Load() == int64(rec.N), "each leaf once")
	if len(late) == 0 {
		late = append(late, float64(length.Nanoseconds())/1000)
	}
	sort.Float64s(late)
	rank := func(share float64) float64 { return late[int(share*float64(len(late)-1))] }
	for _, sample := range late {
		rec.AddSample(sample)
	}
	rec.AddOps(len(late))
	rec.Unit = "us"
	rec.Extra("p50", rank(0.5))
	rec.Extra("p99", rank(0.99))
	rec.Extra("worst", late[len(late)-1])
	rec.Extra("beats", float64(len(late)))
	rec.Extra("beats_if_never_late", float64(length/sleepLength))
	rec.Finish()
}
