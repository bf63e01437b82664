package deploy

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Bounds of what a box may cost a client.
const (
	maxAnswer    = 8 << 20          // bytes of an answer
	dialTimeout  = 10 * time.Second // until there is a connection
	stallTimeout = 90 * time.Second // until an answer begins, three times what a box holds one back
)

// Client talks to the API of one box. It is safe for concurrent use.
//
// A request that gets no answer, or one of a proxy that did not reach the box, is sent
// again after a while that doubles from firstPause to longestPause, until Patience is
// over. A box that has not answered at all yet is an error at once: its address may be
// wrong.
type Client struct {
	// Patience is how long a box that has answered may be away.
	Patience time.Duration
	// OnRetry is told of each try that failed before the next one is made; may be nil.
	// It may be called from several goroutines.
	OnRetry func(err error, pause time.Duration)

	base  *url.URL
	token string
	http  *http.Client
	known atomic.Bool // the box has answered
	after func(time.Duration) <-chan time.Time
}

const (
	firstPause   = 250 * time.Millisecond
	longestPause = 8 * time.Second
)

// NewClient makes a client of the box at an address like https://box.example/. token
// authorises it. roots are the certificates that the box's may be signed by; nil for
// those of the system. It fails where the address is none.
func NewClient(address, token string, roots *x509.CertPool) (*Client, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the box's address: %w", err)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, fmt.Errorf("%q is no address of a box; it looks like https://play.example/", address)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, fmt.Errorf("%q has more than a host and a path; a box's address looks like https://play.example/", u.Redacted())
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	u.RawPath = ""
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: stallTimeout,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   uploads,
		IdleConnTimeout:       time.Minute,
	}
	return &Client{
		Patience: time.Minute, base: u, token: token, after: time.After,
		http: &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the token is for this address
		}},
	}, nil
}

// Host is the box's host, without its port.
func (c *Client) Host() string { return c.base.Hostname() }

// Close drops the connections that wait for another request.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Stats asks what the box runs, and reads the answer, JSON, into v.
func (c *Client) Stats(ctx context.Context, v any) error {
	return c.do(ctx, request{method: http.MethodGet, path: []string{"api", "stats"}}, v)
}

// request is what is asked of the box.
type request struct {
	method string
	path   []string // segments after the address, not escaped
	query  string
	match  string // If-Match; empty for none
	body   []byte
	kind   string    // the body's content type
	sent   func(int) // told of bytes of the body as they go out, and of fewer than 0 as they have to go again; may be nil
}

// do sends a request until it is answered and reads the answer, JSON, into v.
func (c *Client) do(ctx context.Context, r request, v any) error {
	pause, waited := firstPause, time.Duration(0)
	for {
		err := c.try(ctx, r, v)
		if err == nil || ctx.Err() != nil || !c.transient(err) || waited >= c.Patience {
			return c.explain(err)
		}
		if c.OnRetry != nil {
			c.OnRetry(c.explain(err), pause)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.after(pause):
		}
		waited += pause
		pause = min(2*pause, longestPause)
	}
}

func (c *Client) try(ctx context.Context, r request, v any) error {
	u := *c.base
	for _, s := range r.path {
		u.RawPath = u.EscapedPath() + "/" + url.PathEscape(s)
		u.Path += "/" + s
	}
	u.RawQuery = r.query
	var body io.Reader
	counted := &countedReader{r: bytes.NewReader(r.body), sent: r.sent}
	if r.body != nil {
		body = counted
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), body)
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	if r.body != nil {
		req.ContentLength = int64(len(r.body))
		req.Header.Set("Content-Type", r.kind)
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", "application/json")
	if r.match != "" {
		req.Header.Set("If-Match", r.match)
	}
	res, err := c.http.Do(req)
	if err != nil {
		counted.takeBack()
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	failed := res.StatusCode < 200 || res.StatusCode > 299
	if failed || err != nil {
		counted.takeBack()
	}
	if err != nil && !failed {
		return fmt.Errorf("reading the box's answer: %w", err)
	}
	if failed { // even where the connection broke after the status, which says enough
		return &StatusError{Code: res.StatusCode, Text: errorText(answer), Location: res.Header.Get("Location"), Method: r.method, Path: strings.TrimPrefix(u.Path, c.base.Path)}
	}
	c.known.Store(true)
	if v == nil {
		return nil
	}
	if len(answer) > maxAnswer {
		return fmt.Errorf("the box's answer to %s %s is larger than %d MiB", r.method, u.Path, maxAnswer>>20)
	}
	if err := json.Unmarshal(answer, v); err != nil {
		return fmt.Errorf("what answers %s %s does not speak the API of gamehoster: %w", r.method, u.Path, err)
	}
	return nil
}

// countedReader tells how much of a body has gone out.
type countedReader struct {
	r    *bytes.Reader
	n    atomic.Int64 // read by the transport, on a goroutine of its own
	sent func(int)
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.sent != nil && n > 0 {
		c.n.Add(int64(n))
		c.sent(n)
	}
	return n, err
}

// takeBack uncounts what went out in vain.
func (c *countedReader) takeBack() {
	if n := c.n.Swap(0); c.sent != nil && n > 0 {
		c.sent(-int(n))
	}
}

// errorText is the error that an answer of the API holds; empty for any other answer.
func errorText(answer []byte) string {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(answer, &e) != nil {
		return ""
	}
	return e.Error
}

// transient reports whether the same request may fare better a little later.
func (c *Client) transient(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Code == http.StatusBadGateway || status.Code == http.StatusServiceUnavailable ||
			status.Code == http.StatusGatewayTimeout || status.Code == http.StatusTooManyRequests
	}
	var broken *url.Error
	return errors.As(err, &broken) && c.known.Load() && !distrust(err) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}
