package machine

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestLock(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for range 2 {
		unlock, err := Lock()
		if err != nil {
			t.Fatal(err)
		}
		_, err = Lock()
		if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
			t.Errorf("a second lock gives %v", err)
		}
		unlock()
	}
}
