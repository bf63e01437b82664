package games

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"gamehoster/games/schema"
)

// DefinitionHash is what server and client compare to know that they speak of
// the same game: the first 8 bytes, big-endian, of SHA-256 over the definition's
// canonical form, a zero byte and the client's wasm module. How the file is laid
// out, what only the server does (origins, budgets, rates of commands) and how
// values are drawn is no part of it.
func DefinitionHash(d *schema.Definition, client []byte) uint64 {
	h := sha256.New()
	h.Write([]byte(canonical(d)))
	h.Write([]byte{0})
	h.Write(client)
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// canonical writes, one a line, everything that decides layout or behaviour on
// both sides. Names hold no spaces, numbers stand as their bits.
func canonical(d *schema.Definition) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("gamehoster %d", schema.Protocol)
	line("rates %d %d timeline %d", d.TickRate, d.SendRate, d.TimelineDepth)
	for _, t := range d.Types {
		line("type %s plural %q max %d owned %t", t.Name, t.Plural, t.Max, t.Owned)
		for _, f := range t.Fields {
			line("  %s %s len %d ref %d %s audience %d default %016x %q%s",
				f.Name, f.Kind, f.Len, f.Ref, f.Sync, f.Audience, math.Float64bits(f.Default), f.Text, quantText(f.Quant))
		}
	}
	for _, c := range d.Commands {
		line("command %s", c.Name)
		for _, f := range c.Fields {
			line("  %s %s len %d ref %d min %016x max %016x", f.Name, f.Kind, f.Len, f.Ref, math.Float64bits(f.Min), math.Float64bits(f.Max))
		}
	}
	return b.String()
}

func quantText(q *schema.Quant) string {
	if q == nil {
		return ""
	}
	return fmt.Sprintf(" step %016x min %016x max %016x", math.Float64bits(q.Step), math.Float64bits(q.Min), math.Float64bits(q.Max))
}
