// Ory Kratos, which its module builds no other way than in a copy of its repository: its go.mod has replacements.
package main

import (
	"os"

	"github.com/ory/kratos/cmd"
)

func main() {
	os.Exit(cmd.Execute())
}
