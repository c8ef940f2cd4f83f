package journal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Config is the configuration in force. The leader publishes it before it acts on it.
type Config struct {
	Method   policy.Method   `json:"method"` // what happens to pods that no policy matches
	Policies []policy.Policy `json:"policies,omitempty"`
	Guards   policy.Guards   `json:"guards,omitzero"`
	Paused   bool            `json:"paused,omitempty"`

	MaxEvictionsPerSecond float64 `json:"maxEvictionsPerSecond,omitempty"` // 0: no limit
	NoComparison          bool    `json:"noComparison,omitempty"`          // Lt and Gt of tolerations match nothing
}

// Encode returns the stored form: equal configurations have equal forms. It returns an error if the form is larger than
// [MaxConfig].
func (c Config) Encode() ([]byte, error) {
	text, err := json.Marshal(c)
	if err == nil && len(text) > MaxConfig {
		err = fmt.Errorf("the configuration has %d bytes as JSON; at most %d can be published", len(text), MaxConfig)
	}
	return text, err
}

// Heartbeat is the JSON form of the entry [Head] of the state; that of a partition lacks Leader and Unstored.
type Heartbeat struct {
	Version  int       `json:"version"`
	Written  time.Time `json:"written"`            // by the writer's clock or, if that is ahead, the API server's
	Leader   string    `json:"leader,omitempty"`   // the identity of the writer
	Unstored []int     `json:"unstored,omitempty"` // the partitions whose latest records are not stored yet

	LastWatch
}

// LastWatch is when a process last watched the nodes, not when it last wrote: a heartbeat does not move it.
type LastWatch struct {
	// Watched is when the process's node watch last delivered a list, an event or a bookmark; zero if it never has. It
	// is on the process's monotonic clock or, where it is recorded, by the API server's clock, rounded down.
	Watched time.Time `json:"watched,omitzero"`
	Reached string    `json:"reached,omitempty"` // the resourceVersion up to which the process knew all nodes then
}

// State is the decoded manager-wide state.
type State struct {
	Heartbeat

	Guards json.RawMessage // as stored; empty if there is none
	Config *Config         // nil if there is none
}

// LastWatchOf returns when the last leader last watched the nodes of this partition: as of the partition's last write
// or, if the state is not older and says that all changes of the partition were stored, as of the state's last write.
func (s *State) LastWatchOf(number int, p *Partition) LastWatch {
	if slices.Contains(s.Unstored, number) || s.Watched.Before(p.Watched) {
		return p.LastWatch
	}
	return s.LastWatch
}

// DecodeState parses the data of the state. Without data, the state is empty: no leader has written it. It returns an
// error if the state is of an unknown format, or if its configuration can't be read; then Config is nil.
func DecodeState(data map[string]string) (s State, err error) {
	if len(data) == 0 {
		return State{}, nil
	}
	if s.Heartbeat, err = decodeHead(data); err != nil {
		return s, err
	}
	s.Guards = json.RawMessage(data[GuardsKey])
	if text, ok := data[ConfigKey]; ok {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields() // ignoring a rule would give a wrong answer
		if err := decoder.Decode(&s.Config); err != nil {
			s.Config = nil
			return s, fmt.Errorf("the entry %s can't be read: %w", ConfigKey, err)
		}
	}
	return s, nil
}

// decodeHead parses the entry [Head] of the data. If the version is unknown, it returns an error and a zero Heartbeat.
func decodeHead(data map[string]string) (h Heartbeat, err error) {
	if err := json.Unmarshal([]byte(data[Head]), &h); err != nil || h.Version != formatVersion {
		return Heartbeat{}, fmt.Errorf("its entry %s is %.80q, but only version %d is supported: it is neither used nor "+
			"overwritten; delete the ConfigMap to start with an empty one", Head, data[Head], formatVersion)
	}
	return h, nil
}

func (h Heartbeat) encode() string {
	h.Version = formatVersion
	text, _ := json.Marshal(h) // fails only for years that JSON cannot represent
	return string(text)
}

// EncodeState returns the stored form of the state; config is the result of [Config.Encode], or empty.
func EncodeState(h Heartbeat, guards json.RawMessage, config []byte) map[string]string {
	data := map[string]string{Head: h.encode(), GuardsKey: string(guards), ConfigKey: string(config)}
	maps.DeleteFunc(data, func(_, text string) bool { return text == "" })
	return data
}
