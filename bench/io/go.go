// SPDX-License-Identifier: MIT

// io with goroutines over net.Conn, whose poller is epoll.
package main

import (
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"

	"weft/bench/common/gobench"
)

const trips = 200

func conn(fd int) net.Conn {
	file := os.NewFile(uintptr(fd), "pair")
	made, err := net.FileConn(file)
	file.Close()
	if err != nil {
		panic(err)
	}
	return made
}

func pingPong(c net.Conn, begins bool) bool {
	b := []byte{'x'}
	for i := 0; i < trips; i++ {
		if begins {
			if n, err := c.Write(b); n != 1 || err != nil {
				return false
			}
		}
		if n, err := c.Read(b); n != 1 || err != nil {
			return false
		}
		if !begins {
			if n, err := c.Write(b); n != 1 || err != nil {
				return false
			}
		}
	}
	return true
}

func main() {
	rec := gobench.New(16, 5, 5, 1, "thread")
	runtime.GOMAXPROCS(rec.Workers)
	ends := make([]net.Conn, 2*rec.N)
	for i := 0; i < rec.N; i++ {
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			panic(err)
		}
		ends[2*i], ends[2*i+1] = conn(pair[0]), conn(pair[1])
	}
	round := func() {
		var done sync.WaitGroup
		right := make([]bool, len(ends))
		done.Add(len(ends))
		for i := range ends {
			go func(i int) {
				right[i] = pingPong(ends[i], i%2 == 0)
				done.Done()
			}(i)
		}
		done.Wait()
		for _, r := range right {
			rec.Check(r, "every pair made its trips")
		}
	}
	round()
	rec.TimeRounds(rec.N*trips, round)
	rec.Finish()
}
