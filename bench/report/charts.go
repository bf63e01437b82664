package report

import "gamehoster/bench/pairs"

// Chart is one picture: exactly one of its forms is set.
type Chart struct {
	Title string `json:"title"`
	Note  string `json:"note,omitempty"` // what to see in it
	Bars  *Bars  `json:"bars,omitempty"`
	Stack *Stack `json:"stack,omitempty"`
	Lines *Lines `json:"lines,omitempty"`
}

// Bars compares one figure of several: ours stands out, the range is a whisker.
type Bars struct {
	Unit  string  `json:"unit"`
	Items []Bar   `json:"items"`
	Bound float64 `json:"bound,omitempty"` // drawn as a line; 0 for none
}

// Bar is one of them.
type Bar struct {
	Label  string       `json:"label"`
	Ours   bool         `json:"ours,omitempty"`
	Spread pairs.Spread `json:"spread"`
}

// Stack splits figures into parts that add up.
type Stack struct {
	Unit  string   `json:"unit"`
	Parts []string `json:"parts"` // at most five
	Items []Pile   `json:"items"`
}

// Pile is one of them.
type Pile struct {
	Label  string    `json:"label"`
	Values []float64 `json:"values"` // by part
}

// Lines draws figures over something.
type Lines struct {
	XUnit  string    `json:"xUnit"`
	YUnit  string    `json:"yUnit"`
	Series []Line    `json:"series"`          // at most five
	Ticks  []XTick   `json:"ticks,omitempty"` // of the x axis; even ones where there are none
	Shade  []float64 `json:"shade,omitempty"` // from and to on the x axis, marked as another phase
}

// Line is one of them, its points by x.
type Line struct {
	Label  string       `json:"label"`
	Points [][2]float64 `json:"points"`
}

// XTick is a mark on the x axis.
type XTick struct {
	At    float64 `json:"at"`
	Label string  `json:"label"`
}
