package sim

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/orwl/go-orwl/net/rma/model"
)

// machinesFile has the described machines: each figure, and where it comes from.
//
//go:embed machines.json
var machinesFile []byte

// MachinesHash is the hash of the figures of all described machines. Print it beside a
// comparison: the figures stand before the result.
func MachinesHash() string {
	hash := sha256.Sum256(machinesFile)
	return hex.EncodeToString(hash[:6])
}

// Machine is a described machine.
type Machine struct {
	Model   model.Model `json:"model"`
	Figures []Origin    `json:"figures"`
}

// Origin says where figures of a machine come from.
type Origin struct {
	Figure string `json:"figure"`
	Grade  string `json:"grade"` // published, recalled, derived or assumed
	Source string `json:"source"`
}

// Described are the described machines with the sources of their figures.
func Described() []Machine {
	var file struct {
		About    string
		Machines []Machine
	}
	decoder := json.NewDecoder(bytes.NewReader(machinesFile))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		panic(fmt.Sprintf("sim: machines.json: %v", err))
	}
	return file.Machines
}

// Machines are the models of the described machines. Use them to compare algorithms with
// each other.
func Machines() []model.Model {
	var models []model.Model
	for _, m := range Described() {
		models = append(models, m.Model)
	}
	return models
}

// MachineByName finds a described machine.
func MachineByName(name string) (model.Model, error) {
	var known []string
	for _, m := range Machines() {
		if strings.EqualFold(m.Name, name) {
			return m, nil
		}
		known = append(known, m.Name)
	}
	return model.Model{}, fmt.Errorf("sim: no machine %q: known are %s", name, strings.Join(known, ", "))
}
