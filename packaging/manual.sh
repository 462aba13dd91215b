#!/usr/bin/env bash
# usage: packaging/manual.sh PROGRAM SECTION   prints a manual page of what `PROGRAM --help` says
set -euo pipefail
name=$(basename "$1")
help=$("$1" --help | sed 's/\\/\\\\/g; s/^\([.'"'"']\)/\\\&\1/; s/-/\\-/g')
summary=$("$1" --help | sed -n '1s/^[^:]*: *//p' | sed 's/-/\\-/g')
cat <<PAGE
.TH ${name^^} $2
.SH NAME
$name \\- ${summary:-real\\-time messaging}
.SH DESCRIPTION
.nf
$help
.fi
.SH SEE ALSO
/usr/share/doc/heliograph
PAGE
