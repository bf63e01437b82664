package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gamehoster/bench/machine"
	"gamehoster/bench/pairs"
)

func sample() *Report {
	s := &Section{
		Name: "sample", Title: "A <sample>", About: "what was done & how",
		Targets: []Target{
			{What: "a ratio", Got: pairs.Spread{.5, .7}, Bound: 1},
			{What: "players", Got: pairs.Spread{3}, Bound: 8, AtLeast: true, Unit: "players"},
			{What: "nothing", Bound: 8},
		},
		Tables: []Table{{Title: "rows", Columns: []string{"time", "word"}, Rows: []Row{
			{Label: "ours", Ours: true, Cells: []Cell{Fig(pairs.Spread{1, 2, 3}, "ms"), Text("%d %%", 5)}}}}},
		Charts: []Chart{
			{Title: "bars", Bars: &Bars{Unit: "ms", Bound: 2, Items: []Bar{{Label: "<u>", Ours: true, Spread: pairs.Spread{1, 2}}, {Label: "none"}}}},
			{Title: "stack", Stack: &Stack{Unit: "ns", Parts: []string{"a", "b"}, Items: []Pile{{Label: "x", Values: []float64{1, 2}}, {Label: "nothing", Values: []float64{0, 0}}}}},
			{Title: "lines", Lines: &Lines{XUnit: "s", YUnit: "ms", Series: []Line{{Label: "p50", Points: [][2]float64{{0, 1}, {1, 3}}}, {Label: "one", Points: [][2]float64{{.5, 2}}}}}},
			{Title: "no lines", Lines: &Lines{Series: []Line{{}}}},
			{Title: "with ticks", Lines: &Lines{Ticks: []XTick{{0, "0"}, {1, "90"}}, Shade: []float64{0, .5}, Series: []Line{{Points: [][2]float64{{0, 0}, {1, 0}}}}}},
		},
		Notes: []string{"a note"}, Missing: []string{"a peer"}, Failed: "it <broke>",
		Series: pairs.Series{"x": {"ns": {1, 2}}},
	}
	return &Report{Machine: machine.Facts{Date: "2026-01-02 03:04", Commit: "abc"}, Took: "1s", Sections: []*Section{s}}
}

// The page needs nothing from elsewhere, and what comes in as text stays text.
func TestPage(t *testing.T) {
	b, err := sample().HTML()
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, bad := range []string{"http:", "https:", "<script", "<link", "<sample>", "<broke>", "<u>", "NaN", "Inf", "%!", "ZgotmplZ"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{"A &lt;sample&gt;", "prefers-color-scheme: dark", `class="missed"`, `class="met"`, "not measured: a peer", "2.00 ms (1.00..3.00)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(text, "<svg"); n != 5 || n != strings.Count(text, "</svg>") {
		t.Errorf("%d pictures", n)
	}
	// What is drawn is inside of its picture.
	for _, m := range regexp.MustCompile(`(?:x|cx|x1|x2|y|cy|y1|y2)="(-[0-9.]+)"`).FindAllStringSubmatch(text, -1) {
		t.Errorf("a coordinate is %s", m[1])
	}
}

func TestText(t *testing.T) {
	text := sample().Text()
	for _, want := range []string{
		"| ours | 2.00 ms (1.00..3.00) | 5 %  |\n", "- a ratio: 0.600 (0.500..0.700), at most 1.00: met\n",
		"- players: 3.00 players, at least 8.00 players: MISSED\n", "FAILED: it <broke>", "- not measured: a peer", "- nothing: not measured, at most 8.00: MISSED",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestSave(t *testing.T) {
	r := sample()
	dir := filepath.Join(t.TempDir(), "a", "b")
	page, err := r.Save(dir)
	if err != nil || filepath.Dir(page) != dir {
		t.Fatal(page, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	var back struct {
		Sections []struct {
			Targets []struct {
				Got struct {
					Median float64 `json:"median"`
				} `json:"got"`
			} `json:"targets"`
		} `json:"sections"`
	}
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil || back.Sections[0].Targets[0].Got.Median != .6 {
		t.Errorf("%+v %v", back, err)
	}
	if scenarios, targets := r.Failed(); scenarios != 1 || targets != 2 {
		t.Errorf("%d scenarios failed and %d targets", scenarios, targets)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.01234: "0.0123", 0.5: "0.500", 1.234: "1.23", 56.78: "56.8", 12345.6: "12346", -2.5: "-2.50"} {
		if got := number(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}
