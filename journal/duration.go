package journal

import (
	"context"
	"time"
)

// sample is how long a call of a tool took.
type sample struct {
	tool   string
	length time.Duration
}

// writeSamples adds durations, and drops those that are too many.
func writeSamples(tx *tx, samples []sample) error {
	for i, s := range samples {
		if _, err := tx.exec("INSERT INTO durations (tool, number, length) SELECT ?1, coalesce(max(number), 0) + 1, ?2 FROM durations WHERE tool = ?1",
			s.tool, int64(s.length)); err != nil {
			return err
		}
		if i+1 < len(samples) && samples[i+1].tool == s.tool {
			continue
		}
		if _, err := tx.exec("DELETE FROM durations WHERE tool = ?1 AND number <= (SELECT max(number) FROM durations WHERE tool = ?1) - ?2",
			s.tool, maxSamples); err != nil {
			return err
		}
	}
	return nil
}

// Durations are how long the last calls of a tool took that gave a result, the oldest
// first, 256 at most. They are added when a run pauses, ends or is closed.
func (s *Store) Durations(tool string) ([]time.Duration, error) {
	rows, err := s.readers.QueryContext(context.Background(), "SELECT length FROM durations WHERE tool = ? ORDER BY number", tool)
	if err != nil {
		return nil, s.fault(err)
	}
	defer rows.Close()
	var all []time.Duration
	for rows.Next() {
		var d int64
		if err := rows.Scan(&d); err != nil {
			return nil, s.fault(err)
		}
		all = append(all, time.Duration(d))
	}
	return all, s.fault(rows.Err())
}
