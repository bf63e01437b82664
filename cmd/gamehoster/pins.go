//go:build pins

// The dependencies below are decided on, in these versions, ahead of the code that
// will import them. Under a build tag that nothing sets, they keep their lines in
// go.mod and cost the binary nothing.
package main

import (
	_ "github.com/HdrHistogram/hdrhistogram-go"
	_ "github.com/cilium/ebpf"
	_ "github.com/cloudwego/netpoll"
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/tinylib/msgp/msgp"
	_ "github.com/xtaci/kcp-go/v5"
)
