#!/usr/bin/env bash
# usage: Clients/web/pack.sh FOLDER     puts the web client's packages there, as npm installs and publishes them
#
#   heliograph-VERSION.tgz            the client with its modules, and agora-rtm beside them
#   heliograph-agora-rtm-VERSION.tgz  the API of agora-rtm 2.x alone, to be installed by the vendor's name, so that no import changes
#
# It needs npm and Python, and no network.
set -euo pipefail
mkdir -p "$1"
folder=$(realpath "$1")
cd "$(dirname "$0")"
pack() { npm pack --offline --silent --pack-destination "$folder"; }
pack

copy=$(mktemp -d)
trap 'rm -r "$copy"' EXIT
cp -r src bundle.py README.md "$copy"
cp ../../LICENSE "$copy"
rm "$copy"/src/{index,presence,storage,locks,history,pacing,once,streams,encryption,codes}.d.ts
cp src/index.d.ts "$copy/src"
# Its entry is the API of agora-rtm, and it has neither the other modules' entries nor the sample.
node --input-type=commonjs - package.json "$copy/package.json" <<'END'
const { readFileSync, writeFileSync } = require('node:fs');
const [from, to] = process.argv.slice(2);
const { exports, typesVersions, scripts, ...described } = JSON.parse(readFileSync(from));
const { types, default: entry } = exports['./agora-rtm'];
const facade = { types, require: './dist/agora-rtm.cjs', default: entry };
const package = {
  ...described,
  name: `${described.name}-agora-rtm`,
  description: 'The API of agora-rtm 2.x over the client of Heliograph, a self-hosted real-time messaging system',
  // The vendor's package has these two in its folder: programs name the one, and builds copy the other beside a page.
  exports: { '.': facade, './agora-rtm': facade, './agora-rtm.js': facade, './package.json': './package.json' },
  types,
  typesVersions: { '*': { 'agora-rtm': [types] } },
  unpkg: './agora-rtm.js',
  jsdelivr: './agora-rtm.js',
  files: ['src', 'agora-rtm.js', 'dist/agora-rtm.cjs', 'LICENSE'],
};
writeFileSync(to, `${JSON.stringify(package, null, 2)}\n`);
END
cd "$copy"
"$OLDPWD/bundle.py" dist
mv dist/agora-rtm.js .
pack
