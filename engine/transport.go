package engine

import "gamehoster/engine/loop/transport"

// Transport names what the event loops run on.
type Transport = transport.Name

// The transports: Auto is what an empty one means.
const (
	TransportAuto  = transport.Auto
	TransportGnet  = transport.Gnet
	TransportUring = transport.Uring
)
