// SPDX-License-Identifier: MIT

// fib with goroutines, joined through a channel.
package main

import (
	"runtime"

	"weft/bench/common/gobench"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	child := make(chan int, 1)
	go func() { child <- fib(n - 1) }()
	b := fib(n - 2)
	return <-child + b
}

func answer(n int) int {
	a, b := 0, 1
	for i := 0; i < n; i++ {
		a, b = b, a+b
	}
	return a
}

func main() {
	rec := gobench.New(27, 1, 3, 1, "thread")
	runtime.GOMAXPROCS(rec.Workers)
	rec.Check(fib(12) == answer(12), "fib(small)")
	result := 0
	rec.TimeRounds(answer(rec.N+1)-1, func() { result = fib(rec.N) })
	rec.Check(result == answer(rec.N), "fib(n)")
	rec.Finish()
}
