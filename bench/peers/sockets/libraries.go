package main

import (
	"net"
	"net/http"

	"github.com/gorilla/websocket"
	"github.com/lesismal/nbio/nbhttp"
	nbws "github.com/lesismal/nbio/nbhttp/websocket"
	"github.com/lxzan/gws"
)

// serveGorilla has a goroutine for each connection that reads it.
func serveGorilla(l net.Listener, h *hall, ready func()) error {
	up := websocket.Upgrader{ReadBufferSize: 1024, WriteBufferSize: 1024, CheckOrigin: func(*http.Request) bool { return true }}
	ready()
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		c := &client{write: func(p []byte) error { return conn.WriteMessage(websocket.BinaryMessage, p) }}
		h.add(c)
		defer h.remove(c)
		defer conn.Close()
		for {
			if _, _, err := conn.ReadMessage(); err != nil {
				return
			}
			c.received.Add(1)
		}
	}))
}

// gwsEvents is a server's events of gws.
type gwsEvents struct {
	gws.BuiltinEventHandler
	h *hall
}

func (e gwsEvents) OnOpen(s *gws.Conn) {
	c := &client{write: func(p []byte) error { return s.WriteMessage(gws.OpcodeBinary, p) }}
	s.Session().Store("client", c)
	e.h.add(c)
}

func (e gwsEvents) OnMessage(s *gws.Conn, m *gws.Message) {
	if c, ok := s.Session().Load("client"); ok {
		c.(*client).received.Add(1)
	}
	_ = m.Close()
}

func (e gwsEvents) OnClose(s *gws.Conn, _ error) {
	if c, ok := s.Session().Load("client"); ok {
		e.h.remove(c.(*client))
	}
}

// serveGWS has a goroutine for each connection, too, over leaner code.
func serveGWS(l net.Listener, h *hall, ready func()) error {
	up := gws.NewUpgrader(gwsEvents{h: h}, &gws.ServerOption{})
	ready()
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := up.Upgrade(w, r)
		if err == nil {
			go s.ReadLoop()
		}
	}))
}

// serveNBIO has no goroutine for a connection: it waits for all by epoll.
func serveNBIO(l net.Listener, h *hall, ready func()) error {
	up := nbws.NewUpgrader()
	up.CheckOrigin = func(*http.Request) bool { return true }
	up.OnOpen(func(s *nbws.Conn) {
		c := &client{write: func(p []byte) error { return s.WriteMessage(nbws.BinaryMessage, p) }}
		s.SetSession(c)
		h.add(c)
	})
	up.OnMessage(func(s *nbws.Conn, _ nbws.MessageType, _ []byte) { s.Session().(*client).received.Add(1) })
	up.OnClose(func(s *nbws.Conn, _ error) {
		if c, ok := s.Session().(*client); ok {
			h.remove(c)
		}
	})
	mux := &http.ServeMux{}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { _, _ = up.Upgrade(w, r, nil) })
	addr := l.Addr().String()
	l.Close() // the engine opens its own, where this one was
	engine := nbhttp.NewEngine(nbhttp.Config{Network: "tcp", Addrs: []string{addr}, MaxLoad: 1 << 20, Handler: mux, NPoller: 1})
	if err := engine.Start(); err != nil {
		return err
	}
	ready()
	select {}
}
