package rooms

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Protocol names how a kind of server is spoken to.
type Protocol string

// The protocols.
const (
	Colyseus Protocol = "colyseus"
	Plain    Protocol = "plain"
)

// kind is what a message from the server is, as far as clients look.
type kind uint8

const (
	other kind = iota
	joined
	state // or a patch of it
	pong
)

// protocol is what clients have to know of one.
type protocol struct {
	seat  func(ctx context.Context, addr string) (target string, err error) // takes a seat: the path of its socket
	kind  func(m []byte) kind
	ready []byte // the answer to joined
	ping  []byte
	steer func(turn int, thrust, fire bool) []byte // turn is -1, 0 or 1
}

var protocols = map[Protocol]*protocol{
	// Opcodes of Colyseus stand in the lower bits of the first byte.
	Colyseus: {
		seat: colyseusSeat,
		kind: func(m []byte) kind {
			switch m[0] & 31 {
			case 10: // JOIN_ROOM
				return joined
			case 15: // ROOM_STATE_PATCH
				return state
			case 18: // PING
				return pong
			}
			return other
		},
		ready: []byte{10},
		ping:  []byte{18},
		steer: colyseusSteer,
	},
	Plain: {
		seat: func(context.Context, string) (string, error) { return "/", nil },
		kind: func(m []byte) kind {
			switch m[0] {
			case 1:
				return state
			case 2:
				return pong
			}
			return other
		},
		ping: []byte{2},
		steer: func(turn int, thrust, fire bool) []byte {
			return []byte{1, byte(turn + 1), bit(thrust) | bit(fire)<<1}
		},
	},
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// colyseusSeat asks for a seat in any room.
func colyseusSeat(ctx context.Context, addr string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/matchmake/joinOrCreate/asteroids", bytes.NewReader([]byte("{}")))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var seat struct {
		SessionID string `json:"sessionId"`
		RoomID    string `json:"roomId"`
		ProcessID string `json:"processId"`
	}
	if err := json.NewDecoder(res.Body).Decode(&seat); err != nil || seat.RoomID == "" {
		return "", fmt.Errorf("no seat was given: %w", errors.Join(errors.New(res.Status), err))
	}
	return fmt.Sprintf("/%s/%s?sessionId=%s", seat.ProcessID, seat.RoomID, seat.SessionID), nil
}

// colyseusSteer is the command as the library for browsers sends it: ROOM_DATA, its name,
// and a map in MessagePack.
func colyseusSteer(turn int, thrust, fire bool) []byte {
	m := append([]byte{13, 0xa0 | 5}, "steer"...)
	m = append(append(m, 0x83, 0xa4), "turn"...)
	m = append(append(m, byte(int8(turn)), 0xa6), "thrust"...)
	m = append(append(m, 0xc2+bit(thrust), 0xa4), "fire"...)
	return append(m, 0xc2+bit(fire))
}
