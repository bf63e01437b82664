// Command gamehoster serves browser games: see README.md. Each subcommand is a
// struct whose fields are its flags; what it does is in the packages it calls.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"gamehoster/engine"
	"gamehoster/engine/logs"
)

// version is set by the build.
var version = "dev"

type commands struct {
	Dev     devCommand       `cmd:"" help:"Serve a folder of games with their pages and rebuild them on save."`
	Serve   serveCommand     `cmd:"" help:"Serve a games root, DIR/DOMAIN/GAME/."`
	Check   checkCommand     `cmd:"" help:"Check a game, or a folder of games, and print what is wrong with them."`
	Sync    syncCommand      `cmd:"" help:"Bring a game, or a folder of games, to a box: upload what changed and wait for the verdict."`
	Top     topCommand       `cmd:"" help:"Show what a box runs: games, workers, players and how long ticks take."`
	Echo    echoCommand      `cmd:"" help:"Answer every WebSocket message with itself, for conformance suites."`
	Bench   benchCommand     `cmd:"" help:"Measure it, beside others, and write a report."`
	Example exampleCommand   `cmd:"" help:"Print a file to set a box up with: what Caddy or systemd wants."`
	Worker  workerCommand    `cmd:"" hidden:""`
	Part    benchPartCommand `cmd:"" name:"bench-part" hidden:""`
	Version versionCommand   `cmd:"" help:"Print the version."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program without the process: it returns the exit code. 0 is done, 1 a
// failure that was reported on stderr, 2 a wrong command line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	var c commands
	exited := -1
	parser, err := kong.New(&c,
		kong.Name("gamehoster"),
		kong.Description("A game server for browser games whose rules are plain JavaScript."),
		kong.UsageOnError(),
		kong.DefaultEnvars("GAMEHOSTER"),
		kong.Vars{"admin": engine.DefaultAdmin},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(duration)),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { exited = code; panic(errExit) }),
	)
	if err != nil {
		fmt.Fprintln(stderr, "gamehoster:", err)
		return 1
	}
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); !ok || !errors.Is(err, errExit) {
				panic(r)
			}
			code = exited
		}
	}()
	parsed, err := parser.Parse(spoken(args))
	if err != nil {
		fmt.Fprintln(stderr, "gamehoster:", err)
		fmt.Fprintf(stderr, "try: gamehoster%s --help\n", mistaken(err))
		return 2
	}
	env := &environment{ctx: ctx, stdout: stdout, stderr: stderr}
	defer env.close()
	if err := parsed.Run(env); err != nil {
		if !errors.Is(err, errReported) {
			fmt.Fprintf(stderr, "gamehoster: %v%s\n", err, wayOut(err))
		}
		return 1
	}
	return 0
}

// spoken understands three more ways in which programs are asked who they are.
func spoken(args []string) []string {
	if len(args) == 0 {
		return []string{"--help"}
	}
	switch args[0] {
	case "help":
		return append(slices.Clone(args[1:]), "--help")
	case "--version":
		return []string{"version"}
	}
	return args
}

// mistaken is the subcommand whose command line was wrong, after a space; empty where
// it did not come to one.
func mistaken(err error) string {
	var wrong *kong.ParseError
	if errors.As(err, &wrong) {
		if n := wrong.Context.Selected(); n != nil {
			return " " + n.Name
		}
	}
	return ""
}

// wayOut is what to do about an error that does not say so itself.
func wayOut(err error) string {
	switch {
	case !errors.Is(err, syscall.EADDRINUSE):
		return ""
	case strings.HasPrefix(err.Error(), "--admin"):
		return "; choose another port there, or none with --admin="
	}
	return "; choose another port with --port"
}

var (
	errExit     = errors.New("exit")     // --help was printed
	errReported = errors.New("reported") // a failure whose text is out already
)

// duration reads a flag's time, as the library would, and says what one looks like.
func duration(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("time", &text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("want a time with its unit, as in 80ms or 1.5s, but got %q", text)
	}
	target.SetInt(int64(d))
	return nil
}

// environment is what a subcommand gets besides its flags.
type environment struct {
	ctx            context.Context
	stdout, stderr io.Writer
	log            *logs.Spool // to stderr; nil where the subcommand logs nothing
	logs           *logs.Logs  // nil where there are none that are kept
}

func (e *environment) close() {
	if e.logs != nil {
		e.logs.Close()
	}
	if e.log != nil {
		e.log.Close()
	}
}

type logFlags struct {
	LogLevel  slog.Level `help:"Least severe lines to log: debug, info, warn or error." default:"info"`
	LogFormat string     `help:"Form of the log: text or json." enum:"text,json" default:"text"`
}

// logger makes the subcommand's one log, on its stderr.
func (f logFlags) logger(env *environment) *slog.Logger {
	env.log = logs.NewSpool(env.stderr, func(lines int64) []byte {
		var b bytes.Buffer
		f.logTo(&b).Warn("log lines were lost: nobody took them in time", "lines", lines)
		return b.Bytes()
	})
	return f.logTo(env.log)
}

func (f logFlags) logTo(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: f.LogLevel}
	if f.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

type versionCommand struct{}

func (versionCommand) Run(env *environment) error {
	_, err := fmt.Fprintln(env.stdout, version)
	return err
}
