package run

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/taint-manager/taint-manager/cli/usage"
	"github.com/taint-manager/taint-manager/config"
)

// fileSettings returns all settings that the configuration file may have.
func (s *settings) fileSettings() []config.Setting { return append(s.Settings(), s.others...) }

// load reads the configuration file, except the settings whose flags are given.
func (s *settings) load(stdin io.Reader, given func(flag string) bool) error {
	if s.configFile == "" {
		return nil
	}
	data, err := readConfigFile(s.configFile, stdin)
	if err != nil {
		return err
	}
	_, file, err := decodeConfig(s.configFile, data)
	if err != nil {
		return usage.Wrap(err)
	}
	_, _ = config.Decode(s.configFile, data, s.fileSettings, given) // it was accepted above
	s.take(s.configFile, data, file, given)
	return nil
}

// ReadConfig reads a configuration file, or the standard input for -, and returns the settings that result from the file
// alone, and its other content. The error has all refusals.
func ReadConfig(name string, stdin io.Reader) (config.Configuration, *config.File, error) {
	data, err := readConfigFile(name, stdin)
	if err != nil {
		return config.Configuration{}, nil, err
	}
	s, file, err := decodeConfig(name, data)
	if err != nil {
		return config.Configuration{}, nil, err
	}
	return s.Configuration, file, nil
}

// decodeConfig returns the settings that result from the file alone, and its other content.
func decodeConfig(name string, data []byte) (*settings, *config.File, error) {
	s := defaultSettings()
	s.flags()
	file, refusals := config.Decode(name, data, s.fileSettings, func(string) bool { return false })
	errs := asErrors(refusals)
	if file != nil { // otherwise nothing of it could be read
		errs = append(errs, refusedComponents(s, file)...)
	}
	if len(errs) > 0 {
		return nil, nil, errors.Join(errs...)
	}
	return s, file, nil
}

// refusedComponents returns the refusals of the settings that config.Decode does not check, by their fields.
func refusedComponents(s *settings, file *config.File) []error {
	errs := s.componentRefusals()
	for i, err := range errs {
		if r, ok := errors.AsType[config.Refusal](err); ok && r.Flag != "" {
			errs[i] = file.Refusal(r)
		}
	}
	return errs
}

// readConfigFile reads a file, or the standard input for -, up to the maximum size.
func readConfigFile(name string, stdin io.Reader) ([]byte, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("the configuration file can't be read: %w; name another one, or write one with 'taint-manager config defaults'", err)
		}
		defer file.Close()
		from = file
	}
	data, err := io.ReadAll(io.LimitReader(from, config.MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("the configuration file can't be read: %w; check the path", err)
	}
	return data, nil
}

func asErrors(refusals []config.Refusal) []error {
	errs := make([]error, len(refusals))
	for i, r := range refusals {
		errs[i] = r
	}
	return errs
}
