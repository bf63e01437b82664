package games

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// Place is where a game lives.
type Place struct {
	Domain string // as hosts are compared: lower-case ASCII
	Game   string // the folder's name and the first segment of its URLs
	Dir    string // the folder
}

// String is domain/game.
func (p Place) String() string { return p.Domain + "/" + p.Game }

// Root is a listing of a games root, <root>/<domain>/<game>/, as it was when it
// was read. It answers from memory, is immutable and safe for concurrent use.
type Root struct {
	Dir string
	// Games in the order of domain, then name.
	Games []Place
	// Refused tells, one sentence each, which entries were left out though their
	// names do not begin with _ or a dot.
	Refused []string

	domains map[string]map[string]int // index in Games by domain, then name
	names   map[string]int            // the first game of each name
}

// ReadRoot lists a games root. Names that begin with _ or a dot are passed over;
// symbolic links, names that no URL segment or host can have, `api` and
// `internal` are refused. Folders without a definition count too: they are games
// that a reload will complain of. The error is that of reading the root itself, or of a
// machine that has no means to read what is there, which must not look like a domain that
// has lost its games.
func ReadRoot(dir string) (*Root, error) {
	r := &Root{Dir: dir, domains: map[string]map[string]int{}, names: map[string]int{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the games root: %w", err)
	}
	for _, entry := range entries {
		if !r.folder(entry, entry.Name()) {
			continue
		}
		domain, ok := normalHost(entry.Name())
		if !ok {
			r.refuse(entry.Name(), "is no host name")
			continue
		}
		if _, twice := r.domains[domain]; twice {
			r.refuse(entry.Name(), "is another spelling of a domain that is there already")
			continue
		}
		r.domains[domain] = map[string]int{}
		if err := r.domain(domain, entry.Name()); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(r.Games, func(a, b Place) int {
		return strings.Compare(a.Domain+"/"+a.Game, b.Domain+"/"+b.Game)
	})
	for i, p := range r.Games {
		r.domains[p.Domain][p.Game] = i
		if _, ok := r.names[p.Game]; !ok {
			r.names[p.Game] = i
		}
	}
	return r, nil
}

func (r *Root) domain(domain, folder string) error {
	dir := filepath.Join(r.Dir, folder)
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist):
		r.refuse(folder, "cannot be read: "+err.Error())
		return nil
	case err != nil:
		return fmt.Errorf("reading the games root: %w", err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if !r.folder(entry, folder+"/"+name) {
			continue
		}
		switch {
		case reservedGame(name):
			r.refuse(folder+"/"+name, "has a name that is the server's own")
		case !ValidGameName(name):
			r.refuse(folder+"/"+name, "has a name that is no plain URL segment")
		default:
			r.Games = append(r.Games, Place{Domain: domain, Game: name, Dir: filepath.Join(dir, name)})
		}
	}
	return nil
}

// folder reports whether an entry is a directory to look into.
func (r *Root) folder(entry fs.DirEntry, shown string) bool {
	if hidden(entry.Name()) {
		return false
	}
	if entry.Type()&fs.ModeSymlink != 0 {
		r.refuse(shown, "is a symbolic link")
		return false
	}
	return entry.IsDir()
}

func hidden(name string) bool { return name == "" || name[0] == '_' || name[0] == '.' }

func (r *Root) refuse(shown, why string) {
	r.Refused = append(r.Refused, fmt.Sprintf("%q %s", shown, why))
}

// reservedGame reports whether a name is the server's own and no game's.
func reservedGame(name string) bool { return name == "api" || name == "internal" }

// ValidGameName reports whether a game may have the name: 1 to 64 letters,
// digits, dots, - and _, of which the last two kinds do not begin it, and not
// reserved.
func ValidGameName(name string) bool {
	if hidden(name) || len(name) > 64 || reservedGame(name) {
		return false
	}
	for _, b := range []byte(name) {
		if !('a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '.' || b == '-' || b == '_') {
			return false
		}
	}
	return true
}

// Domain is the form in which a domain is compared, for a name that a folder of a games
// root may have: a host name or an address without port and trailing dot, which does not
// begin with _ or a dot.
func Domain(name string) (string, bool) {
	if hidden(name) || strings.HasSuffix(name, ".") {
		return "", false
	}
	if _, bare := address(name); !bare && strings.Contains(name, ":") {
		return "", false
	}
	return normalHost(name)
}

// HasDomain reports whether the root has a folder for the host.
func (r *Root) HasDomain(host string) bool {
	domain, ok := normalHost(host)
	_, has := r.domains[domain]
	return ok && has
}

// Resolve finds the game that a request means, from its Host header and the first
// segment of its path. localhost and bare addresses, which name no domain, get
// the first game of that name on any domain when there is no folder for them.
func (r *Root) Resolve(host, name string) (Place, bool) {
	domain, ok := normalHost(host)
	if !ok {
		return Place{}, false
	}
	if i, ok := r.domains[domain][name]; ok {
		return r.Games[i], true
	}
	if i, ok := r.names[name]; ok && nameless(domain) {
		return r.Games[i], true
	}
	return Place{}, false
}

// nameless reports whether a normalised host is a machine and not a domain.
func nameless(host string) bool {
	_, bare := address(host)
	return bare || host == "localhost"
}

// address reads a bare IP address, one of IPv6 with or without its brackets. Most hosts
// are none, which a look at them tells without the cost of an error.
func address(host string) (netip.Addr, bool) {
	if b := host[0]; b != '[' && (b < '0' || b > '9') && !strings.Contains(host, ":") {
		return netip.Addr{}, false
	}
	bare, opened := strings.CutPrefix(host, "[")
	bare, closed := strings.CutSuffix(bare, "]")
	addr, err := netip.ParseAddr(bare)
	return addr.WithZone(""), err == nil && opened == closed && (!opened || addr.Is6())
}

// normalHost brings a Host header, or a folder's name, to the form in which
// hosts are compared: without port and trailing dot, lower-case ASCII.
func normalHost(host string) (string, bool) {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		if strings.HasPrefix(host, "[") || strings.Count(host, ":") == 1 {
			if !digits(host[i+1:]) {
				return "", false
			}
			host = host[:i]
		}
	}
	host = strings.TrimSuffix(host, ".")
	if len(host) == 0 || len(host) > 253 {
		return "", false
	}
	if addr, ok := address(host); ok {
		return addr.String(), true
	}
	if plainHost(host) {
		return host, true
	}
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil || !plainHost(ascii) {
		return "", false
	}
	return ascii, true
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) <= 5
}

// plainHost accepts what is normal already, without a look at Unicode's tables.
func plainHost(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if b := label[i]; !('a' <= b && b <= 'z' || '0' <= b && b <= '9' || b == '-' || b == '_') {
				return false
			}
		}
	}
	return true
}
