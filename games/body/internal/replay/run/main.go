// Command run replays recordings and prints the sums of each on a line. The tests
// build it for machines that they are not run on themselves.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/tetratelabs/wazero"

	"gamehoster/games/body/internal/replay"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(files []string) int {
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		r, err := replay.Parse(text)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			return 1
		}
		sums, err := replay.Run(r, wazero.NewRuntimeConfigCompiler())
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			return 1
		}
		fmt.Println(strings.Join(sums, " "))
	}
	return 0
}
