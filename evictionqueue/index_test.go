package evictionqueue

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// numbered reports whether a number's key is this one: here, keys are the numbers' digits.
func numbered(key string) func(int32) bool {
	return func(n int32) bool { return fmt.Sprint(n%1000) == key }
}

func TestIndexDoesWhatAMapDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x index
		twin := map[string]int32{}
		t.Repeat(map[string]func(*rapid.T){
			"add or remove": func(t *rapid.T) {
				n := rapid.Int32Range(0, 200).Draw(t, "n")
				key := fmt.Sprint(n)
				if there, ok := twin[key]; ok {
					x.remove(key, there)
					delete(twin, key)
				} else {
					x.add(key, n)
					twin[key] = n
				}
			},
			"move": func(t *rapid.T) {
				for key, n := range twin {
					x.move(key, n, n+1000)
					twin[key] = n + 1000
					break
				}
			},
			"": func(t *rapid.T) {
				for n := range int32(201) {
					key := fmt.Sprint(n)
					want, there := twin[key]
					got, ok := x.find(key, numbered(key))
					if got != want || ok != there {
						t.Fatalf("%q is %d, %v, want %d, %v", key, got, ok, want, there)
					}
				}
			},
		})
	})
}

func TestIndexTellsKeysOfTheSameHashApart(t *testing.T) {
	var x index
	x.add("1", 1)
	hash := x.hash("2")
	x.put(cell{hash, 4 + 1}) // as if the key of 4 had the hash of "2"
	x.put(cell{hash, 2 + 1})
	x.used = 3
	if n, ok := x.find("2", numbered("2")); !ok || n != 2 {
		t.Fatalf("found %d, %v, want 2", n, ok)
	}
	x.remove("2", 4)
	if n, ok := x.find("2", numbered("2")); !ok || n != 2 {
		t.Fatalf("found %d, %v, want 2", n, ok)
	}
}
