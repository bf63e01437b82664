package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"gamehoster/games/deploy"
)

// accessFlags are those of commands that use the API of a box.
type accessFlags struct {
	TokenFile string `help:"File with the token of the box's API. The variable GAMEHOSTER_TOKEN may hold the token itself instead." placeholder:"FILE"`
	CAFile    string `name:"ca-file" help:"File with certificates (PEM) that the box's may be signed by, besides those that this machine trusts." placeholder:"FILE"`

	token string
}

// Validate reads the token: without one there is nothing to try.
func (c *accessFlags) Validate() error {
	if c.TokenFile != "" {
		text, err := os.ReadFile(c.TokenFile)
		if err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
		if c.token = strings.TrimSpace(string(text)); c.token == "" {
			return fmt.Errorf("--token-file: %s is empty", c.TokenFile)
		}
	} else if c.token = strings.TrimSpace(os.Getenv("GAMEHOSTER_TOKEN")); c.token == "" {
		return errors.New("no token: name its file with --token-file, or put the token into GAMEHOSTER_TOKEN")
	}
	if strings.ContainsFunc(c.token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the token has spaces or characters that no header can carry")
	}
	return nil
}

// client makes a client of the box at an address.
func (c *accessFlags) client(env *environment, url string) (*deploy.Client, error) {
	roots, err := c.roots()
	if err != nil {
		return nil, err
	}
	client, err := deploy.NewClient(url, c.token, roots)
	if err != nil {
		return nil, err
	}
	if host := client.Host(); strings.HasPrefix(url, "http://") && !local(host) {
		fmt.Fprintf(env.stderr, "gamehoster: warning: without https everybody between here and %s can read the token\n", host)
	}
	return client, nil
}

// local reports whether the host is this machine.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// roots are the certificates that the box's may be signed by; nil for the system's.
func (c *accessFlags) roots() (*x509.CertPool, error) {
	if c.CAFile == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("--ca-file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--ca-file: %s holds no certificate in PEM form", c.CAFile)
	}
	return pool, nil
}
