// SPDX-License-Identifier: MIT

// wakeup of a goroutine that waits on a channel while the pusher keeps its kernel thread busy.
package main

import (
	"runtime"
	"sort"
	"sync/atomic"
	"syscall"
	"time"

	"weft/bench/common/gobench"
)

func cpu() int64 {
	var use syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return use.Utime.Nano() + use.Stime.Nano()
}

func main() {
	rec := gobench.New(200, 1, 1, 2, "notify")
	runtime.GOMAXPROCS(rec.Workers)
	start := time.Now()
	var arrived atomic.Int64
	pushes := make(chan struct{})
	go func() {
		for range pushes {
			arrived.Store(int64(time.Since(start)))
		}
	}()
	once := func() float64 {
		begin := int64(time.Since(start))
		pushes <- struct{}{}
		for arrived.Load() == 0 {
		}
		return float64(arrived.Swap(0) - begin)
	}
	for i := 0; i < 3; i++ {
		once()
	}
	var all []float64
	idle := 0.0
	for i := 0; i < rec.N; i++ {
		used, wall := cpu(), time.Now()
		time.Sleep(2 * time.Millisecond)
		idle += float64(cpu()-used) / float64(time.Since(wall).Nanoseconds())
		all = append(all, once())
	}
	for _, value := range all {
		rec.AddSample(value)
	}
	sort.Float64s(all)
	rec.Unit = "ns/wakeup"
	rec.AddOps(len(all))
	rec.Extra("p99", all[len(all)*99/100])
	rec.Extra("idle_cpu", idle/float64(rec.N))
	rec.Finish()
}
