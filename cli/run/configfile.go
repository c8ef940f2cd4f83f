package run

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/policy"
)

// fileSettings returns all settings that the configuration file may have.
func (s *settings) fileSettings() []config.Setting { return append(s.Settings(), s.others...) }

// load takes in the configuration file, except the settings whose flags are given. It sets nothing if the file is
// refused.
func (s *settings) load(stdin io.Reader) error {
	if s.configFile == "" {
		return nil
	}
	data, err := readConfigFile(s.configFile, stdin)
	if err != nil {
		return err
	}
	decoded, err := decodeConfig(s.configFile, data)
	if err != nil {
		return flags.UsageError{Err: err}
	}
	s.content, s.File = data, decoded.File
	s.held = s.configFile != "-" && pausedBeside(s.configFile, false)
	return config.Copy(s.fileSettings(), decoded.fileSettings(), func(flag string) bool {
		return s.Set[flag] > 0 && !s.given(flag)
	})
}

// reread returns the settings that the process would start with if the file had this content. Flags that were given
// keep their values.
func (s *settings) reread(data []byte) (*settings, error) {
	next, err := decodeConfig(s.configFile, data)
	if err != nil {
		return nil, err
	}
	next.given = s.given
	if err := config.Copy(next.fileSettings(), s.fileSettings(), s.given); err != nil {
		return nil, err
	}
	next.complete()
	return next, next.validate()
}

// warnings returns the consequences of the policies and guards that their author may not want.
func (s *settings) warnings() []policy.Warning {
	c := policy.Config{Policies: s.Policies, Guards: s.Guards, Method: s.EvictionMethod.Policy(), Rules: s.Rules()}
	return c.Warnings()
}

// warn logs the warnings, and the flags that win over the file.
func (s *settings) warn(logger logr.Logger) {
	for _, setting := range s.fileSettings() {
		if s.Set[setting.Flag] > 0 && s.given(setting.Flag) {
			logger.Info("The flag wins over the configuration file", "flag", "--"+setting.Flag, "configFile",
				s.configFile)
		}
	}
	for _, w := range s.warnings() {
		logger.Info("A warning about the configuration file", "configFile", s.configFile, "warning", w.String())
	}
}

// needRestart logs the fields that a process with these settings does not take in, and returns their number.
func (s *settings) needRestart(logger logr.Logger, next *settings) (fields int) {
	was, is := s.fileSettings(), next.fileSettings()
	for i := range is {
		file, inForce := is[i].Value.String(), was[i].Value.String()
		if is[i].Live || s.given(is[i].Flag) || file == inForce {
			continue
		}
		fields++
		logger.Info("A field of the configuration file needs a restart", "configFile", s.configFile,
			"line", next.Set[is[i].Flag], "field", is[i].Field, "inFile", file, "inForce", inForce)
	}
	return fields
}

// ReadConfig reads a configuration file, or the standard input for -, and returns the settings that result from the
// file alone, and its other content. The error has all refusals.
func ReadConfig(name string, stdin io.Reader) (config.Configuration, *config.File, error) {
	s, err := readSettings(name, stdin)
	if err != nil {
		return config.Configuration{}, nil, err
	}
	return s.Configuration, s.File, nil
}

// readSettings returns the settings that result from a file alone.
func readSettings(name string, stdin io.Reader) (*settings, error) {
	data, err := readConfigFile(name, stdin)
	if err != nil {
		return nil, err
	}
	return decodeConfig(name, data)
}

// decodeConfig returns the settings that result from the content of a file alone.
func decodeConfig(name string, data []byte) (*settings, error) {
	s := newSettings()
	s.configFile, s.content = name, data
	file, refusals := config.Decode(name, data, s.fileSettings)
	errs := asErrors(refusals)
	if file == nil { // nothing of the content could be read
		return nil, errors.Join(errs...)
	}
	s.File = file
	for _, err := range s.componentRefusals() {
		if r, ok := errors.AsType[config.Refusal](err); ok && r.Flag != "" {
			err = file.Refusal(r)
		}
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
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
