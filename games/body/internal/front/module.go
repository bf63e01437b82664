package front

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/file"
	"github.com/grafana/sobek/parser"
	"github.com/grafana/sobek/token"
	"github.com/grafana/sobek/unistring"

	"gamehoster/games/body/internal/strip"
	"gamehoster/games/diag"
	"gamehoster/games/internal/tokens"
)

// Bounds of a file. They keep a hostile file from costing the box more than
// milliseconds, and the parser's recursion from growing without end.
const (
	maxFileSize  = 256 << 10
	maxTypedSize = 64 << 10 // of TypeScript: what takes its types out takes four times as long for twice of some texts
	maxDepth     = 500      // of the tree, in which a chain of operators is a level per operator
)

// module is one parsed file.
type module struct {
	path    string
	names   map[string]*symbol
	exports map[string]*symbol
	order   []*symbol // in the file's order
}

type symbolKind uint8

const (
	symFunc symbolKind = iota
	symConst
	symImport
	symNamespace // import * as NAME
	symBad       // refused where it stands
)

// symbol is a name at a module's top level.
type symbol struct {
	kind   symbolKind
	name   string
	at     file.Idx
	module *module
	used   bool // imported by another module
	called bool // by a function that was walked

	params *ast.ParameterList // symFunc
	body   []ast.Statement
	value  ast.Expression // symConst, and the result of an arrow function without braces
	busy   bool           // symConst: its value is being looked at

	from     string // symImport and symNamespace: the other module's path
	imported string // symImport: the name there
}

// loader parses files on demand, following imports.
type loader struct {
	sources map[string][]byte
	modules map[string]*module
	files   *Files
	report  *report
}

// load gives a module, or nil if the file is absent or did not parse.
func (l *loader) load(name string) *module {
	if m, ok := l.modules[name]; ok {
		return m
	}
	text, ok := l.sources[name]
	if !ok {
		return nil
	}
	l.modules[name] = nil // a file that fails is reported once
	prog := l.parse(name, string(text))
	if prog == nil {
		return nil
	}
	if !l.shallow(prog) {
		return nil
	}
	m := &module{path: name, names: map[string]*symbol{}, exports: map[string]*symbol{}}
	m.names[masked] = &symbol{kind: symBad, name: masked, module: m}
	l.modules[name] = m
	l.declare(m, prog)
	return m
}

func (l *loader) parse(name, text string) (prog *ast.Program) {
	typed, most := path.Ext(name) == ".ts", maxFileSize
	if typed {
		most = maxTypedSize
	}
	if len(text) > most {
		way := "split it into files that import each other"
		if typed {
			way += fmt.Sprintf(", or write large tables in a .js file, which may have %d KiB", maxFileSize>>10)
		}
		l.report.place(diag.Error, diag.Position{File: name}, "", "the file is larger than %d KiB: %s", most>>10, way)
		return nil
	}
	base := l.files.next()
	s := l.files.add(name, text, base)
	refuse := func(at int, problem string) *ast.Program {
		l.files.set.AddFile(name, text)
		l.report.errorf(file.Idx(base+at), "%s", problem)
		return nil
	}
	if at, problem := hostile(text, typed); problem != "" {
		return refuse(at, problem)
	}
	text = l.mask(text, base)
	if typed {
		code, from, problem := strip.TypeScript(text)
		if problem != nil {
			if at, ok := tokens.Unclosed(text); ok {
				return refuse(at, unclosed(text, at))
			}
			return refuse(problem.At, problem.Message)
		}
		text, s.from, s.size = code, from, len(code)
		if at, problem := hostile(text, false); problem != "" {
			return refuse(at, problem)
		}
	}
	defer func() {
		if r := recover(); r != nil {
			l.unparsable(name, text, base, r)
			prog = nil
		}
	}()
	prog, err := parser.ParseFile(&l.files.set, name, text, parser.IgnoreRegExpErrors, parser.WithDisableSourceMaps, parser.IsModule)
	if err == nil {
		return prog
	}
	if at, ok := tokens.Unclosed(text); ok {
		l.report.errorf(file.Idx(base+at), "%s", unclosed(text, at))
		return nil
	}
	var list parser.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		first := list[0]
		l.syntaxError(name, text, first.Position.Line, first.Position.Column, first.Message)
		return nil
	}
	l.unparsable(name, text, base, err)
	return nil
}

// unparsable reports a file that the parser gives up on without saying where.
func (l *loader) unparsable(name, text string, base int, why any) {
	if at := strings.Index(text, `\u{`); at >= 0 {
		l.report.errorf(file.Idx(base+at), `\u{...} is not part of the body language: write the character itself`)
		return
	}
	l.report.place(diag.Error, diag.Position{File: name}, "", "the file cannot be parsed: %v", why)
}

// shallow refuses trees that are too deep to be walked recursively.
func (l *loader) shallow(prog *ast.Program) bool {
	var roots []ast.Node
	params := func(p *ast.ParameterList) {
		if p == nil {
			return
		}
		for _, b := range p.List {
			roots = append(roots, b.Target)
			if b.Initializer != nil {
				roots = append(roots, b.Initializer)
			}
		}
	}
	function := func(f *ast.FunctionLiteral) {
		if f != nil && f.Body != nil {
			params(f.ParameterList)
			roots = append(roots, f.Body)
		}
	}
	constants := func(d *ast.LexicalDeclaration) {
		if d == nil {
			return
		}
		for _, b := range d.List {
			switch v := b.Initializer.(type) {
			case nil:
			case *ast.FunctionLiteral:
				function(v)
			case *ast.ArrowFunctionLiteral:
				params(v.ParameterList)
				switch body := v.Body.(type) {
				case *ast.BlockStatement:
					roots = append(roots, body)
				case *ast.ExpressionBody:
					roots = append(roots, body.Expression)
				}
			default:
				roots = append(roots, v)
			}
		}
	}
	for _, st := range prog.Body {
		switch st := st.(type) {
		case *ast.FunctionDeclaration:
			function(st.Function)
		case *ast.LexicalDeclaration:
			constants(st)
		case *ast.ExportDeclaration:
			constants(st.LexicalDeclaration)
			if h := st.HoistableDeclaration; h != nil && h.FunctionDeclaration != nil {
				function(h.FunctionDeclaration.Function)
			}
		}
	}
	n := deepest(roots)
	if n != nil {
		l.report.errorf(start(n), "this is nested too deeply: split it into statements or functions")
	}
	return n == nil
}

// syntaxError reports the parser's first complaint; what it says after that is
// mostly about its own confusion. Its columns count bytes.
func (l *loader) syntaxError(name, text string, line, column int, message string) {
	s := l.files.list[len(l.files.list)-1]
	at := 0
	for ; line > 1; line-- {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	at = min(at+max(column-1, 0), len(text))
	if strings.HasSuffix(message, "ILLEGAL") && at < len(text) && (text[at] == '"' || text[at] == '\'') {
		message = "this text has no end: its closing quote is missing"
	} else if strings.HasPrefix(message, "Invalid left-hand side") && strings.Contains(lineAt(text, at), "?.") {
		message = "what may be absent cannot be assigned: test it first, as in if (a) a.x = 1"
	} else if message != "" {
		message = strings.ToLower(message[:1]) + message[1:]
	}
	l.report.errorf(file.Idx(s.base+at), "%s", message)
}

// lineAt is the rest of the line at a byte of a text.
func lineAt(text string, at int) string {
	line, _, _ := strings.Cut(text[at:], "\n")
	return line
}

// declare fills the module's name tables from its top level.
func (l *loader) declare(m *module, prog *ast.Program) {
	type renamed struct {
		inner, outer string
		at           file.Idx
	}
	var lists []renamed
	for _, st := range prog.Body {
		switch st := st.(type) {
		case *ast.FunctionDeclaration:
			l.function(m, st.Function)
		case *ast.LexicalDeclaration:
			l.constants(m, st)
		case *ast.ImportDeclaration:
			l.imports(m, st)
		case *ast.ExportDeclaration:
			for _, s := range l.exported(m, st) {
				m.exports[s.name] = s
			}
			if st.NamedExports != nil && st.FromClause == nil {
				for _, x := range st.NamedExports.ExportsList {
					r := renamed{x.IdentifierName.String(), x.Alias.String(), st.Idx}
					if r.outer == "" {
						r.outer = r.inner
					}
					lists = append(lists, r)
				}
			}
		case *ast.EmptyStatement:
		case *ast.VariableStatement:
			l.variables(m, st.Var, st.List)
		case *ast.ClassDeclaration:
			l.report.errorf(st.Idx0(), "%s", refusedClass)
			if st.Class.Name != nil {
				l.add(m, &symbol{kind: symBad, name: st.Class.Name.Name.String(), at: st.Class.Name.Idx})
			}
		default:
			if strings.HasPrefix(l.files.after(start(st)), "namespace") {
				continue // its var was refused
			}
			l.report.errorf(start(st), "only functions, constants and imports stand at the top level of a file")
		}
	}
	for _, r := range lists {
		s := m.names[r.inner]
		if s == nil {
			l.report.errorf(r.at, "\"%s\" is exported but nothing of that name is declared", r.inner)
			continue
		}
		m.exports[r.outer] = s
	}
}

func (l *loader) add(m *module, s *symbol) *symbol {
	s.module = m
	if m.names[s.name] != nil {
		l.report.errorf(s.at, "\"%s\" is declared twice", s.name)
		return s
	}
	m.names[s.name] = s
	m.order = append(m.order, s)
	return s
}

// variables declares the enums among variables, and refuses the rest.
func (l *loader) variables(m *module, at file.Idx, bindings []*ast.Binding) (list []*symbol) {
	for _, b := range bindings {
		if id, members := enum(b); members != nil {
			list = append(list, l.add(m, &symbol{kind: symConst, name: id.Name.String(), at: id.Idx, value: members}))
			continue
		}
		l.report.errorf(at, "%s", l.refusedVar(at))
		list = append(list, l.spoil(m, []*ast.Binding{b})...)
	}
	return list
}

// refusedVar is what to write instead of a var, which is also what namespaces of
// TypeScript become.
func (l *loader) refusedVar(at file.Idx) string {
	text := l.files.after(at)
	for _, word := range []string{"export ", "declare ", "const "} {
		text = strings.TrimPrefix(text, word)
	}
	switch word, _, _ := strings.Cut(text, " "); word {
	case "namespace", "module":
		return "namespaces are not part of the body language: use files and imports"
	}
	return "use const instead of var"
}

// spoil enters names whose declaration was refused, so that their uses are not
// reported as well.
func (l *loader) spoil(m *module, list []*ast.Binding) (bad []*symbol) {
	for _, b := range list {
		eachName(b.Target, func(id *ast.Identifier) {
			bad = append(bad, l.add(m, &symbol{kind: symBad, name: id.Name.String(), at: id.Idx}))
		})
	}
	return bad
}

// start is where a statement begins; the parser leaves it out of an if.
func start(n ast.Node) file.Idx {
	if s, ok := n.(*ast.IfStatement); ok {
		return s.Test.Idx0()
	}
	return n.Idx0()
}

func (l *loader) function(m *module, f *ast.FunctionLiteral) []*symbol {
	if f == nil {
		return nil // a syntax error that the parser passes over
	}
	if f.Name == nil {
		l.report.errorf(f.Function, "a function at the top level needs a name")
		return nil
	}
	if f.Async {
		l.report.errorf(f.Function, "a body cannot wait: async functions are not part of the body language")
		return nil
	}
	if f.Generator {
		l.report.errorf(f.Function, "generator functions are not part of the body language")
		return nil
	}
	return []*symbol{l.add(m, &symbol{kind: symFunc, name: f.Name.Name.String(), at: f.Name.Idx, params: f.ParameterList, body: f.Body.List})}
}

func (l *loader) constants(m *module, d *ast.LexicalDeclaration) (list []*symbol) {
	if d.Token != token.CONST {
		l.report.errorf(d.Idx, "nothing is kept between ticks but fields: use const, or a field of the instance in gamehoster-game.json")
		return l.spoil(m, d.List)
	}
	for _, b := range d.List {
		id, ok := b.Target.(*ast.Identifier)
		switch {
		case b.Initializer == nil:
			l.report.errorf(b.Idx0(), "a constant is written const NAME = value")
			l.spoil(m, []*ast.Binding{b})
			continue
		case !ok:
			list = append(list, l.takenApart(m, b.Target, b.Initializer)...)
			continue
		}
		s := &symbol{kind: symConst, name: id.Name.String(), at: id.Idx, value: b.Initializer}
		switch v := b.Initializer.(type) {
		case *ast.ArrowFunctionLiteral:
			if v.Async {
				l.report.errorf(v.Start, "a body cannot wait: async functions are not part of the body language")
				continue
			}
			s.kind, s.params, s.value = symFunc, v.ParameterList, nil
			switch body := v.Body.(type) {
			case *ast.BlockStatement:
				s.body = body.List
			case *ast.ExpressionBody:
				s.value = body.Expression
			}
		case *ast.FunctionLiteral:
			if v.Async || v.Generator {
				l.report.errorf(v.Function, "async and generator functions are not part of the body language")
				continue
			}
			s.kind, s.params, s.value, s.body = symFunc, v.ParameterList, nil, v.Body.List
		}
		list = append(list, l.add(m, s))
	}
	return list
}

// takenApart declares the names of a pattern at the top level: each stands for the
// member or the element that would be read for it.
func (l *loader) takenApart(m *module, target ast.Expression, from ast.Expression) (list []*symbol) {
	refuse := func(at file.Idx) {
		l.report.errorf(at, "a pattern at the top level has names only: { x, y: height } or [x, y]")
		eachName(target, func(id *ast.Identifier) { l.add(m, &symbol{kind: symBad, name: id.Name.String(), at: id.Idx}) })
	}
	switch p := target.(type) {
	case *ast.Identifier:
		return []*symbol{l.add(m, &symbol{kind: symConst, name: p.Name.String(), at: p.Idx, value: from})}
	case *ast.ObjectPattern:
		for _, prop := range p.Properties {
			name, inner, at := patternMember(prop)
			if inner == nil || p.Rest != nil {
				refuse(p.LeftBrace)
				return nil
			}
			dot := &ast.DotExpression{Left: from, Identifier: ast.Identifier{Name: unistring.NewFromString(name), Idx: at}}
			list = append(list, l.takenApart(m, inner, dot)...)
		}
		return list
	case *ast.ArrayPattern:
		for i, el := range p.Elements {
			if _, initial := withDefault(el); initial != nil || p.Rest != nil {
				refuse(p.LeftBracket)
				return nil
			}
			if el != nil {
				index := &ast.NumberLiteral{Idx: el.Idx0(), Value: int64(i)}
				list = append(list, l.takenApart(m, el, &ast.BracketExpression{Left: from, Member: index, LeftBracket: p.LeftBracket})...)
			}
		}
		return list
	}
	refuse(target.Idx0())
	return nil
}

// patternMember is the name and the target of a member of a pattern; without a target
// it is no plain one.
func patternMember(p ast.Property) (name string, target ast.Expression, at file.Idx) {
	switch p := p.(type) {
	case *ast.PropertyShort:
		if p.Initializer == nil {
			return p.Name.Name.String(), &p.Name, p.Name.Idx
		}
	case *ast.PropertyKeyed:
		key, ok := p.Key.(*ast.StringLiteral)
		if target, initial := withDefault(p.Value); ok && !p.Computed && initial == nil {
			return key.Value.String(), target, key.Idx
		}
	}
	return "", nil, 0
}

func (l *loader) exported(m *module, d *ast.ExportDeclaration) []*symbol {
	switch {
	case d.IsDefault:
		l.report.errorf(d.Idx, "export by name instead of default: export function update() ...")
	case d.HoistableDeclaration != nil && d.HoistableDeclaration.FunctionDeclaration != nil:
		if d.HoistableDeclaration.FunctionDeclaration.Function == nil {
			l.report.errorf(d.Idx, "export stands before a function or a constant")
		}
		return l.function(m, d.HoistableDeclaration.FunctionDeclaration.Function)
	case d.LexicalDeclaration != nil:
		return l.constants(m, d.LexicalDeclaration)
	case d.ClassDeclaration != nil:
		l.report.errorf(d.Idx, "%s", refusedClass)
	case d.Variable != nil:
		return l.variables(m, d.Idx, d.Variable.List)
	case d.ExportFromClause != nil || d.FromClause != nil:
		if d.FromClause != nil || d.ExportFromClause.IsWildcard {
			l.report.errorf(d.Idx, "a file exports its own functions only: import them where they are used")
		} else if n := d.ExportFromClause.NamedExports; n != nil {
			d.NamedExports = n
		}
	}
	return nil
}

func (l *loader) imports(m *module, d *ast.ImportDeclaration) {
	c := d.ImportClause
	spec := ""
	if d.FromClause != nil {
		spec = d.FromClause.ModuleSpecifier.String()
	} else {
		spec = d.ModuleSpecifier.String()
	}
	bad := func(names ...string) {
		for _, name := range names {
			l.add(m, &symbol{kind: symBad, name: name, at: d.Idx})
		}
	}
	if c != nil && c.ImportedDefaultBinding != nil {
		bad(c.ImportedDefaultBinding.Name.String())
	}
	if c != nil && c.NameSpaceImport != nil && d.FromClause != nil {
		s := &symbol{kind: symNamespace, name: c.NameSpaceImport.ImportedBinding.String(), at: d.Idx}
		var problem string
		if s.from, problem = l.resolve(m.path, spec); problem != "" {
			l.report.errorf(d.Idx, "%s", problem)
			s.kind = symBad
		}
		l.add(m, s)
		if c.ImportedDefaultBinding == nil {
			return
		}
	}
	if path.Ext(spec) == ".json" && !l.foreign("./"+path.Base(spec)+".js") {
		l.report.errorf(d.Idx, "bodies import .js and .ts files: write what \"%s\" has as a constant, export const DATA = ..., in one", spec)
		if c != nil && c.NamedImports != nil {
			for _, x := range c.NamedImports.ImportsList {
				bad(importedAs(x))
			}
		}
		return
	}
	if c == nil || d.FromClause == nil || c.ImportedDefaultBinding != nil || c.NameSpaceImport != nil || c.NamedImports == nil {
		problem := `imports go by name: import { wrap } from "./geometry.js"`
		if l.foreign(spec) {
			problem = noPackages(spec)
		}
		l.report.errorf(d.Idx, "%s", problem)
		return
	}
	target, problem := l.resolve(m.path, spec)
	if problem != "" {
		l.report.errorf(d.Idx, "%s", problem)
	}
	for _, x := range c.NamedImports.ImportsList {
		s := &symbol{kind: symImport, name: importedAs(x), at: d.Idx, from: target, imported: x.IdentifierName.String()}
		if problem != "" {
			s.kind = symBad
		}
		l.add(m, s)
	}
}

// importedAs is the name that an import has in its file.
func importedAs(x *ast.ImportSpecifier) string {
	if x.Alias != "" {
		return x.Alias.String()
	}
	return x.IdentifierName.String()
}

// foreign reports whether an import leads to no file of the game: to a package or
// another site.
func (l *loader) foreign(spec string) bool {
	ext := path.Ext(spec)
	file := strings.HasPrefix(spec, ".") || strings.HasPrefix(spec, "_shared/") || ext == ".js" || ext == ".ts"
	return !file || strings.Contains(spec, "://")
}

func noPackages(spec string) string {
	return fmt.Sprintf("there are no packages: bodies import files of their game only, so what \"%s\" does has to be written there", spec)
}

// resolve turns an import's specifier into the path of a source.
func (l *loader) resolve(from, spec string) (target, problem string) {
	shared := strings.TrimPrefix(spec, "./")
	for strings.HasPrefix(shared, "../") {
		shared = strings.TrimPrefix(shared, "../")
	}
	switch {
	case strings.HasPrefix(spec, "./"), strings.HasPrefix(spec, "../"):
		target = path.Join(path.Dir(from), spec)
	case strings.HasPrefix(spec, "_shared/"):
		target = path.Clean(spec)
	default:
		if l.foreign(spec) {
			return "", noPackages(spec)
		}
		return "", fmt.Sprintf("a file of the game begins with a dot: write \"./%s\"", spec)
	}
	tries := []string{target}
	if strings.HasPrefix(shared, "_shared/") {
		tries = append(tries, path.Clean(shared))
	}
	for _, try := range tries {
		for _, name := range spellings(try, path.Ext(from) == ".ts") {
			if _, ok := l.sources[name]; ok {
				return name, ""
			}
		}
	}
	known := make([]string, 0, len(l.sources))
	for name := range l.sources {
		known = append(known, name)
	}
	for _, ext := range []string{".js", ".ts"} {
		if _, ok := l.sources[target+ext]; ok {
			return "", fmt.Sprintf("there is no file \"%s\": write its whole name, \"%s%s\"", target, spec, ext)
		}
	}
	return "", fmt.Sprintf("there is no file \"%s\"%s", target, suggest(target, known))
}

// spellings are the files that an import can mean: what it says, and for a .js that
// is not there the TypeScript that it would be made of. TypeScript may leave the
// extension out.
func spellings(name string, typed bool) []string {
	tries := []string{name}
	if stem, ok := strings.CutSuffix(name, ".js"); ok {
		tries = append(tries, stem+".ts")
	} else if typed && path.Ext(name) != ".ts" {
		tries = append(tries, name+".ts", name+".js")
	}
	return tries
}

// lookup follows imports to the symbol that a name of a module stands for. The
// second result tells why there is none; without either, the name is not one of
// the module's or was reported already.
func (l *loader) lookup(m *module, name string) (*symbol, string) {
	s := m.names[name]
	if s != nil && s.kind == symBad {
		return nil, ""
	}
	return l.follow(s, name)
}

// follow is lookup of a symbol that a module has under a name.
func (l *loader) follow(s *symbol, name string) (*symbol, string) {
	for hops := 0; s != nil && s.kind == symImport; hops++ {
		other := l.load(s.from)
		if other == nil {
			return nil, "" // reported with that file
		}
		next := other.exports[s.imported]
		if next == nil {
			if other.names[s.imported] != nil {
				return nil, fmt.Sprintf("\"%s\" is not exported by %s: write export in front of it", s.imported, s.from)
			}
			return nil, fmt.Sprintf("%s exports nothing called \"%s\"%s", s.from, s.imported, offer(s.imported, sorted(other.exports)))
		}
		if hops > 100 {
			return nil, fmt.Sprintf("the imports of \"%s\" go round in a circle", name)
		}
		if next.kind == symBad {
			return nil, ""
		}
		next.used = true
		s = next
	}
	return s, ""
}

// Limits of a file. The tree of what they let pass is bounded by maxDepth.
var (
	plainLimits = tokens.Limits{Nesting: 120, Tokens: 2000, Elses: 1000, Arrows: 1000, Inner: 12}
	typedLimits = tokens.Limits{Nesting: 120, Tokens: 2000, Elses: 1000, Angles: 200, Arrows: 1000, Inner: 12}
)

// hostile finds the first place where parsing would cost more than a file is worth.
func hostile(text string, typed bool) (at int, problem string) {
	limits := &plainLimits
	if typed {
		limits = &typedLimits
	}
	at, p := limits.Check(text)
	switch p {
	case tokens.NoText:
		problem = "the file is not UTF-8 text from here on"
	case tokens.TooDeep:
		problem = "this is nested too deeply: split it into functions or statements"
	case tokens.Arrows:
		problem = refusedFunction
	}
	return at, problem
}

// unclosed tells of a bracket without an end.
func unclosed(text string, at int) string {
	switch text[at] {
	case '(':
		return "this ( is never closed: a ) is missing"
	case '[':
		return "this [ is never closed: a ] is missing"
	case '$':
		return "this ${ is never closed: a } is missing"
	}
	return "this block is never closed: a } is missing"
}
