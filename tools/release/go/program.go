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

// Program returns the path of this module's program for the platform, or "" if the module has none. The first call of a
// version writes the program to the user's cache folder.
func Program() (string, error) {
	if len(embedded) == 0 {
		return "", nil
	}
	folder, err := os.UserCacheDir()
	if err != nil { // there is no home directory
		folder = os.TempDir()
	}
	folder = filepath.Join(folder, fmt.Sprintf("mock-gateway-%d", os.Getuid()))
	sum := sha256.Sum256(embedded)
	path := filepath.Join(folder, "mock-gateway-"+hex.EncodeToString(sum[:8]))
	// An existing file may be someone else's: it is used only if its bytes are the same.
	if there, err := os.ReadFile(path); err == nil && sha256.Sum256(there) == sum {
		return path, nil
	}
	if err := write(folder, path); err != nil {
		return "", fmt.Errorf("cannot write the program mock-gateway: %w. Set MOCK_GATEWAY_BIN to one that is there", err)
	}
	return path, nil
}

// write creates the program atomically, so that no process runs half of it.
func write(folder, path string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	// A process started meanwhile would inherit the file open for writing, and running it would fail.
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
