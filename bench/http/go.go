// SPDX-License-Identifier: MIT

// The plaintext route on net/http. GOMAXPROCS is the number of workers.
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
)

var body = []byte("Hello, World!")

func plaintext(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Server"] = []string{"nginx"} // the same bytes as the others
	h["Content-Type"] = []string{"text/plain"}
	h["Connection"] = []string{"keep-alive"}
	w.Write(body)
}

func main() {
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/plaintext", plaintext)
	mux.Handle("/", http.FileServer(http.Dir(os.Args[1])))
	fmt.Printf("port %d\n", listening.Addr().(*net.TCPAddr).Port)
	err = http.Serve(listening, mux)
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
