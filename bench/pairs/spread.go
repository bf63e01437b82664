package pairs

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
)

// Spread is a figure as it was measured, once for each round.
type Spread []float64

// Median is the middle one; of an even number the mean of the two. 0 of none.
func (s Spread) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	t := slices.Sorted(slices.Values(s))
	return (t[len(t)/2] + t[(len(t)-1)/2]) / 2
}

// Min is the least; 0 of none.
func (s Spread) Min() float64 {
	if len(s) == 0 {
		return 0
	}
	return slices.Min(s)
}

// Max is the greatest; 0 of none.
func (s Spread) Max() float64 {
	if len(s) == 0 {
		return 0
	}
	return slices.Max(s)
}

// Over divides round by round, as far as both have rounds. A round whose divisor is 0
// is left out.
func (s Spread) Over(t Spread) Spread {
	var r Spread
	for i := range min(len(s), len(t)) {
		if t[i] != 0 {
			r = append(r, s[i]/t[i])
		}
	}
	return r
}

// Times multiplies each by f.
func (s Spread) Times(f float64) Spread {
	r := slices.Clone(s)
	for i := range r {
		r[i] *= f
	}
	return r
}

// MarshalJSON writes median, least, greatest and all rounds; to six digits, as no
// more of them mean anything.
func (s Spread) MarshalJSON() ([]byte, error) {
	rounds := make([]float64, len(s))
	for i, v := range s {
		rounds[i] = digits(v)
	}
	return json.Marshal(struct {
		Median float64   `json:"median"`
		Min    float64   `json:"min"`
		Max    float64   `json:"max"`
		Rounds []float64 `json:"rounds"`
	}{digits(s.Median()), digits(s.Min()), digits(s.Max()), rounds})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Spread) UnmarshalJSON(text []byte) error {
	var v struct {
		Rounds []float64 `json:"rounds"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	*s = v.Rounds
	return nil
}

func digits(v float64) float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	return v
}
