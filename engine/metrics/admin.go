package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"time"
)

// askTime is how long loops have to answer for a request. One that is held up longer is
// the answer.
const askTime = time.Second

// Ask has all workers report, as far as they do not by themselves, and names those that do
// not answer in time.
type Ask func(timeout time.Duration) (silent []string)

// Admin is the operator's listener: /metrics for Prometheus, /healthz, and /debug/pprof/.
// It asks nobody who they are, so it belongs on an address that strangers do not reach.
type Admin struct {
	listener net.Listener
	server   *http.Server
	local    bool // on the machine's own address
}

// Listen opens the listener at addr, host:port. log takes what goes wrong later.
func Listen(addr string, r *Registry, ask Ask, log *slog.Logger) (*Admin, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	a := &Admin{listener: l}
	if tcp, ok := l.Addr().(*net.TCPAddr); ok {
		a.local = tcp.IP.IsLoopback()
	}
	mux := http.NewServeMux()
	scrape := r.handler()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, req *http.Request) {
		ask(askTime)
		scrape.ServeHTTP(w, req)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { health(w, ask(askTime)) })
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	a.server = &http.Server{
		Handler:           a.guard(mux),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      5 * time.Minute, // a profile takes as long as was asked for
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return a, nil
}

// Addr is where it listens.
func (a *Admin) Addr() net.Addr { return a.listener.Addr() }

// Serve answers until Close.
func (a *Admin) Serve() error {
	if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin server: %w", err)
	}
	return nil
}

// Close ends Serve, and gives requests that are being answered a moment.
func (a *Admin) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	if a.server.Shutdown(ctx) != nil {
		_ = a.server.Close()
	}
	_ = a.listener.Close() // where it was never served
}

// guard refuses what a web page may have had a browser send: such requests name a site, or
// tell where they come from.
func (a *Admin) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := r.Header.Get("Sec-Fetch-Site")
		foreign := site != "" && site != "none" && site != "same-origin"
		if foreign || r.Header.Get("Origin") != "" || a.local && !localHost(r.Host) {
			http.Error(w, "ask for it by the address of this listener, and not from a page", http.StatusForbidden)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// localHost reports whether a Host header names the machine itself, by a name that no DNS
// has a say in.
func localHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// health answers whether everybody answers.
func health(w http.ResponseWriter, silent []string) {
	answer := struct {
		Healthy bool     `json:"healthy"`
		Silent  []string `json:"silent"` // workers that do not answer
	}{len(silent) == 0, silent}
	if silent == nil {
		answer.Silent = []string{}
	}
	w.Header().Set("Content-Type", "application/json")
	if !answer.Healthy {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	// Whoever asked is gone when this fails.
	_ = json.NewEncoder(w).Encode(answer)
}
