package deploy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
)

// StatusError is an answer of the box that is no success.
type StatusError struct {
	Code     int    // HTTP status
	Text     string // what the API said; empty where it said nothing
	Location string // of a redirect
	Method   string
	Path     string
}

// Error says what the status means for who syncs, and what to do.
func (e *StatusError) Error() string {
	why := ""
	if e.Text != "" {
		why = ": " + e.Text
	}
	switch {
	case e.Code == http.StatusNotFound:
		return "the box answers 404: the token is not the box's, or its API is off (it has no --token-file), or there is no gamehoster at this address"
	case e.Code == http.StatusPreconditionFailed:
		return fmt.Sprintf("somebody else has changed %s on the box meanwhile (412)%s; sync again to put yours in its place", e.Path, why)
	case e.Code == http.StatusRequestEntityTooLarge:
		return fmt.Sprintf("the box takes no upload that large (413)%s; a file may have 1 MiB and a game 16 MiB, and a proxy before the box may allow less", why)
	case e.Code == http.StatusBadRequest && e.Text == "":
		return "the box answers 400; if it speaks TLS, its address begins with https://"
	case e.Code == http.StatusInsufficientStorage:
		return "the box has no room left on its disk (507)" + why
	case e.Code >= 300 && e.Code < 400 && e.Location != "":
		return fmt.Sprintf("the box answers with a redirect to %s; the token is not sent on to another address, so use that one", e.Location)
	case e.Code == http.StatusTooManyRequests:
		return "the box has had too many requests from here (429)" + why
	case e.Code == http.StatusBadGateway || e.Code == http.StatusServiceUnavailable || e.Code == http.StatusGatewayTimeout:
		return fmt.Sprintf("the box is not there behind its proxy (%d)%s", e.Code, why)
	}
	return fmt.Sprintf("the box refused %s %s with %d %s%s", e.Method, e.Path, e.Code, http.StatusText(e.Code), why)
}

// distrust reports whether a connection failed for a reason that does not pass.
func distrust(err error) bool {
	var cert *tls.CertificateVerificationError
	var plain tls.RecordHeaderError
	var dns *net.DNSError
	return errors.As(err, &cert) || errors.As(err, &plain) || errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &dns) && dns.IsNotFound
}

// explain makes an error of the connection one that says what to do.
func (c *Client) explain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	at := c.base.Host
	var (
		hostname x509.HostnameError
		unknown  x509.UnknownAuthorityError
		cert     *tls.CertificateVerificationError
		plain    tls.RecordHeaderError
		dns      *net.DNSError
		broken   *url.Error
	)
	switch {
	case errors.As(err, &hostname):
		return fmt.Errorf("the certificate of %s is another host's: %w", at, hostname)
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s is signed by nobody whom this machine trusts (%w); if it is signed by your own authority, name that one's certificate with --ca-file", at, unknown)
	case errors.As(err, &cert):
		return fmt.Errorf("the certificate of %s cannot be trusted: %w", at, cert.Err)
	case errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return fmt.Errorf("what listens at %s speaks no TLS; if it is a box without a proxy, its address begins with http://", at)
	case errors.As(err, &dns):
		return fmt.Errorf("there is no host %s: %w", c.Host(), dns)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s: %w", at, syscall.ECONNREFUSED)
	case errors.As(err, &broken):
		return fmt.Errorf("the connection to %s broke: %w", at, broken.Err)
	}
	return err
}
