package run

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"

	"github.com/taint-manager/taint-manager/cli/flags"
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
	if _, err := s.apply(data, given); err != nil {
		return flags.UsageError{Err: err}
	}
	return nil
}

// reread returns the settings that the process would start with if the file had this content. Flags that were given
// keep their values.
func (s *settings) reread(data []byte) (*settings, *config.File, error) {
	next := defaultSettings()
	next.flags()
	next.configFile = s.configFile
	file, err := next.apply(data, s.given)
	if err != nil {
		return nil, nil, err
	}
	for i, was := range s.fileSettings() {
		if s.given(was.Flag) {
			if err := next.fileSettings()[i].CopyFrom(was); err != nil {
				return nil, nil, fmt.Errorf("keeping the flag --%s: %w", was.Flag, err)
			}
		}
	}
	next.complete(s.given)
	return next, file, next.validate()
}

// apply sets what the content of the configuration file sets, except the settings whose flags are given. It sets
// nothing if the content is refused.
func (s *settings) apply(data []byte, given func(flag string) bool) (*config.File, error) {
	_, file, err := decodeConfig(s.configFile, data)
	if err != nil {
		return nil, err
	}
	_, _ = config.Decode(s.configFile, data, s.fileSettings, given) // it was accepted above
	s.content, s.given = data, given
	s.policies, s.guards = file.Policies, file.Guards
	for _, setting := range s.fileSettings() {
		if file.Set[setting.Flag] > 0 && given(setting.Flag) {
			s.overridden = append(s.overridden, setting.Flag)
		}
	}
	return file, nil
}

// warn logs the consequences of the policies and guards that their author may not want, and the flags that win over the
// file.
func (s *settings) warn(logger logr.Logger) {
	for _, flag := range s.overridden {
		logger.Info("The flag wins over the configuration file", "flag", "--"+flag, "configFile", s.configFile)
	}
	for _, w := range warnings(s, &config.File{Policies: s.policies, Guards: s.guards}) {
		logger.Info("A warning about the configuration file", "configFile", s.configFile, "warning", w.String())
	}
}

// needRestart returns the fields that a process with these settings does not take in, each with its value in the file
// and the one in force.
func (s *settings) needRestart(next *settings, file *config.File) (lines []string) {
	was, is := s.fileSettings(), next.fileSettings()
	for i := range is {
		if is[i].Live || s.given(is[i].Flag) || is[i].Text() == was[i].Text() {
			continue
		}
		where := s.configFile
		if line := file.Set[is[i].Flag]; line > 0 {
			where = fmt.Sprintf("%s:%d", where, line)
		}
		lines = append(lines, fmt.Sprintf("%s: %s=%q needs a restart; %q stays in force", where, is[i].Field,
			is[i].Text(), was[i].Text()))
	}
	return lines
}

// ReadConfig reads a configuration file, or the standard input for -, and returns the settings that result from the
// file alone, and its other content. The error has all refusals.
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
