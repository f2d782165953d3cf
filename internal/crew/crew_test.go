package crew

import (
	"os"
	"os/signal"
	"testing"
)

const part = "ORWL_CREW_TEST_PART"

func TestMain(m *testing.M) {
	switch os.Getenv(part) {
	case "":
		os.Exit(m.Run())
	case "ends":
		os.Exit(0)
	case "fails":
		os.Exit(7)
	case "stays":
		ended := make(chan os.Signal, 1)
		signal.Notify(ended, os.Interrupt)
		<-ended
	}
}

func TestCrew(t *testing.T) {
	var others Crew
	hire := func(does string) {
		t.Helper()
		if err := others.Hire([]string{part + "=" + does}); err != nil {
			t.Fatal(err)
		}
	}
	hire("ends")
	hire("ends")
	if err := others.Wait(); err != nil || len(others) != 0 {
		t.Errorf("after processes that end well: %v, %d left", err, len(others))
	}
	hire("fails")
	if err := others.Wait(); err == nil {
		t.Error("a process that fails is not noticed")
	}
	others = nil
	hire("stays")
	stays := others[0]
	others.Dismiss()
	if stays.ProcessState == nil {
		t.Error("a process that stays was not waited for")
	}
}
