package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gamehoster/games"
	"gamehoster/games/schema"
)

// job is what a peer needs to run a game: its schema with the places of fields in
// a block, and the bodies as one script, since not every engine has modules.
type job struct {
	Size     int          `json:"size"`
	TickRate int          `json:"tickRate"`
	Types    []jobType    `json:"types"`
	Commands []jobCommand `json:"commands"`
	Bodies   []jobBody    `json:"bodies"`
	Bundle   string       `json:"bundle"`
	Math     string       `json:"math"`
}

type jobType struct {
	Index  int        `json:"index"`
	Name   string     `json:"name"`
	Plural string     `json:"plural"`
	Max    int        `json:"max"`
	Owned  bool       `json:"owned"`
	Counts int        `json:"counts"`
	Rows   int        `json:"rows"`
	Stride int        `json:"stride"`
	Fields []jobField `json:"fields"`
}

type jobField struct {
	Name    string  `json:"name"`
	Kind    string  `json:"kind"`
	Offset  int     `json:"offset"`
	Default float64 `json:"default"`
	Text    string  `json:"text"`
}

type jobCommand struct {
	Name string `json:"name"`
}

type jobBody struct {
	Name string `json:"name"`
}

// mathFiles are the maths library that the compiler links, from the module's root.
const mathFiles = "games/body/internal/libm/js/*.js"

// library is the maths library as the text of a function that gives its functions.
func library(root string) (string, error) {
	files, err := filepath.Glob(filepath.Join(root, mathFiles))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no %s", mathFiles)
	}
	var all strings.Builder
	var names []string
	for _, f := range files {
		source, failed := os.ReadFile(f)
		if failed != nil {
			err = failed
			break
		}
		text, exports := script(importAny.ReplaceAllString(string(source), ""))
		all.WriteString(text)
		names = append(names, exports...)
	}
	if err != nil {
		return "", fmt.Errorf("reading the maths library: %w", err)
	}
	return all.String() + returned(names), nil
}

// newJob describes a game to the peers. root is the module's folder.
func newJob(root string, g *games.Game) (*job, error) {
	maths, err := library(root)
	if err != nil {
		return nil, err
	}
	l := g.Program.ServerLayout
	j := &job{Size: l.Size, TickRate: g.Def.TickRate, Math: maths}
	for i, t := range g.Def.Types {
		tl := l.Types[i]
		jt := jobType{Index: i, Name: t.Name, Plural: t.Plural, Max: t.Max, Owned: t.Owned, Counts: tl.Counts, Rows: tl.Rows, Stride: tl.Stride}
		for k, f := range t.Fields {
			if f.Kind == schema.Ref {
				return nil, fmt.Errorf("peers know no references, such as %s of %s", f.Name, t.Name)
			}
			jt.Fields = append(jt.Fields, jobField{f.Name, f.Kind.String(), tl.Offsets[k], f.Default, f.Text})
		}
		j.Types = append(j.Types, jt)
	}
	for _, c := range g.Def.Commands {
		j.Commands = append(j.Commands, jobCommand{c.Name})
	}
	for _, b := range g.Program.Bodies {
		j.Bodies = append(j.Bodies, jobBody{b.Name})
	}
	j.Bundle, err = bundle(g)
	return j, err
}

func (j *job) write(path string) error {
	text, err := json.Marshal(j)
	if err != nil {
		return fmt.Errorf("describing the game to peers: %w", err)
	}
	return os.WriteFile(path, text, 0o600)
}

var (
	importLine = regexp.MustCompile(`(?m)^import \{([^}]*)\} from "\./([^"]+)";$`)
	importAny  = regexp.MustCompile(`(?m)^import .*$`)
	exportWord = regexp.MustCompile(`(?m)^export (function|const) (\w+)`)
)

// script takes the exports off a module's text and gives their names.
func script(text string) (string, []string) {
	var names []string
	for _, m := range exportWord.FindAllStringSubmatch(text, -1) {
		names = append(names, m[2])
	}
	return exportWord.ReplaceAllString(text, "$1 $2"), names
}

func returned(names []string) string { return "\nreturn { " + strings.Join(names, ", ") + " };\n" }

// bundle is the text of a function of (random, Math) that gives the bodies: each
// module a function that is run once, after those it imports.
func bundle(g *games.Game) (string, error) {
	var out strings.Builder
	out.WriteString("\"use strict\";\nlet game;\n")
	numbers := map[string]int{}
	var add func(file string) error
	add = func(file string) error {
		if _, done := numbers[file]; done {
			return nil
		}
		source, ok := g.Source(file)
		if !ok {
			return fmt.Errorf("bundling the bodies: there is no %s", file)
		}
		text := string(source)
		for _, m := range importLine.FindAllStringSubmatch(text, -1) {
			if err := add(m[2]); err != nil {
				return err
			}
		}
		numbers[file] = len(numbers)
		text = importLine.ReplaceAllStringFunc(text, func(line string) string {
			m := importLine.FindStringSubmatch(line)
			return fmt.Sprintf("const {%s} = m%d;", m[1], numbers[m[2]])
		})
		text, names := script(text)
		fmt.Fprintf(&out, "const m%d = (() => {\n%s%s})();\n", numbers[file], text, returned(names))
		return nil
	}
	for _, b := range g.Program.Bodies {
		if err := add(b.File); err != nil {
			return "", err
		}
	}
	out.WriteString("return { enter(g) { game = g; }, bodies: {\n")
	for _, b := range g.Program.Bodies {
		fmt.Fprintf(&out, "%q: m%d.%s,\n", b.Name, numbers[b.File], b.Name[strings.LastIndexByte(b.Name, '.')+1:])
	}
	out.WriteString("} };\n")
	return out.String(), nil
}
