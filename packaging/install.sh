#!/usr/bin/env bash
# usage: packaging/install.sh PROGRAMS DESTDIR PREFIX   puts the executables of the folder PROGRAMS, the completions of
# shells and the units of systemd below DESTDIR/PREFIX (`make install`)
set -euo pipefail
programs=$1 prefix=$3
root=$2$3
cd "$(dirname "$0")/.."
install -d "$root"/{bin,lib/systemd/system/rtm-.service.d,lib/sysusers.d,lib/tmpfiles.d} \
    "$root"/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
for program in $(cat packaging/programs); do install "$programs/$program" "$root/bin"; done
# bash reads it, nobody runs it.
"$programs/rtm" --generate-completion-script bash | sed '1{/^#!/d}' >"$root/share/bash-completion/completions/rtm"
"$programs/rtm" --generate-completion-script zsh >"$root/share/zsh/site-functions/_rtm"
"$programs/rtm" --generate-completion-script fish >"$root/share/fish/vendor_completions.d/rtm.fish"
for unit in packaging/systemd/*.service; do
    sed "s|^ExecStart=/usr/bin/|ExecStart=$prefix/bin/|" "$unit" >"$root/lib/systemd/system/$(basename "$unit")"
done
install -m 0644 packaging/systemd/rtm-.service.d/heliograph.conf "$root/lib/systemd/system/rtm-.service.d"
install -m 0644 packaging/sysusers.d/heliograph.conf "$root/lib/sysusers.d"
install -m 0644 packaging/tmpfiles.d/heliograph.conf "$root/lib/tmpfiles.d"
