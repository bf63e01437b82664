package games

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// validator knows as much of JSON Schema as our schema uses, and fails on the rest.
type validator struct{ root map[string]any }

func (v *validator) check(schema map[string]any, value any, at string) error {
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/definitions/")
		target, ok := v.root["definitions"].(map[string]any)[name].(map[string]any)
		if !ok {
			return fmt.Errorf("the schema refers to %s, which it lacks", ref)
		}
		return v.check(target, value, at)
	}
	object, _ := value.(map[string]any)
	list, _ := value.([]any)
	text, isText := value.(string)
	number, isNumber := value.(float64)
	for key, rule := range schema {
		bad := false
		switch key {
		case "$schema", "title", "description", "default", "definitions", "properties", "additionalProperties":
		case "type":
			types, many := rule.([]any)
			if !many {
				types = []any{rule}
			}
			bad = !slices.ContainsFunc(types, func(t any) bool { return is(value, t.(string)) })
		case "enum":
			bad = !slices.ContainsFunc(rule.([]any), func(x any) bool { return reflect.DeepEqual(x, value) })
		case "minimum":
			bad = isNumber && number < rule.(float64)
		case "exclusiveMinimum":
			bad = isNumber && number <= rule.(float64)
		case "maximum":
			bad = isNumber && number > rule.(float64)
		case "minLength":
			bad = isText && len(text) < int(rule.(float64))
		case "maxLength":
			bad = isText && len(text) > int(rule.(float64))
		case "minItems":
			bad = list != nil && len(list) < int(rule.(float64))
		case "maxItems":
			bad = len(list) > int(rule.(float64))
		case "maxProperties":
			bad = len(object) > int(rule.(float64))
		case "pattern":
			bad = isText && !regexp.MustCompile(rule.(string)).MatchString(text)
		case "required":
			for _, name := range rule.([]any) {
				if _, ok := object[name.(string)]; object != nil && !ok {
					return fmt.Errorf("%s: %s is missing", at, name)
				}
			}
		case "items":
			for i, item := range list {
				if err := v.check(rule.(map[string]any), item, fmt.Sprintf("%s[%d]", at, i)); err != nil {
					return err
				}
			}
		case "propertyNames":
			for name := range object {
				if err := v.check(rule.(map[string]any), name, at+"."+name); err != nil {
					return err
				}
			}
		case "oneOf":
			fit := 0
			for _, option := range rule.([]any) {
				if v.check(option.(map[string]any), value, at) == nil {
					fit++
				}
			}
			bad = fit != 1
		default:
			return fmt.Errorf("the schema uses %q, which this test does not know", key)
		}
		if bad {
			return fmt.Errorf("%s: %v breaks %s %v", at, value, key, rule)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, member := range object {
		rule, ok := properties[name].(map[string]any)
		if !ok {
			switch more := schema["additionalProperties"].(type) {
			case bool:
				return fmt.Errorf("%s: %s is unknown", at, name)
			case map[string]any:
				rule = more
			}
		}
		if err := v.check(rule, member, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func is(value any, kind string) bool {
	switch x := value.(type) {
	case bool:
		return kind == "boolean"
	case string:
		return kind == "string"
	case float64:
		return kind == "number" || kind == "integer" && x == float64(int64(x))
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	}
	return false
}

func (v *validator) text(t *testing.T, text []byte) error {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return v.check(v.root, value, "definition")
}

// editorSchema is the JSON Schema (draft 7) with which editors complete and check a
// definition while it is written. It knows less than ParseDefinition, and may refuse
// nothing that ParseDefinition accepts.
func editorSchema(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("gamehoster-game.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestEditorSchema(t *testing.T) {
	v := &validator{}
	if err := json.Unmarshal(editorSchema(t), &v.root); err != nil {
		t.Fatal(err)
	}
	samples, err := filepath.Glob("localhost/*/" + DefinitionFile)
	if err != nil || len(samples) < 2 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	for _, file := range samples {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.text(t, text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, good := range []string{`{}`, everything, `{"origins":"*"}`} {
		if err := v.text(t, []byte(good)); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{
		`[]`, `{"tickrate":30}`, `{"tickRate":0}`, `{"tickRate":1.5}`, `{"origins":[]}`, `{"entities":{"rock":{}}}`, `{"entities":{"big rock":{"max":1}}}`,
		`{"player":{"fields":{"x":"f33"}}}`, `{"player":{"fields":{"x":"f32 share"}}}`, `{"player":{"fields":{"x":{}}}}`, `{"player":{"fields":{"x":{"type":"f32","syn":"sent"}}}}`,
		`{"commands":{"go":{"fields":{"x":"f32 sent"}}}}`, `{"commands":{"go":{"maxPerSecond":0}}}`,
	} {
		if v.text(t, []byte(bad)) == nil {
			t.Errorf("the schema accepts %s", bad)
		}
	}
}

// Every key that the loader knows is one that the schema describes, and the other way
// round, wherever there are keys. The loader lists those that it knows where it meets
// one that is like none of them.
func TestEditorSchemaKnowsTheKeys(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(editorSchema(t), &root); err != nil {
		t.Fatal(err)
	}
	const stranger = `"qqqqqqqqqqqq": 1`
	for text, path := range map[string]string{
		`{X}`:                     "",
		`{"instance":{X}}`:        "properties instance",
		`{"player":{X}}`:          "properties player",
		`{"player":{"view":{X}}}`: "definitions view",
		`{"player":{"fields":{"x":{"type":"f32",X}}}}`:          "definitions field oneOf 1",
		`{"entities":{"rock":{"max":1,X}}}`:                     "properties entities additionalProperties",
		`{"commands":{"go":{X}}}`:                               "properties commands additionalProperties",
		`{"commands":{"go":{"fields":{"x":{"type":"f32",X}}}}}`: "properties commands additionalProperties properties fields additionalProperties oneOf 1",
	} {
		at := any(root)
		for _, step := range strings.Fields(path) {
			if list, ok := at.([]any); ok {
				i, _ := strconv.Atoi(step)
				at = list[i]
			} else {
				at = at.(map[string]any)[step]
			}
		}
		described := slices.Sorted(maps.Keys(at.(map[string]any)["properties"].(map[string]any)))
		_, list := ParseDefinition("game", []byte(strings.Replace(text, "X", stranger, 1)))
		_, keys, ok := strings.Cut(list.Error(), "its keys: ")
		if !ok {
			t.Errorf("%s: %v", text, list)
			continue
		}
		keys, _, _ = strings.Cut(keys, "\n")
		known := strings.Split(keys, ", ")
		slices.Sort(known)
		if !slices.Equal(known, described) {
			t.Errorf("%s: the loader knows %v, the schema %v", text, known, described)
		}
	}
}
