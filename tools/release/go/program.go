package mockgateway

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

func init() { programOfModule = Program }

// Program gives the file of the program that this module carries for the platform; empty where it carries none. The
// first call of a version writes it into the user's folder of caches.
func Program() (string, error) {
	if len(embedded) == 0 {
		return "", nil
	}
	folder, err := os.UserCacheDir()
	if err != nil { // there is no home
		folder = os.TempDir()
	}
	folder = filepath.Join(folder, fmt.Sprintf("mock-gateway-%d", os.Getuid()))
	sum := sha256.Sum256(embedded)
	path := filepath.Join(folder, "mock-gateway-"+hex.EncodeToString(sum[:8]))
	// What is there may be another's: only the same bytes are run.
	if there, err := os.ReadFile(path); err == nil && sha256.Sum256(there) == sum {
		return path, nil
	}
	if err := write(folder, path); err != nil {
		return "", fmt.Errorf("cannot write the program mock-gateway: %w. Set MOCK_GATEWAY_BIN to one that is there", err)
	}
	return path, nil
}

// write puts the program there at once, so that nobody runs half of it.
func write(folder, path string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	// A process that is started meanwhile would have the file open for writing, and nobody could run it.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	file, err := os.CreateTemp(folder, "new-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if _, err = file.Write(embedded); err == nil {
		err = file.Chmod(0o755)
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
