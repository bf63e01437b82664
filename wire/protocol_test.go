package wire

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The tables of PROTOCOL.md are held to the code.

func protocolText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// randomValue is random() by the standard's words.
func randomValue(seed uint64, tick, actor, body uint32, seq, n uint64) float64 {
	const g = 0x9e3779b97f4a7c15
	x := mix(seed + g*(uint64(tick)+1))
	x = mix(x ^ (uint64(actor)<<32 | uint64(body)))
	if seq > 0 {
		x = mix(x + g*seq)
	}
	return float64(mix(x+g*n)>>11) / (1 << 53)
}

func TestProtocolRandomNumbers(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^\| (0x\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+|-) \| (\d+) \| (\S+) \|$`).FindAllStringSubmatch(protocolText(t), -1)
	if len(rows) < 6 {
		t.Fatalf("%d rows in the table", len(rows))
	}
	for _, r := range rows {
		seed, _ := strconv.ParseUint(r[1], 0, 64)
		num := func(i int) uint64 { v, _ := strconv.ParseUint(r[i], 10, 32); return v }
		v := randomValue(seed, uint32(num(2)), uint32(num(3)), uint32(num(4)), num(5), num(6))
		if want, err := strconv.ParseFloat(r[7], 64); err != nil || v != want {
			t.Errorf("%s: %v", r[0], v)
		}
	}
}

func TestProtocolNamesEveryMessage(t *testing.T) {
	text := protocolText(t)
	for tag := range messageFiles {
		if !strings.Contains(text, fmt.Sprintf("**0x%02x %s**", byte(tag), tag)) {
			t.Errorf("no section on 0x%02x %s", byte(tag), tag)
		}
	}
}

func TestProtocolCloseCodes(t *testing.T) {
	rows := regexp.MustCompile(`(?m)^\| (\d{4}) \| .* \| (no|at once|yes, with backoff) \|$`).FindAllStringSubmatch(protocolText(t), -1)
	if len(rows) != 16 {
		t.Errorf("%d codes", len(rows))
	}
	for _, r := range rows {
		code, _ := strconv.Atoi(r[1])
		if MayReconnect(uint16(code)) != (r[2] != "no") || strings.HasPrefix(CloseReason(uint16(code)), "close code") {
			t.Errorf("%s: %q, reconnect %t", r[0], CloseReason(uint16(code)), MayReconnect(uint16(code)))
		}
	}
}
