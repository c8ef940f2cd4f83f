package run

import (
	"fmt"

	"github.com/go-logr/logr"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/config"
)

// reread returns the settings that the process would start with if the file had this content. Flags that were given
// keep their values.
func (s *settings) reread(data []byte) (*settings, *config.File, error) {
	_, file, err := decodeConfig(s.configFile, data)
	if err != nil {
		return nil, nil, err
	}
	next := defaultSettings()
	next.flags()
	_, _ = config.Decode(s.configFile, data, next.fileSettings, s.given) // it was accepted above
	for i, was := range s.fileSettings() {
		if s.given(was.Flag) {
			if err := next.fileSettings()[i].CopyFrom(was); err != nil {
				return nil, nil, fmt.Errorf("keeping the flag --%s: %w", was.Flag, err)
			}
		}
	}
	next.take(s.configFile, data, file, s.given)
	next.complete(s.given)
	return next, file, next.validate()
}

// take keeps the content of the file that is not in the settings' values.
func (s *settings) take(name string, data []byte, file *config.File, given func(flag string) bool) {
	s.configFile, s.content, s.given = name, data, given
	s.policies, s.guards = file.Policies, file.Guards
	for _, setting := range s.fileSettings() {
		if file.Set[setting.Flag] > 0 && given(setting.Flag) {
			s.overridden = append(s.overridden, setting.Flag)
		}
	}
}

// replaceable returns the part of the settings that a running manager takes in.
func (s *settings) replaceable() taintmanager.Policies {
	return taintmanager.Policies{
		Policies: s.policies, Guards: s.guards, Method: s.EvictionMethod, Rules: s.Rules(), Paused: s.Paused, Workers: s.EvictionWorkers,
	}
}

// permissions returns the permissions that the settings require.
func (s *settings) permissions() []permission { return needed(s.Configuration, s.policies) }

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
		lines = append(lines, fmt.Sprintf("%s: %s=%q needs a restart; %q stays in force", where, is[i].Field, is[i].Text(), was[i].Text()))
	}
	return lines
}
