# The Homebrew formula of the program: installs the release's file for the platform, and the licenses of compiled-in
# libraries. tools/release/packages.sh fills in the version, the address and the checksums.
class MockGateway < Formula
  desc "Test double of an OpenAI-compatible model gateway"
  homepage "@HOME_URL@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    depends_on macos: :ventura

    on_arm do
      url "@HOME_URL@/mock-gateway-@VERSION@-macos-arm64"
      sha256 "@SHA256 mock-gateway-@VERSION@-macos-arm64@"
    end
    on_intel do
      url "@HOME_URL@/mock-gateway-@VERSION@-macos-x86_64"
      sha256 "@SHA256 mock-gateway-@VERSION@-macos-x86_64@"
    end
  end

  on_linux do
    on_arm do
      url "@HOME_URL@/mock-gateway-@VERSION@-linux-arm64"
      sha256 "@SHA256 mock-gateway-@VERSION@-linux-arm64@"
    end
    on_intel do
      url "@HOME_URL@/mock-gateway-@VERSION@-linux-x86_64"
      sha256 "@SHA256 mock-gateway-@VERSION@-linux-x86_64@"
    end
  end

  resource "licenses" do
    url "@HOME_URL@/LICENSES-OF-OTHERS"
    sha256 "@SHA256 LICENSES-OF-OTHERS@"
  end

  def install
    bin.install Dir["mock-gateway-*"].first => "mock-gateway"
    resource("licenses").stage { doc.install "LICENSES-OF-OTHERS" }
  end

  test do
    assert_equal "mock-gateway #{version}", shell_output("#{bin}/mock-gateway --version").strip
    ask = 'curl --noproxy "*" -sf -H "Authorization: Bearer $OPENAI_API_KEY" "$OPENAI_BASE_URL/models"'
    assert_match "mock-model", shell_output("#{bin}/mock-gateway run -- sh -c '#{ask}'")
  end
end
