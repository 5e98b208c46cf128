package plc

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
)

// isCSV reports whether the name of a file is that of a table, as some data sets are.
func isCSV(name string) bool { return strings.EqualFold(filepath.Ext(name), ".csv") }

// planRows yields the plans of a table with one plan in each row, in the first of the fields that
// is a column. The places of findings are in the table.
func planRows(src *diag.File, name string, fields []string) (iter.Seq[*ListedPlan], error) {
	text := bytes.TrimPrefix(src.Text, []byte("\ufeff"))
	rows := &table{src: src, Reader: csv.NewReader(bytes.NewReader(text)), at: 1, start: len(src.Text) - len(text)}
	header, err := rows.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s has no column with plans: it is empty", name)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	column := slices.IndexFunc(fields, func(f string) bool { return slices.Contains(header, f) })
	if column < 0 {
		return nil, fmt.Errorf("%s has no column with plans: %s", name, columnsOf(fields))
	}
	column = slices.Index(header, fields[column])
	id := slices.IndexFunc(header, func(c string) bool { return slices.Contains(recordIDs(), c) })
	return func(yield func(*ListedPlan) bool) {
		for {
			row, err := rows.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			p := &ListedPlan{Name: name}
			if err != nil {
				p.Err = fmt.Errorf("%s: %w", name, err)
			} else {
				p.File = rows.cell(column, row[column])
				p.Line, _ = rows.FieldPos(0)
			}
			if err == nil && id >= 0 {
				p.ID, _ = json.Marshal(row[id]) // a string can always be encoded
			}
			if !yield(p) || err != nil && !errors.Is(err, csv.ErrFieldCount) {
				return
			}
		}
	}, nil
}

// columnsOf returns a text that says which columns may hold plans.
func columnsOf(fields []string) string {
	if len(fields) == 0 {
		return "tables are read with --from of a notation that is no JSON"
	}
	return "one is called " + strings.Join(fields, " or ")
}

// table reads a table, and knows the offsets of its cells.
type table struct {
	*csv.Reader
	src       *diag.File
	at, start int // a line, counted from 1, and where it starts
}

// offset returns the offset of a cell of the row that was read last. Rows must be read in order.
func (t *table) offset(field int) int {
	line, column := t.FieldPos(field)
	for t.at < line {
		t.start += bytes.IndexByte(t.src.Text[t.start:], '\n') + 1
		t.at++
	}
	return t.start + column - 1
}

// cell returns the text of a cell as a file of its own, whose places are mapped to the table.
func (t *table) cell(field int, text string) *diag.File {
	from := t.offset(field)
	raw := t.src.Text
	quoted := from < len(raw) && raw[from] == '"'
	if quoted {
		from++
	}
	start := from
	var pieces []diag.Piece
	for i := 0; i < len(text); {
		_, size := utf8.DecodeRuneInString(text[i:])
		wide := size // its length in the table
		switch {
		case quoted && text[i] == '"':
			wide = 2
		case text[i] == '\n' && raw[from] == '\r':
			wide = 2
		}
		piece := diag.Piece{
			At:   diag.Span{Start: int32(i), End: int32(i + size)},
			From: diag.Span{Start: int32(from), End: int32(from + wide)},
		}
		last := len(pieces) - 1
		switch {
		case wide > size:
			pieces = append(pieces, piece)
		case last >= 0 && pieces[last].Kind == diag.Words:
			pieces[last].At.End, pieces[last].From.End = piece.At.End, piece.From.End
		default:
			piece.Kind = diag.Words
			pieces = append(pieces, piece)
		}
		i, from = i+size, from+wide
	}
	whole := diag.Piece{
		At:   diag.Span{End: int32(len(text))},
		From: diag.Span{Start: int32(start), End: int32(from)},
	}
	return diag.NewDerived([]byte(text), t.src, append([]diag.Piece{whole}, pieces...))
}
