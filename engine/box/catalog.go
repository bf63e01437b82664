package box

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"gamehoster/engine/web"
	"gamehoster/engine/worker"
	"gamehoster/games"
	"gamehoster/games/bundle"
	"gamehoster/games/diag"
	"gamehoster/tick/vm"
)

// Live is one definition of one game while players may play it. Its machine code is
// made before it is live, once for all loops: on a loop it would hold up the ticks of
// every game there. Whoever takes it from the loops closes the code.
type Live struct {
	worker.Game
	Place   games.Place
	Source  *games.Game
	Library *bundle.Library
	Table   *Table
}

// same reports whether two definitions differ in nothing that runs, is served or is
// told: a page's file was saved, or a comment below the rules. The hash alone does not
// tell; it is the clients', and a server body is none of their business. Rules that have
// moved are others, for a fault has to be shown where they are now.
func (l *Live) same(o *Live) bool {
	return l.Hash == o.Hash && bytes.Equal(l.Program.Server, o.Program.Server) &&
		slices.Equal(l.Program.Positions, o.Program.Positions) && bytes.Equal(l.Library.Script, o.Library.Script) && reflect.DeepEqual(l.Def, o.Def)
}

// gone is the fingerprint of a folder that is no game's any more.
const gone = "gone"

// Catalog is the games of a box, by where they live. Reading it takes no lock.
type Catalog struct {
	resolve func(host, segment string) (games.Place, bool)
	// hasDomain answers from memory.
	hasDomain func(host string) bool
	places    func() ([]games.Place, error)
	load      func(dir string) (*games.Game, diag.List)
	print     func(dirs ...string) (string, error) // fingerprint
	log       *slog.Logger

	live     atomic.Pointer[map[string]*Live] // by place
	mu       sync.Mutex                       // held while a game is built
	seen     map[string]string                // fingerprint of each folder as last built
	page     map[string]string                // and of its page's files
	busy     map[string]string                // and as last seen where it differed: it may be half written
	rejected map[string]bool                  // the folders that had errors when last built
	looked   bool                             // once, at what was there from the start
	board    *board
	next     uint64
	ids      atomic.Uint32 // of the newest instance
}

// OpenRoot is the catalog of a games root, <root>/<domain>/<game>/.
func OpenRoot(root string, log *slog.Logger) (*Catalog, error) {
	var listing atomic.Pointer[games.Root]
	read := func() ([]games.Place, error) {
		r, err := games.ReadRoot(root)
		if err != nil {
			return nil, err
		}
		if old := listing.Swap(r); old == nil || !slices.Equal(old.Refused, r.Refused) {
			for _, why := range r.Refused {
				log.Warn("left out of the games root", "entry", why)
			}
		}
		return r.Games, nil
	}
	if _, err := read(); err != nil {
		return nil, err
	}
	c := newCatalog(log)
	c.places = read
	c.resolve = func(host, segment string) (games.Place, bool) { return listing.Load().Resolve(host, segment) }
	c.hasDomain = func(host string) bool { return listing.Load().HasDomain(host) }
	return c, nil
}

// OpenFolder is the catalog of one domain's folder, or of the one game that the folder
// is. Every host resolves to it.
func OpenFolder(dir string, log *slog.Logger) (*Catalog, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("finding the folder of games: %w", err)
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("opening the folder of games: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	c := newCatalog(log)
	c.places = func() ([]games.Place, error) { return folderPlaces(dir) }
	c.resolve = func(_, segment string) (games.Place, bool) {
		return games.Place{Domain: "localhost", Game: segment}, true
	}
	c.hasDomain = func(string) bool { return false }
	return c, nil
}

func newCatalog(log *slog.Logger) *Catalog {
	c := &Catalog{board: newBoard(), load: games.Load, print: fingerprint, log: log, seen: map[string]string{}, page: map[string]string{}, busy: map[string]string{}, rejected: map[string]bool{}, next: 1}
	// Tokens of a box that ran here before are unlikely to name an instance of this one.
	c.ids.Store(rand.Uint32N(1 << 30))
	c.live.Store(&map[string]*Live{})
	return c
}

func folderPlaces(dir string) ([]games.Place, error) {
	place := func(dir string) (games.Place, bool) {
		if _, err := os.Stat(filepath.Join(dir, games.DefinitionFile)); err != nil {
			return games.Place{}, false
		}
		return games.Place{Domain: "localhost", Game: filepath.Base(dir), Dir: dir}, games.ValidGameName(filepath.Base(dir))
	}
	if p, ok := place(dir); ok {
		return []games.Place{p}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the folder of games: %w", err)
	}
	var all []games.Place
	for _, e := range entries {
		if !e.IsDir() || e.Name()[0] == '.' || e.Name()[0] == '_' {
			continue
		}
		if p, ok := place(filepath.Join(dir, e.Name())); ok {
			all = append(all, p)
		}
	}
	return all, nil
}

// Resolve finds the game that a request means by its Host header and the first
// segment of its path.
func (c *Catalog) Resolve(host, segment string) *Live {
	p, ok := c.resolve(host, segment)
	if !ok {
		return nil
	}
	return (*c.live.Load())[p.String()]
}

// Games lists what is live, in the order of domain and name.
func (c *Catalog) Games() []*Live {
	live := *c.live.Load()
	all := make([]*Live, 0, len(live))
	for _, l := range live {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *Live) int { return strings.Compare(a.Place.String(), b.Place.String()) })
	return all
}

// Change is what became of one game's folder.
type Change struct {
	Place    games.Place
	Findings diag.List // errors keep what was live before
	Old, New *Live     // Old is nil for a new game, New for a removed one; both nil after an error
	Page     *Live     // a game that goes on as it was while its page's files were saved; Old and New are nil
	Kept     *Live     // a game whose rejected files were made what is live again; Old and New are nil
}

// Refresh builds the games whose files have changed and puts them in place of what was
// live. A folder is built, or dropped, only when two calls in a row have found it the same,
// but for the first call: a burst of writes is one change, and some editors save by
// deleting first. apply is called for each change before players can reach the
// new definition.
func (c *Catalog) Refresh(apply func(Change)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	begun := c.board.begin()
	places, err := c.places()
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, p := range places {
		key := p.String()
		there[key] = true
		now, err := c.print(sources(p.Dir)...)
		if err != nil {
			c.log.Error("looking at a game failed; it stays as it is", "game", key, "error", err)
			continue
		}
		if c.seen[key] == now {
			delete(c.busy, key)
			c.board.same(p)
			continue
		}
		c.board.busy(p)
		if (c.seen[key] != "" || c.looked) && c.busy[key] != now {
			c.busy[key] = now
			continue
		}
		delete(c.busy, key)
		l, findings := c.build(p)
		page, unread := c.print(web.PageFolders(p.Dir)...)
		if after, err := c.print(sources(p.Dir)...); err != nil || unread != nil || after != now {
			continue // it was written to meanwhile, or could not be read: this may be of half of it
		}
		c.seen[key] = now
		saved := c.page[key] != page
		c.page[key] = page
		old := (*c.live.Load())[key]
		if l == nil {
			c.reject(p, findings, apply)
			continue
		}
		mended := c.rejected[key]
		delete(c.rejected, key)
		if old != nil && old.same(l) {
			c.publish(l)
			switch {
			case saved:
				apply(Change{Place: p, Findings: findings, Page: old})
			case mended:
				apply(Change{Place: p, Findings: findings, Kept: old})
			}
			c.board.judged(p, findings, false)
			continue
		}
		if l.Code, err = vm.Compile(l.Program.Server); err != nil {
			c.log.Error("a game was left out", "game", key, "error", err)
			findings.Errorf(diag.Position{File: games.DefinitionFile}, "the rules cannot be made ready to run: %v", err)
			c.reject(p, findings, apply)
			continue
		}
		apply(Change{Place: p, Findings: findings, Old: old, New: l})
		c.set(key, l)
		c.publish(l)
		c.board.judged(p, findings, false)
	}
	c.dropGone(there, apply)
	c.looked = true
	c.board.end(begun)
	return nil
}

// reject leaves what was live before as it is.
func (c *Catalog) reject(p games.Place, findings diag.List, apply func(Change)) {
	c.rejected[p.String()] = true
	apply(Change{Place: p, Findings: findings})
	c.board.judged(p, findings, true)
}

// dropGone drops the games whose folders are not there any more.
func (c *Catalog) dropGone(there map[string]bool, apply func(Change)) {
	for key := range c.seen {
		if there[key] {
			continue
		}
		old := (*c.live.Load())[key]
		if old != nil && c.busy[key] != gone {
			c.busy[key] = gone
			c.board.busy(old.Place)
			there[key] = true // to the board
			continue
		}
		delete(c.seen, key)
		delete(c.page, key)
		delete(c.busy, key)
		delete(c.rejected, key)
		if old != nil {
			c.set(key, nil)
			apply(Change{Place: old.Place, Old: old})
		}
	}
	maps.DeleteFunc(c.busy, func(key, _ string) bool { return !there[key] }) // new ones that went again
	c.board.keep(func(key string) bool { return there[key] })
}

// build makes a definition ready to be played; nil where that cannot be. The sources are
// an author's, and a compiler that panics over them must not end the games of others.
func (c *Catalog) build(p games.Place) (l *Live, findings diag.List) {
	defer func() {
		if r := recover(); r != nil {
			c.log.Error("building a game failed", "game", p.String(), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			l = nil
			findings.Errorf(diag.Position{File: games.DefinitionFile}, "the compiler failed over the game's files; the server's log says where")
		}
	}()
	g, findings := c.load(p.Dir)
	if g == nil {
		return nil, findings
	}
	lib, more := bundle.Build(g)
	findings = append(findings, more...)
	if more.Failed() {
		return nil, findings
	}
	number := c.next
	c.next++
	table := NewTable(g.Def, number<<worker.GameShift+1, &c.ids)
	return &Live{
		Game:    worker.Game{Number: number, Name: p.String(), Def: g.Def, Program: g.Program, Hash: g.Hash, Boss: table},
		Place:   p,
		Source:  g,
		Library: lib,
		Table:   table,
	}, findings
}

// publish writes a game's library beside it, for who serves the folder: not before players
// that come with it find the definition live.
func (c *Catalog) publish(l *Live) {
	if err := l.Library.Publish(l.Place.Dir); err != nil {
		// The box serves the library itself; only who reads the folder misses it.
		c.log.Warn("the library was not written beside the game", "game", l.Place.String(), "error", err)
	}
}

func (c *Catalog) set(key string, l *Live) {
	next := map[string]*Live{}
	for k, v := range *c.live.Load() {
		next[k] = v
	}
	if l == nil {
		delete(next, key)
	} else {
		next[key] = l
	}
	c.live.Store(&next)
}

// sources is the folders that a game is made of: its own, and the shared ones that it
// may import from.
func sources(dir string) []string {
	domain := filepath.Dir(dir)
	return []string{dir, filepath.Join(domain, games.SharedFolder), filepath.Join(filepath.Dir(domain), games.SharedFolder)}
}

// fingerprint changes when a file of the folders does that is no build's output. What is
// not there or not for us to read is left to the build to complain of; any other error is
// the machine's, which has too many files open, say, and tells nothing of the folders.
func fingerprint(dirs ...string) (string, error) {
	var b strings.Builder
	for _, d := range dirs {
		err := filepath.WalkDir(d, func(p string, e os.DirEntry, err error) error {
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
				return err
			}
			if err != nil || e.IsDir() || e.Name()[0] == '.' || games.Generated(e.Name()) {
				return nil
			}
			if info, err := e.Info(); err == nil {
				fmt.Fprintf(&b, "%s %d %d\n", p, info.Size(), info.ModTime().UnixNano())
			}
			return nil
		})
		if err != nil {
			return "", fmt.Errorf("looking at what is in %s: %w", d, err)
		}
	}
	return b.String(), nil
}
