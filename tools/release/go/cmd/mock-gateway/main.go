// Command mock-gateway runs the program that the module contains: go run MODULE/cmd/mock-gateway serve
package main

import (
	"fmt"
	"os"
	"syscall"

	mockgateway "@MODULE@"
)

func main() {
	program, err := mockgateway.Program()
	if err == nil && program == "" {
		err = fmt.Errorf("there is no program for this platform")
	}
	if err == nil {
		err = syscall.Exec(program, append([]string{"mock-gateway"}, os.Args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, "mock-gateway:", err)
	os.Exit(2)
}
