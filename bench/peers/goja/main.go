// Steps games on goja, an interpreter of JavaScript in Go, for bench/bodies: one
// line of JSON in, one out, as node.mjs has it. Arguments: the file of the world
// (objects.js) and the file of the job. It is a module of its own so that the
// project does not depend on what it is only measured against.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/dop251/goja"
)

type order struct {
	Do     string `json:"do"`
	States string `json:"states"`
	N      int    `json:"n"`
	From   int    `json:"from"`
	Ticks  int    `json:"ticks"`
}

type world struct {
	vm     *goja.Runtime
	call   map[string]goja.Callable
	size   int
	memory uint64
}

func newWorld(objects, job string) (*world, error) {
	source, err := os.ReadFile(objects)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(job)
	if err != nil {
		return nil, err
	}
	w := &world{vm: goja.New(), call: map[string]goja.Callable{}}
	made, err := w.vm.RunScript(objects, string(source))
	if err != nil {
		return nil, err
	}
	parse, _ := goja.AssertFunction(w.vm.Get("JSON").ToObject(w.vm).Get("parse"))
	about, err := parse(goja.Undefined(), w.vm.ToValue(string(text)))
	if err != nil {
		return nil, err
	}
	w.size = int(about.ToObject(w.vm).Get("size").ToInteger())
	makeGame, _ := goja.AssertFunction(made)
	game, err := makeGame(goja.Undefined(), about, w.vm.ToValue("plain"), goja.Null())
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"load", "run", "dump"} {
		w.call[name], _ = goja.AssertFunction(game.ToObject(w.vm).Get(name))
	}
	return w, nil
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

func cpu() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func (w *world) load(states []byte, n, from int) error {
	_, err := w.call["load"](goja.Undefined(), w.vm.ToValue(w.vm.NewArrayBuffer(states)), w.vm.ToValue(n), w.vm.ToValue(from))
	return err
}

// loadFile replaces the games, the file's bytes not being kept.
func (w *world) loadFile(o order) error {
	if err := w.load(nil, 0, 0); err != nil {
		return err
	}
	before := heap()
	states, err := os.ReadFile(o.States)
	if err == nil {
		err = w.load(states, o.N, o.From)
	}
	w.memory = heap() - before
	return err
}

func (w *world) do(o order) (map[string]any, error) {
	switch o.Do {
	case "load":
		return nil, w.loadFile(o)
	case "run":
		start := cpu()
		before := mallocs()
		_, err := w.call["run"](goja.Undefined(), w.vm.ToValue(o.Ticks))
		return map[string]any{"ns": cpu() - start, "mallocs": mallocs() - before}, err
	case "dump":
		b := make([]byte, o.N*w.size)
		if _, err := w.call["dump"](goja.Undefined(), w.vm.ToValue(w.vm.NewArrayBuffer(b))); err != nil {
			return nil, err
		}
		return nil, os.WriteFile(o.States, b, 0o600)
	case "memory":
		return map[string]any{"bytes": w.memory}, nil
	}
	return nil, fmt.Errorf("no order %q", o.Do)
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/dop251/goja" {
				return d.Version
			}
		}
	}
	return "unknown"
}

func run(objects, job string) error {
	w, err := newWorld(objects, job)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(map[string]any{"version": version()}); err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var o order
		if err := json.Unmarshal(in.Bytes(), &o); err != nil {
			return err
		}
		a, err := w.do(o)
		if err == nil && a == nil {
			a = map[string]any{}
		}
		if err == nil {
			err = out.Encode(a)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o.Do, err)
		}
	}
	return in.Err()
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: goja OBJECTS JOB")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
