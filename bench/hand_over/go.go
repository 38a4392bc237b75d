// SPDX-License-Identifier: MIT

// hand_over with Go: a goroutine waits in read(2) of a pipe that Go's poller does not know, and another one
// is ready.
package main

import (
	"runtime"
	"sort"
	"syscall"
	"time"

	"weft/bench/common/gobench"
)

func main() {
	rec := gobench.New(300, 1, 1, 1, "read")
	runtime.GOMAXPROCS(rec.Workers)
	var ends [2]int
	if syscall.Pipe(ends[:]) != nil {
		panic("pipe")
	}
	start := time.Now()
	var others, back []float64
	for i := 0; i < rec.N; i++ {
		var takenOver int64
		done := make(chan struct{})
		go func() {
			takenOver = int64(time.Since(start))
			syscall.Write(ends[1], []byte{1})
			close(done)
		}()
		var got [1]byte
		begin := int64(time.Since(start))
		syscall.Read(ends[0], got[:])
		end := int64(time.Since(start))
		<-done
		others = append(others, float64(takenOver-begin)/1000)
		back = append(back, float64(end-takenOver)/1000)
		for int64(time.Since(start)) < end+2000000 {
		}
	}
	for _, value := range others {
		rec.AddSample(value)
	}
	sort.Float64s(others)
	sort.Float64s(back)
	rec.Unit = "us"
	rec.AddOps(len(others))
	rec.Extra("p50", others[(len(others)-1)/2])
	rec.Extra("p99", others[(len(others)-1)*99/100])
	rec.Extra("back", back[(len(back)-1)/2])
	rec.Finish()
}
