package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// The statements that add durations of a tool, all those of a run at once, and that delete the
// oldest if there are too many.
const (
	lastDuration = "SELECT coalesce(max(number), 0) FROM durations WHERE tool = ?"

	addDurations = `INSERT INTO durations (tool, number, length, sum)
		SELECT ?1, ?2 + key + 1, value ->> 0, value ->> 1 FROM json_each(?3)`

	dropDurations = `DELETE FROM durations WHERE tool = ?1 AND number <= (SELECT max(number) FROM durations WHERE tool = ?1) - ?2`
)

// writeSamples adds durations, and deletes the oldest if there are too many.
func writeSamples(tx *tx, all []record.Samples) error {
	for _, s := range all {
		var last int64
		if err := tx.conn.QueryRowContext(tx.ctx, lastDuration, s.Tool).Scan(&last); err != nil {
			return err
		}
		rows := make([][2]int64, len(s.Lengths))
		for i, d := range s.Lengths {
			rows[i] = [2]int64{int64(d), record.SumRow(s.Tool, last+int64(i)+1, int64(d))}
		}
		lengths, err := record.Encode(rows)
		if err != nil {
			return err
		}
		if _, err := tx.exec(addDurations, s.Tool, last, lengths); err != nil {
			return err
		}
		if _, err := tx.exec(dropDurations, s.Tool, journal.MaxDurations); err != nil {
			return err
		}
	}
	return nil
}

// Durations implements journal.Store.
func (s *Store) Durations(ctx context.Context, tool string) ([]time.Duration, error) {
	rows, err := s.readers.QueryContext(ctx, "SELECT tool, number, length, sum FROM durations WHERE tool = ? ORDER BY number", tool)
	if err != nil {
		return nil, s.fault(err)
	}
	defer rows.Close()
	var all []time.Duration
	for rows.Next() {
		values, err := scanValues(4, rows.Scan)
		if err == nil {
			err = record.CheckRow(fmt.Sprintf("how long a call of %q took", tool), values)
		}
		var d int64
		if err == nil {
			err = record.Assign(&d, values[2])
		}
		if err != nil {
			return nil, s.fault(err)
		}
		all = append(all, time.Duration(d))
	}
	return all, s.fault(rows.Err())
}
