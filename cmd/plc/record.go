package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"
)

// folderFlag is what the record of a loop calls the folder in which it was begun.
const folderFlag = "folder"

// ofInvocation are flags that say what one process tells of a run, and not how it runs.
func ofInvocation(flag string) bool {
	switch flag {
	case "format", "yes", "approval", "events", "results", "store", "expect", "expect-within", "strict", "branch", "help":
		return true
	case "tools-from": // the record has it with the files
		return true
	}
	return false
}

// recordedFlags are the flags that were given, as the record has them: lists as JSON.
func recordedFlags(fl *pflag.FlagSet) (map[string]string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("can't tell the current folder: %w", err)
	}
	flags := map[string]string{folderFlag: folder}
	fl.Visit(func(f *pflag.Flag) {
		if ofInvocation(f.Name) {
			return
		}
		if l, ok := f.Value.(pflag.SliceValue); ok {
			flags[f.Name] = string(encoded(l.GetSlice()))
		} else {
			flags[f.Name] = f.Value.String()
		}
	})
	return flags, nil
}

// setFlags gives flags as the record has them; those of other versions are refused.
func setFlags(fl *pflag.FlagSet, flags map[string]string) error {
	for name, value := range flags {
		if name == folderFlag {
			continue
		}
		f := fl.Lookup(name)
		if f == nil {
			return fmt.Errorf("the run was begun with --%s, which this version does not have; go on with the version that began it", name)
		}
		l, ok := f.Value.(pflag.SliceValue)
		if !ok {
			if err := fl.Set(name, value); err != nil {
				return err
			}
			continue
		}
		var list []string
		err := json.Unmarshal([]byte(value), &list)
		if err = errors.Join(err, l.Replace(list)); err != nil {
			return fmt.Errorf("the record of the run is broken: --%s: %w", name, err)
		}
		f.Changed = true
	}
	return nil
}

// absolute makes names of files hold in another folder.
func absolute(names ...*string) error {
	for _, name := range names {
		if *name == "" || *name == "-" {
			continue
		}
		abs, err := filepath.Abs(*name)
		if err != nil {
			return err
		}
		*name = abs
	}
	return nil
}
