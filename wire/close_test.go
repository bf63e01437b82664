package wire

import (
	"errors"
	"testing"
)

func TestCloseReasons(t *testing.T) {
	codes := []uint16{CloseDone, CloseStopping, CloseMalformed, CloseText, CloseFlood, CloseTooBig, CloseTakenOver, CloseEnded,
		CloseRemoved, CloseNoInstance, CloseOutdated, CloseDraining, CloseTooSlow, CloseIdle, CloseBoxFull, CloseFailed, 4999}
	seen := map[string]bool{}
	for _, c := range codes {
		r := CloseReason(c)
		if r == "" || len(r) > 123 || seen[r] {
			t.Errorf("%d: %q", c, r)
		}
		seen[r] = true
	}
	again := map[uint16]bool{CloseStopping: true, CloseDraining: true, CloseTooSlow: true, CloseIdle: true, CloseBoxFull: true, CloseFailed: true, 1006: true, 4999: true}
	for _, c := range append(codes, 1006) {
		if MayReconnect(c) != again[c] {
			t.Errorf("%d: reconnect %t", c, MayReconnect(c))
		}
	}
}

func TestCloseError(t *testing.T) {
	var err error = &CloseError{CloseMalformed, "a mask has bits past its fields"}
	var ce *CloseError
	if !errors.As(err, &ce) || err.Error() != "malformed message: a mask has bits past its fields" {
		t.Error(err)
	}
	if s := (&CloseError{Code: CloseIdle}).Error(); s != CloseReason(CloseIdle) {
		t.Error(s)
	}
}

func TestTags(t *testing.T) {
	for tag, name := range map[Tag]string{TagCommand: "command", TagPong: "pong", 0x7f: "tag 0x7f"} {
		if tag.String() != name {
			t.Errorf("%q", tag.String())
		}
	}
	for tag := range messageFiles {
		if tag.FromClient() == tag.FromServer() || tag.FromServer() != (tag >= 0x80) {
			t.Errorf("%s: from client %t, from server %t", tag, tag.FromClient(), tag.FromServer())
		}
	}
	if Tag(0).FromClient() || Tag(6).FromClient() || Tag(0x80).FromServer() || Tag(0x89).FromServer() || TagOf(nil) != 0 {
		t.Error("a tag that no message has")
	}
}
