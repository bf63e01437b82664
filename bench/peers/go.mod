module gamehoster/bench/peers

go 1.26.2

require (
	github.com/dop251/goja v0.0.0-20260917113740-793a2a65c13b
	github.com/gorilla/websocket v1.5.3
	github.com/lesismal/nbio v1.6.8
	github.com/lxzan/gws v1.8.9
	golang.org/x/sys v0.50.0
)

require (
	gamehoster v0.0.0
	github.com/dlclark/regexp2/v2 v2.5.2 // indirect
	github.com/dolthub/maphash v0.1.0 // indirect
	github.com/go-sourcemap/sourcemap v2.1.4+incompatible // indirect
	github.com/google/pprof v0.0.0-20230207041349-798e818bf904 // indirect
	github.com/klauspost/compress v1.17.9 // indirect
	github.com/lesismal/llib v1.2.2 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace gamehoster => ../..
