package journal

import (
	"context"
	"time"
)

// samples is how long the last calls of a tool took.
type samples struct {
	tool    string
	lengths []time.Duration // 256 at most, the oldest first
}

// The statements that add durations of a tool, those of one run at once, and drop what is too many.
const (
	addDurations = `INSERT INTO durations (tool, number, length)
		SELECT ?1, (SELECT coalesce(max(number), 0) FROM durations WHERE tool = ?1) + key + 1, value FROM json_each(?2)`

	dropDurations = `DELETE FROM durations WHERE tool = ?1 AND number <= (SELECT max(number) FROM durations WHERE tool = ?1) - ?2`
)

// writeSamples adds durations, and drops those that are too many.
func writeSamples(tx *tx, all []samples) error {
	for _, s := range all {
		lengths, err := encode(s.lengths)
		if err != nil {
			return err
		}
		if _, err := tx.exec(addDurations, s.tool, lengths); err != nil {
			return err
		}
		if _, err := tx.exec(dropDurations, s.tool, maxSamples); err != nil {
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
