# A Homebrew formula. `make dist` fills in the version and the sums; the address is that of the first release.
class Paw < Formula
  desc "Several AI coding CLIs at once on one repository"
  homepage "@URL@"
  version "@VERSION@"
  license "MIT"

  depends_on "git"
  depends_on "tmux"

  on_macos do
    on_arm do
      url "@URL@/paw_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@DARWIN_ARM64@"
    end
    on_intel do
      url "@URL@/paw_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@DARWIN_AMD64@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/paw_@VERSION@_linux_arm64.tar.gz"
      sha256 "@LINUX_ARM64@"
    end
    on_intel do
      url "@URL@/paw_@VERSION@_linux_amd64.tar.gz"
      sha256 "@LINUX_AMD64@"
    end
  end

  def install
    bin.install "bin/paw"
    bin.install_symlink bin/"paw" => "git-paw"
    man1.install Dir["share/man/man1/*"]
    man7.install Dir["share/man/man7/*"]
    bash_completion.install "share/bash-completion/completions/paw"
    bash_completion.install_symlink bash_completion/"paw" => "git-paw"
    zsh_completion.install Dir["share/zsh/site-functions/*"]
    fish_completion.install "share/fish/vendor_completions.d/paw.fish"
    doc.install Dir["share/doc/paw/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/paw version")
  end
end
