package cel

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// unlike says that a value can't become one of another type.
func unlike(v any, to string) error {
	return fmt.Errorf("no %s can be made of this %s", to, typeWords(nameOf(v)))
}

// parsed returns what was read of a text.
func parsed[T any](v T, err error, text any, to string) (any, error) {
	if err != nil {
		return nil, unlike(text, to)
	}
	return v, nil
}

func toBool(_ *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case bool:
		return v, nil
	case string:
		b, err := strconv.ParseBool(v)
		return parsed(b, err, v, "bool")
	}
	return nil, errOverload
}

func toBytes(_ *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case octets:
		return v, nil
	case string:
		return octets(v), nil
	}
	return nil, errOverload
}

func toDoubleValue(_ *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case int64, uint64, float64:
		return toFloat(v), nil
	case string:
		d, err := strconv.ParseFloat(v, 64)
		return parsed(d, err, v, "double")
	}
	return nil, errOverload
}

func toDuration(_ *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case time.Duration:
		return v, nil
	case string:
		d, err := time.ParseDuration(v)
		return parsed(d, err, v, "duration")
	}
	return nil, errOverload
}

func toInt(_ *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case int64:
		return v, nil
	case uint64:
		return checked(int64(v), v <= math.MaxInt64, errInt)
	case float64:
		return checked(int64(v), v > math.MinInt64 && v < math.MaxInt64, errInt)
	case string:
		i, err := strconv.ParseInt(v, 10, 64)
		return parsed(i, err, v, "int")
	case time.Time:
		return v.Unix(), nil
	case time.Duration:
		return int64(v), nil
	}
	return nil, errOverload
}

func toUint(_ *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case uint64:
		return v, nil
	case int64:
		return checked(uint64(v), v >= 0, errUint)
	case float64:
		return checked(uint64(v), v >= 0 && v < 1<<64, errUint)
	case string:
		u, err := strconv.ParseUint(v, 10, 64)
		return parsed(u, err, v, "uint")
	}
	return nil, errOverload
}

func toString(_ *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case uint64:
		return strconv.FormatUint(v, 10), nil
	case float64:
		return fmt.Sprintf("%g", v), nil
	case octets:
		if !utf8.ValidString(string(v)) {
			return nil, unlike(v, "string")
		}
		return string(v), nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case time.Duration:
		return strconv.FormatFloat(v.Seconds(), 'f', -1, 64) + "s", nil
	}
	return nil, errOverload
}

// strictTime matches the times of RFC 3339. The function time.Parse takes others too.
var strictTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

func toTimestamp(_ *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case time.Time:
		return v, nil
	case string:
		if !strictTime.MatchString(v) {
			return nil, fmt.Errorf("%q is no time as in RFC 3339", v)
		}
		t, err := time.Parse(time.RFC3339, v)
		if err != nil {
			return nil, fmt.Errorf("%q is no time as in RFC 3339", v)
		}
		return inRange(t)
	case int64:
		if v < firstSecond || v > lastSecond {
			return nil, errTimestamp
		}
		return time.Unix(v, 0).UTC(), nil
	}
	return nil, errOverload
}

// timePart evaluates the methods that return a part of a timestamp, in UTC, or of a duration.
func timePart(_ *frame, n *node, args []any) (any, error) {
	part := strings.TrimPrefix(n.name, "get")
	switch v := args[0].(type) {
	case time.Duration:
		switch part {
		case "Hours":
			return int64(v.Hours()), nil
		case "Minutes":
			return int64(v.Minutes()), nil
		case "Seconds":
			return int64(v.Seconds()), nil
		case "Milliseconds":
			return v.Milliseconds(), nil
		}
	case time.Time:
		return int64(partOf(v.UTC(), part)), nil
	}
	return nil, errOverload
}

func partOf(t time.Time, part string) int {
	switch part {
	case "Date":
		return t.Day()
	case "DayOfMonth":
		return t.Day() - 1
	case "DayOfWeek":
		return int(t.Weekday())
	case "DayOfYear":
		return t.YearDay() - 1
	case "FullYear":
		return t.Year()
	case "Month":
		return int(t.Month()) - 1
	case "Hours":
		return t.Hour()
	case "Minutes":
		return t.Minute()
	case "Seconds":
		return t.Second()
	}
	return t.Nanosecond() / 1e6
}
