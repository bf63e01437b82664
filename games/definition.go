package games

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gamehoster/games/diag"
	"gamehoster/games/internal/posjson"
	"gamehoster/games/origin"
	"gamehoster/games/schema"
)

// DefinitionFile is the name of the file that makes a folder a game.
const DefinitionFile = "gamehoster-game.json"

// What a definition may ask for at most. A type's number and a field's index fit
// a byte wherever they are stored, and a command fits one client frame.
const (
	maxEntityTypes  = 62
	maxFields       = 256
	maxCommands     = 256
	maxObjects      = 1 << 16 // of one entity type in one instance
	maxOrigins      = origin.MaxRules
	maxCommandBytes = 4096     // the bound of a client frame
	maxClientBlock  = 64 << 20 // bytes of one instance in a browser, which keeps a few copies
	maxFindings     = 200      // that one file can make us say
	// maxShardBytes is the memory of one worker's instances: what wasm can address,
	// 2 GiB here, less 16 MiB for constant data and a tick's input.
	maxShardBytes = 2<<30 - 16<<20
)

// ParseDefinition reads and checks a gamehoster-game.json. name is the game's. The
// definition is nil when the list holds an error; every error is found in one
// run, unless the text is no JSON. A text over 1 MiB is an error.
func ParseDefinition(name string, text []byte) (*schema.Definition, diag.List) {
	if len(text) > MaxFileBytes {
		return nil, diag.List{{Pos: diag.Position{File: DefinitionFile}, Message: "the file is larger than 1 MiB"}}
	}
	c := &checker{src: diag.NewSource(DefinitionFile, text), entities: map[string]int{}}
	root, syntax := posjson.Parse(text)
	for _, e := range syntax {
		c.errorf(e.Offset, "%s", e.Message)
	}
	if root != nil {
		c.definition(name, root)
	}
	c.list.Sort()
	if len(c.list) > maxFindings {
		more := len(c.list) - maxFindings
		c.list = append(c.list[:maxFindings:maxFindings], diag.Diagnostic{
			Pos: diag.Position{File: DefinitionFile}, Message: fmt.Sprintf("and %d more errors", more)})
	}
	if c.list.Failed() {
		return nil, c.list
	}
	return c.def, c.list
}

// checker turns the JSON tree into a definition and collects what is wrong.
type checker struct {
	src      *diag.Source
	list     diag.List
	def      *schema.Definition
	entities map[string]int // type numbers by name
}

func (c *checker) errorf(offset int, format string, args ...any) {
	c.list = append(c.list, c.src.Diagnostic(diag.Error, offset, fmt.Sprintf(format, args...)))
}

// object checks that v, if it is there, is an object with no other keys than the
// known ones, and returns it; nil where it is neither.
func (c *checker) object(v *posjson.Value, what string, known ...string) *posjson.Value {
	if v = c.kind(v, posjson.Object, what); v != nil {
		c.members(v, what, known, nil)
	}
	return v
}

// members checks that an object has no other keys than the known ones. Those of passed
// are passed over.
func (c *checker) members(v *posjson.Value, what string, known, passed []string) {
	for _, m := range v.Members {
		if slices.Contains(known, m.Key) || slices.Contains(passed, m.Key) {
			continue
		}
		way := didYouMean(m.Key, known)
		if way == "" {
			way = "; its keys: " + strings.Join(known, ", ")
		}
		c.errorf(m.Offset, "%s has no key %q%s", what, m.Key, way)
	}
}

// kind returns v if it is of the kind, and complains if it is of another.
func (c *checker) kind(v *posjson.Value, k posjson.Kind, what string) *posjson.Value {
	if v == nil {
		return nil
	}
	if v.Kind != k {
		c.errorf(v.Offset, "%s must be %s, not %s", what, k, v.Kind)
		return nil
	}
	return v
}

// number reads a number from lo to hi; otherwise is the value of an absent key,
// and of a wrong one, so that the check can go on.
func (c *checker) number(v *posjson.Value, what string, otherwise, lo, hi float64, whole bool) float64 {
	if v == nil {
		return otherwise
	}
	a := "a number"
	if whole {
		a = "a whole number"
	}
	switch {
	case v.Kind != posjson.Number:
		c.errorf(v.Offset, "%s must be %s from %s to %s, not %s", what, a, plain(lo), plain(hi), v.Kind)
	case v.Number < lo || v.Number > hi || whole && v.Number != math.Trunc(v.Number):
		c.errorf(v.Offset, "%s must be %s from %s to %s, not %.40s", what, a, plain(lo), plain(hi), v.Text)
	default:
		return v.Number
	}
	return otherwise
}

func (c *checker) integer(v *posjson.Value, what string, otherwise, lo, hi int) int {
	return int(c.number(v, what, float64(otherwise), float64(lo), float64(hi), true))
}

func (c *checker) definition(name string, root *posjson.Value) {
	root = c.object(root, "the definition", "$schema", "tickRate", "sendRate", "timelineDepth", "origins",
		"playersPerInstance", "shardInstances", "shardPlayers", "resumeSeconds", "keyframeSeconds", "bytesPerSend",
		"instance", "player", "entities", "commands")
	if root == nil {
		return
	}
	d := &schema.Definition{Name: name}
	c.def = d
	c.kind(root.Get("$schema"), posjson.String, "$schema")
	c.rates(root)
	d.TimelineDepth = c.integer(root.Get("timelineDepth"), "timelineDepth", 32, 0, 256)
	d.PlayersPerInstance = c.integer(root.Get("playersPerInstance"), "playersPerInstance", 8, 1, 256)
	d.ResumeSeconds = c.number(root.Get("resumeSeconds"), "resumeSeconds", 10, 0, 3600, false)
	d.KeyframeSeconds = c.number(root.Get("keyframeSeconds"), "keyframeSeconds", 1, 0.1, 60, false)
	d.BytesPerSend = c.integer(root.Get("bytesPerSend"), "bytesPerSend", 1200, 64, 1<<20)
	c.origins(root.Get("origins"))
	c.types(root)
	c.commands(root)
	c.capacity(root)
}

func (c *checker) rates(root *posjson.Value) {
	d := c.def
	tick, send := root.Get("tickRate"), root.Get("sendRate")
	before := len(c.list)
	d.TickRate = c.integer(tick, "tickRate", 30, 1, 128)
	d.SendRate = c.integer(send, "sendRate", 15, 1, 128)
	if len(c.list) > before || d.TickRate%d.SendRate == 0 {
		return
	}
	var fit []string
	for r := 1; r <= d.TickRate; r++ {
		if d.TickRate%r == 0 {
			fit = append(fit, plain(float64(r)))
		}
	}
	at, given := send, ""
	if send == nil {
		at, given = tick, " (the default)"
	}
	c.errorf(at.Offset, "sendRate %d%s does not divide tickRate %d; possible are %s", d.SendRate, given, d.TickRate, strings.Join(fit, ", "))
}

func (c *checker) origins(v *posjson.Value) {
	if v == nil {
		return
	}
	items := []*posjson.Value{v}
	if v.Kind == posjson.Array {
		items = v.Items
		if len(items) == 0 {
			c.errorf(v.Offset, "origins is an empty list, which no page could match; leave the key out to allow any")
		}
		if len(items) > maxOrigins {
			c.errorf(v.Offset, "origins has %d entries, more than %d", len(items), maxOrigins)
			return
		}
	} else if v.Kind != posjson.String {
		c.errorf(v.Offset, "origins must be a string or a list of strings, not %s", v.Kind)
		return
	}
	for _, item := range items {
		if item = c.kind(item, posjson.String, "an origin"); item == nil {
			continue
		}
		if _, err := origin.Parse([]string{item.Text}); err != nil {
			c.errorf(item.Offset, "%v", err)
			continue
		}
		c.def.Origins = append(c.def.Origins, item.Text)
	}
}

func (c *checker) types(root *posjson.Value) {
	d := c.def
	entities := c.kind(root.Get("entities"), posjson.Object, "entities")
	// Names first: a ref may name a type that is declared after it.
	if entities != nil {
		for i, m := range entities.Members {
			c.entities[m.Key] = i + 2
		}
		if n := len(entities.Members); n > maxEntityTypes {
			c.errorf(entities.Members[maxEntityTypes].Offset, "there are %d entity types, more than %d", n, maxEntityTypes)
		}
	}
	instance := c.object(root.Get("instance"), "instance", "fields")
	player := c.object(root.Get("player"), "player", "fields", "view")
	d.Types = []*schema.Type{
		{Index: schema.InstanceType, Name: "instance", Max: 1},
		{Index: schema.PlayerType, Name: "player", Plural: "players", Max: d.PlayersPerInstance},
	}
	d.Types[0].Fields = c.fields(instance.Get("fields"), d.Types[0])
	d.Types[1].Fields = append(c.fields(player.Get("fields"), d.Types[1]), &schema.Field{
		Name: schema.PlayerName, Kind: schema.Str, Len: schema.MaxPlayerName, Min: math.Inf(-1), Max: math.Inf(1)})
	if entities != nil {
		for _, m := range entities.Members {
			c.entity(m)
		}
	}
	for _, t := range d.Types {
		for i, f := range t.Fields {
			f.Index = i
		}
	}
	c.collections(entities, instance)
	c.view(player, d.Types[1])
	if entities != nil {
		for i, m := range entities.Members {
			c.view(m.Value, d.Types[i+2])
		}
	}
}

func (c *checker) entity(m posjson.Member) {
	t := &schema.Type{Index: len(c.def.Types), Name: m.Key}
	c.def.Types = append(c.def.Types, t)
	switch bad := functionName(m.Key); {
	case bad != "":
		c.errorf(m.Offset, "the entity name %.70q %s", m.Key, bad)
	case notEntities[m.Key] || bodyGlobals[m.Key]:
		c.errorf(m.Offset, "%q means something else in bodies or as a file's name; the entity needs another name", m.Key)
	}
	what := "entity " + short(m.Key)
	v := c.object(m.Value, what, "max", "owned", "plural", "view", "fields")
	if v == nil {
		return
	}
	t.Plural = m.Key + "s"
	if p := c.kind(v.Get("plural"), posjson.String, what+"'s plural"); p != nil {
		t.Plural = p.Text
		if bad := identifier(p.Text); bad != "" {
			c.errorf(p.Offset, "the plural %.70q %s", p.Text, bad)
		}
	}
	if o := c.kind(v.Get("owned"), posjson.Bool, what+"'s owned"); o != nil {
		t.Owned = o.Bool
	}
	if limit := v.Get("max"); limit != nil {
		t.Max = c.integer(limit, what+"'s max", 1, 1, maxObjects)
	} else {
		t.Max = 1
		c.errorf(m.Offset, "%s has no max, the most of it that one instance may hold", what)
	}
	t.Fields = c.fields(v.Get("fields"), t)
}

// collections checks that each name that `game` gets from the definition means
// one thing.
func (c *checker) collections(entities, instance *posjson.Value) {
	taken := map[string]string{"id": "what every object has"}
	for w := range maps.Keys(instanceMembers) {
		taken[w] = "what every game has"
	}
	for i, t := range c.def.Entities() {
		if t.Plural == "" {
			continue
		}
		m := entities.Members[i]
		at, way := m.Offset, `; give the entity a "plural"`
		if p := m.Value.Get("plural"); p != nil {
			at, way = p.Offset, "; give it another plural"
		}
		if of, ok := taken[t.Plural]; ok {
			if notEntities[t.Name] || bodyGlobals[t.Name] {
				continue // its name is refused, and its collection's with it
			}
			c.errorf(at, "game.%s, the collection of %s, is %s already%s", t.Plural, short(t.Name), of, way)
			continue
		}
		taken[t.Plural] = "the collection of " + short(t.Name)
		// A front end finds a collection under either name.
		if other, ok := c.entities[t.Plural]; ok && other != t.Index {
			c.errorf(at, "the plural of %s is the name of another entity%s", short(t.Name), way)
		}
	}
	if fields := instance.Get("fields"); fields != nil {
		for _, m := range fields.Members {
			if of, ok := taken[m.Key]; ok && !instanceMembers[m.Key] && m.Key != "id" {
				c.errorf(m.Offset, "the instance field %q has the name of %s", m.Key, of)
			}
		}
	}
}

// view reads a type's hint for the spatial prefilter. It compares an object's
// place with the viewer's, so the player needs fields of the same names.
func (c *checker) view(of *posjson.Value, t *schema.Type) {
	what := t.Name + "'s view"
	v := c.object(of.Get("view"), what, "radius", "x", "y")
	if v == nil {
		return
	}
	hint := &schema.ViewHint{}
	for _, key := range []string{"radius", "x", "y"} {
		if v.Get(key) == nil {
			c.errorf(v.Offset, "%s needs radius, x and y; %s is missing", what, key)
		}
	}
	hint.Radius = c.number(v.Get("radius"), what+" radius", 1, 0, 1e9, false)
	place := func(key string) string {
		name := c.kind(v.Get(key), posjson.String, what+" "+key)
		if name == nil {
			return ""
		}
		for _, has := range []*schema.Type{t, c.def.Player()} {
			f := has.Field(name.Text)
			switch {
			case f == nil && has != t:
				c.errorf(name.Offset, "%s compares with the viewer's place, but the player has no field %q", what, short(name.Text))
			case f == nil:
				c.errorf(name.Offset, "%s has no field %q%s", t.Name, short(name.Text), didYouMean(name.Text, fieldNames(has)))
			case !f.Kind.Number():
				c.errorf(name.Offset, "%s needs numbers, but %s.%s is %s", what, has.Name, f.Name, f.Kind)
			default:
				continue
			}
			break
		}
		return name.Text
	}
	hint.X, hint.Y = place("x"), place("y")
	t.View = hint
}

func fieldNames(t *schema.Type) []string {
	var names []string
	for _, f := range t.Fields {
		names = append(names, f.Name)
	}
	return names
}

func (c *checker) commands(root *posjson.Value) {
	commands := c.kind(root.Get("commands"), posjson.Object, "commands")
	if commands == nil {
		return
	}
	if n := len(commands.Members); n > maxCommands {
		c.errorf(commands.Members[maxCommands].Offset, "there are %d commands, more than %d", n, maxCommands)
		return
	}
	for i, m := range commands.Members {
		command := &schema.Command{Index: i, Name: m.Key}
		c.def.Commands = append(c.def.Commands, command)
		switch bad := functionName(m.Key); {
		case bad != "":
			c.errorf(m.Offset, "the command name %.70q %s", m.Key, bad)
		case bodyGlobals[m.Key]:
			c.errorf(m.Offset, "%q means something else in bodies; the command needs another name", m.Key)
		}
		what := "command " + short(m.Key)
		v := c.object(m.Value, what, "fields", "maxPerSecond")
		if v == nil {
			continue
		}
		command.MaxPerSecond = c.integer(v.Get("maxPerSecond"), what+"'s maxPerSecond", 0, 1, 10000)
		command.Fields = c.fields(v.Get("fields"), nil)
		size := 1 + 4 + 5 + 2 // tag, tick, seq, command number
		for j, f := range command.Fields {
			f.Index = j
			size += f.Size() + 1
		}
		if size > maxCommandBytes {
			c.errorf(m.Offset, "%s can take %d bytes, more than the %d of a client's message", what, size, maxCommandBytes)
		}
	}
}

// capacity reads the knob of a worker's size and checks that so many instances
// fit its memory.
func (c *checker) capacity(root *posjson.Value) {
	d := c.def
	instances, players := root.Get("shardInstances"), root.Get("shardPlayers")
	at := instances
	switch {
	case instances != nil && players != nil:
		c.errorf(players.Offset, "shardInstances and shardPlayers both give the capacity of a worker; keep one")
		return
	case players != nil:
		at = players
		d.PlayersPerShard = c.integer(players, "shardPlayers", d.PlayersPerInstance, d.PlayersPerInstance, 1000000)
	default:
		d.InstancesPerShard = c.integer(instances, "shardInstances", 500, 1, 100000)
	}
	if c.list.Failed() {
		return // the layout of a wrong definition means nothing
	}
	server, client := schema.NewLayout(d, schema.OnServer), schema.NewLayout(d, schema.OnClient)
	offset := root.Offset
	if at != nil {
		offset = at.Offset
	}
	if client.Size > maxClientBlock {
		c.errorf(root.Offset, "one instance takes %d bytes in a browser, more than %d; lower the max of an entity or the size of its fields",
			client.Size, maxClientBlock)
	}
	if n := d.ShardInstances(); server.Size > maxShardBytes/n {
		c.errorf(offset, "%d instances of %d bytes are more than the 2 GiB of a worker; at most %d fit", n, server.Size, maxShardBytes/server.Size)
	}
}

// short cuts a name that an author chose to a length that a message can show.
func short(name string) string {
	if len(name) > maxName {
		return strings.ToValidUTF8(name[:maxName], "") + "..."
	}
	return name
}
