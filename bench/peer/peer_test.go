package peer

import (
	"errors"
	"strings"
	"testing"
)

// A report says which peer it is that was not measured; the error says only why.
func TestWhatIsMissingIsTold(t *testing.T) {
	for _, find := range []func(string) (string, error){NPM, Colyseus} {
		_, err := find(t.TempDir())
		if !errors.Is(err, ErrMissing) {
			t.Fatalf("an empty folder gives %v", err)
		}
		if strings.Contains(err.Error(), "@colyseus") {
			t.Errorf("the peer is named twice: %v", err)
		}
	}
}
