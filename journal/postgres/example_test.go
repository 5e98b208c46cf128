package postgres_test

import (
	"fmt"

	"github.com/plc-lang/plc/journal/postgres"
)

// What is shown of a URL has no password.
func ExampleName() {
	fmt.Println(postgres.Name("postgres://plc:secret@db.example:5432/plc?sslmode=verify-full"))
	// Output: postgres://plc@db.example:5432/plc
}
