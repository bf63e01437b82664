package body_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"gamehoster/games/body"
	"gamehoster/games/body/internal/libm"
	"gamehoster/games/body/internal/strip"
	"gamehoster/games/schema"
)

// The twin runs bodies as plain JavaScript in Node (testdata/twin). What the
// compiler makes of them must leave the same state, bit for bit, after every tick.
// A node is one process that runs many games, one at a time.
type node struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	problems *bytes.Buffer
	maths    bool // it has the maths library
}

// nodes are the processes that wait for work.
var nodes struct {
	sync.Mutex
	idle []*node
}

func startNode() (*node, error) {
	n := &node{cmd: exec.Command("node", "--experimental-vm-modules", "--no-warnings", "testdata/twin/main.mjs"), problems: &bytes.Buffer{}}
	n.cmd.Stderr = n.problems
	in, err := n.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := n.cmd.Start(); err != nil {
		return nil, fmt.Errorf("node is needed for this test: %w", err)
	}
	n.in, n.out = in, bufio.NewReaderSize(out, 1<<16)
	return n, nil
}

// patience is how long a game may take in Node before it counts as endless,
// on a machine that has other things to do as well.
const patience = 5 * time.Minute

func (n *node) run(job *twinJob) (*twinReply, error) {
	job.Math = ""
	if !n.maths {
		job.Math, n.maths = libm.Script(), true
	}
	line, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	late := time.AfterFunc(patience, func() { n.cmd.Process.Kill() })
	defer late.Stop()
	if _, err := n.in.Write(append(line, '\n')); err != nil {
		return nil, fmt.Errorf("%w: %s", err, n.problems)
	}
	answer, err := n.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("node gave no answer in %v: %w: %s", patience, err, n.problems)
	}
	var reply twinReply
	if err := json.Unmarshal(answer, &reply); err != nil {
		return nil, err
	}
	return &reply, nil
}

// runTwin runs a job in a process that is free.
func runTwin(job *twinJob) (*twinReply, error) {
	nodes.Lock()
	var n *node
	if last := len(nodes.idle) - 1; last >= 0 {
		n, nodes.idle = nodes.idle[last], nodes.idle[:last]
	}
	nodes.Unlock()
	if n == nil {
		var err error
		if n, err = startNode(); err != nil {
			return nil, err
		}
	}
	reply, err := n.run(job)
	if err != nil {
		n.cmd.Process.Kill()
		n.cmd.Wait()
		return nil, err
	}
	nodes.Lock()
	nodes.idle = append(nodes.idle, n)
	nodes.Unlock()
	if reply.Error != "" {
		return nil, errors.New(reply.Error)
	}
	return reply, nil
}

type twinReply struct {
	Lines  []string `json:"lines"` // one for each state from 0 on
	Logged []string `json:"logged"`
	Faults int      `json:"faults"`
	Error  string   `json:"error"`
}

type twinField struct {
	Name    string  `json:"name"`
	Kind    string  `json:"kind"`
	Len     int     `json:"len"`
	Ref     int     `json:"ref"`
	Default float64 `json:"default"`
	Text    string  `json:"text"`
	Sync    string  `json:"sync"`
}

type twinType struct {
	Index  int         `json:"index"`
	Name   string      `json:"name"`
	Plural string      `json:"plural"`
	Max    int         `json:"max"`
	Owned  bool        `json:"owned"`
	Fields []twinField `json:"fields"`
}

type twinDef struct {
	Types    []twinType `json:"types"`
	Commands []twinType `json:"commands"`
	TickRate int        `json:"tickRate"`
}

type twinBody struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Server bool   `json:"server"`
}

// twinModule is a module and where its state lies, for Node to run as well.
type twinModule struct {
	Module []byte `json:"module"`
	Layout any    `json:"layout"`
}

type twinJob struct {
	Math       string            `json:"math"`
	Def        twinDef           `json:"def"`
	Seed       string            `json:"seed"`
	ServerSeed string            `json:"serverSeed"`
	Bodies     []twinBody        `json:"bodies"`
	Files      map[string]string `json:"files"`
	Ticks      int               `json:"ticks"`
	Inputs     map[int]any       `json:"inputs"`
	Dump       int               `json:"dump"` // the first state to be given whole
	Server     *twinModule       `json:"server,omitempty"`
	Client     *twinModule       `json:"client,omitempty"`
}

func twinFields(fields []*schema.Field) (list []twinField) {
	list = []twinField{}
	for _, f := range fields {
		list = append(list, twinField{f.Name, f.Kind.String(), f.Len, f.Ref, f.Default, f.Text, f.Sync.String()})
	}
	return list
}

// newTwinJob is a job without modules and inputs.
func newTwinJob(def *schema.Definition, p *body.Program, files map[string]string, o worldOptions) *twinJob {
	j := &twinJob{Files: map[string]string{}, Seed: fmt.Sprint(o.seed), ServerSeed: fmt.Sprint(o.serverSeed), Bodies: []twinBody{}, Inputs: map[int]any{}, Dump: math.MaxInt32}
	j.Def.TickRate = def.TickRate
	for _, t := range def.Types {
		j.Def.Types = append(j.Def.Types, twinType{t.Index, t.Name, t.Plural, t.Max, t.Owned, twinFields(t.Fields)})
	}
	for _, c := range def.Commands {
		j.Def.Commands = append(j.Def.Commands, twinType{Index: c.Index, Name: c.Name, Fields: twinFields(c.Fields)})
	}
	for path, text := range files {
		if strings.HasSuffix(path, ".ts") { // which the oldest Node that we test with does not take
			code, _, problem := strip.TypeScript(text)
			if problem != nil {
				panic(problem.Message) // it was compiled
			}
			text = code
		}
		j.Files[plain(path)] = text
	}
	for _, b := range p.Bodies {
		j.Bodies = append(j.Bodies, twinBody{b.Name, plain(b.File), b.Side == schema.OnServer})
	}
	return j
}

// modules adds the compiled modules, for Node to compare as well.
func (j *twinJob) modules(p *body.Program) {
	module := func(code []byte, l *schema.Layout) *twinModule {
		types := []any{}
		for _, t := range l.Types {
			types = append(types, map[string]any{"counts": t.Counts, "rows": t.Rows, "stride": t.Stride, "offsets": t.Offsets})
		}
		return &twinModule{code, map[string]any{"size": l.Size, "types": types}}
	}
	j.Server, j.Client = module(p.Server, p.ServerLayout), module(p.Client, p.ClientLayout)
}

// input files what happens before a tick. raw is that as a module takes it.
func (j *twinJob) input(tick int, in input, raw []byte) {
	if len(in.leaves)+len(in.joins)+len(in.commands) == 0 {
		return
	}
	joins, commands := []any{}, []any{}
	for _, j := range in.joins {
		joins = append(joins, map[string]any{"id": j.id, "name": j.name})
	}
	for _, c := range in.commands {
		commands = append(commands, map[string]any{"player": c.player, "seq": c.seq, "number": c.number, "values": c.values, "texts": c.texts})
	}
	entry := map[string]any{"leaves": in.leaves, "joins": joins, "commands": commands}
	if len(raw) > 0 {
		entry["raw"] = []any{len(in.leaves), len(joins), len(commands), base64.StdEncoding.EncodeToString(raw[schema.InputHeader:])}
	}
	j.Inputs[tick] = entry
}

// line is the twin's line for the state of a world.
func (w *world) line(dump bool) string {
	h := uint32(2166136261)
	var b strings.Builder
	put := func(v float64) {
		if dump {
			fmt.Fprintf(&b, " %v", v)
		}
		bits := math.Float64bits(v)
		if v != v {
			bits = 0x7ff8000000000000
		}
		h = (h ^ uint32(bits)) * 16777619
		h = (h ^ uint32(bits>>32)) * 16777619
	}
	for _, off := range []int{schema.HeaderTick, schema.HeaderFlags, schema.HeaderNextShared, schema.HeaderNextServer} {
		put(float64(w.get32(off)))
	}
	for _, ty := range w.def.Types {
		if dump {
			b.WriteString(" | " + ty.Name)
		}
		l := w.layout.Types[ty.Index]
		for _, row := range w.rows(ty.Index) {
			if dump {
				b.WriteString(" /")
			}
			put(float64(le.Uint32(row[schema.RowID:])))
			owner := 0.0
			if ty.Owned {
				owner = float64(le.Uint32(row[schema.RowOwner:]))
			}
			put(owner)
			for _, f := range ty.Fields {
				p := row[l.Offsets[f.Index]:]
				if f.Kind != schema.Str {
					put(w.readField(f, p))
					continue
				}
				put(float64(p[0]))
				for _, c := range p[1 : 1+p[0]] {
					put(float64(c))
				}
			}
		}
	}
	return fmt.Sprint(h) + b.String()
}

func texts(files []body.Source) map[string]string {
	list := map[string]string{}
	for _, f := range files {
		list[f.Path] = string(f.Text)
	}
	return list
}

// plain is the JavaScript file that a TypeScript one is made into.
func plain(path string) string {
	if stem, ok := strings.CutSuffix(path, ".ts"); ok {
		return stem + ".js"
	}
	return path
}

// twinLogged is what the bodies of a game log in Node.
func twinLogged(t testing.TB, def *schema.Definition, p *body.Program, files []body.Source, o worldOptions, ticks int, drive func(tick int) input) []string {
	t.Helper()
	job := newTwinJob(def, p, texts(files), o)
	job.Ticks = ticks
	for i := 1; i <= ticks; i++ {
		job.input(i, drive(i), nil)
	}
	reply, err := runTwin(job)
	if err != nil {
		t.Fatal(err)
	}
	return reply.Logged
}

// compareTwin runs a game both ways and compares every state.
func compareTwin(t *testing.T, def *schema.Definition, files []body.Source, ticks int, drive func(tick int) input) {
	t.Helper()
	p, list := body.Compile(def, files, body.Options{})
	if p == nil {
		t.Fatalf("compile:\n%s", list.Error())
	}
	o := worldOptions{seed: 0x123456789abcdef, serverSeed: 42}
	w := newWorld(t, def, p, o)
	job := newTwinJob(def, p, texts(files), o)
	job.Ticks = ticks
	for i := 1; i <= ticks; i++ {
		in := drive(i)
		job.input(i, in, w.encode(in))
	}
	job.modules(p)
	reply, err := runTwin(job)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i <= ticks; i++ {
		if i > 0 {
			w.must(drive(i))
		}
		if got := w.line(false); got != reply.Lines[i] {
			job.Dump, job.Ticks = i, i
			dump, err := runTwin(job)
			if err != nil {
				t.Fatal(err)
			}
			t.Fatalf("state %d differs\nwasm %s\nnode %s", i, w.line(true), dump.Lines[i])
		}
	}
}

func idle(int) input { return input{} }
