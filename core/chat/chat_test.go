package chat

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestUsageAddKnowsTheCostOnlyIfEveryPartDoes(t *testing.T) {
	paid := Usage{Input: 10, Output: 5, Cost: 30, CostKnown: true}
	unknown := Usage{Input: 1}
	tests := []struct {
		name string
		a, b Usage
		want Usage
	}{
		{"nothing and something", Usage{}, paid, paid},
		{"something and nothing", paid, Usage{}, paid},
		{"two known", paid, paid, Usage{Input: 20, Output: 10, Cost: 60, CostKnown: true}},
		{"one unknown", paid, unknown, Usage{Input: 11, Output: 5, Cost: 30}},
		{"free is known", paid, Usage{Input: 1, CostKnown: true}, Usage{Input: 11, Output: 5, Cost: 30, CostKnown: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.a.Add(tt.b); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestMessageSurvivesJSON(t *testing.T) {
	code := 3
	m := Message{
		ID: 7, Session: "s", Seq: 2, Role: RoleTool, Status: StatusFinal,
		Result: &ToolResult{CallID: "c", Name: "terminal", Text: "宽\x00", ExitCode: &code, Diffs: []FileDiff{{Path: "a", Op: FileMoved, OldPath: "b"}}},
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back Message
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, m) {
		t.Errorf("got %+v\nwant %+v", back, m)
	}
}
