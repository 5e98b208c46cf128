package main

import (
	"context"
	"fmt"
)

type page struct {
	Page int `json:"page"`
}

// copyPage stands for work that takes long: it waits for the Enter key.
func copyPage(_ context.Context, in page) (string, error) {
	fmt.Printf("page %d: press Enter\n", in.Page)
	_, err := fmt.Scanln()
	if err != nil && err.Error() != "unexpected newline" {
		return "", err
	}
	return fmt.Sprintf("the text of page %d", in.Page), nil
}
