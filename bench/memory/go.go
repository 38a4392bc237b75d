// SPDX-License-Identifier: MIT

// memory with goroutines (stacks grow from 2 KiB); they wait on a channel. The collector is off, so that it
// counts nothing of its own.
package main

import (
	"runtime"
	"runtime/debug"
	"sync"

	"weft/bench/common/gobench"
)

func main() {
	rec := gobench.New(100000, 1, 1, 1, "created", "blocked")
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	gate := make(chan struct{})
	started := 0
	var done sync.WaitGroup
	done.Add(rec.N)
	unit := func() {
		started++
		<-gate
		done.Done()
	}
	expected := 0
	resident, tables := gobench.MemoryNow()
	for i := 0; i < rec.N; i++ {
		go unit()
	}
	if rec.Form == "blocked" {
		for expected = rec.N; started < rec.N; {
			runtime.Gosched()
		}
	}
	reached := started
	residentAfter, tablesAfter := gobench.MemoryNow()
	rec.Extra("started_early", float64(reached-expected))
	close(gate)
	done.Wait()
	rec.Check(started == rec.N, "every goroutine ran")
	rec.Unit = "bytes/thread"
	rec.AddOps(rec.N)
	rec.AddSample((residentAfter - resident) / float64(rec.N))
	rec.Extra("page_table_bytes", (tablesAfter-tables)/float64(rec.N))
	rec.Finish()
}
