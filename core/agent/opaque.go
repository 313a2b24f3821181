package agent

import "encoding/json"

// sealedBy is how provider state is kept with a message: with the name of the provider that wrote
// it, because no other one may be sent it (a reasoning signature of one vendor is an error at
// another).
type sealedBy struct {
	Provider string          `json:"provider"`
	Data     json.RawMessage `json:"data"`
}

func sealOpaque(name string, data json.RawMessage) json.RawMessage {
	if len(data) == 0 || !json.Valid(data) {
		return nil
	}
	b, err := json.Marshal(sealedBy{name, data})
	if err != nil {
		return nil
	}
	return b
}

// opaqueFor returns the state if the provider called name wrote it.
func opaqueFor(name string, stored json.RawMessage) json.RawMessage {
	var s sealedBy
	if json.Unmarshal(stored, &s) != nil || s.Provider != name {
		return nil
	}
	return s.Data
}
