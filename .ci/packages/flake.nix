# A Nix flake, to be put at the top of the repository. `make dist` fills in the version. Nix itself tells vendorHash: build
# once with lib.fakeHash and copy what it prints.
{
  description = "Several AI coding CLIs at once on one repository";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
    in {
      packages = each (pkgs: {
        default = pkgs.buildGoModule {
          pname = "paw";
          version = "@VERSION@";
          src = self;
          vendorHash = pkgs.lib.fakeHash;
          subPackages = [ "cmd/paw" ];
          env.CGO_ENABLED = 0;
          tags = [ "nethttpomithttp2" ];
          ldflags = [ "-s" "-w" "-X main.version=@VERSION@" ];
          nativeBuildInputs = [ pkgs.installShellFiles ]; # git and tmux are those on the PATH
          doCheck = false; # the tests need git and tmux servers of their own
          postInstall = ''
            sh .ci/share $TMPDIR/share "-X main.version=@VERSION@"
            installManPage $TMPDIR/share/man/man[17]/*
            installShellCompletion --bash --name paw $TMPDIR/share/bash-completion/completions/paw
            installShellCompletion --zsh --name _paw $TMPDIR/share/zsh/site-functions/_paw
            installShellCompletion --zsh --name _git-paw $TMPDIR/share/zsh/site-functions/_git-paw
            installShellCompletion --fish --name paw.fish $TMPDIR/share/fish/vendor_completions.d/paw.fish
            ln -s paw $out/bin/git-paw
          '';
          meta = { license = pkgs.lib.licenses.mit; mainProgram = "paw"; };
        };
      });
    };
}
