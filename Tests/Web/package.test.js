// The package as npm would publish it: what is in it, that it loads everywhere, what its types accept, its size.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runInThisContext } from 'node:vm';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { temporaryFolder } from './support/programs.js';

const folder = fileURLToPath(new URL('../../Clients/web/', import.meta.url));
const { exports, version } = JSON.parse(readFileSync(join(folder, 'package.json')));
const has = (program) => existsSync(`/usr/bin/${program}`);

/** A project of an app with both packages, which npm has installed without a network. */
const project = temporaryFolder();
const packages = join(project, 'packages');
execFileSync(join(folder, 'pack.sh'), [packages]);
writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
const [app, facade] = [`heliograph-${version}.tgz`, `heliograph-agora-rtm-${version}.tgz`].map((name) => join(packages, name));
const install = ['install', '--offline', '--silent', '--no-audit', '--no-fund', app, `agora-rtm@file:${facade}`];
execFileSync('npm', install, { cwd: project });

test('it is packed without a network, and every entry loads in a program that has neither window nor document', () => {
  const installed = join(project, 'node_modules/heliograph');
  for (const entry of Object.values(exports)) {
    for (const file of typeof entry === 'string' ? [entry] : Object.values(entry)) {
      assert.ok(existsSync(join(installed, file)), file);
    }
  }
  assert.ok(existsSync(join(installed, 'LICENSE')) && existsSync(join(installed, 'README.md')));
  for (const made of ['LICENSE', 'dist']) assert.ok(!existsSync(join(folder, made)), `${made} stays behind`);
  writeFileSync(
    join(project, 'program.mjs'),
    `import { RTMClient, RTMError } from 'heliograph';
     import { Presence } from 'heliograph/presence';
     import { Storage } from 'heliograph/storage';
     import { Locks } from 'heliograph/locks';
     import { History } from 'heliograph/history';
     import { Pacing } from 'heliograph/pacing';
     import { Once } from 'heliograph/once';
     import { StreamChannel } from 'heliograph/streams';
     import { Encryption } from 'heliograph/encryption';
     import { ErrorCode } from 'heliograph/codes';
     import AgoraRTM, { RTM } from 'heliograph/agora-rtm';
     if (AgoraRTM.RTM !== RTM || ErrorCode.notLogin !== -10002) throw new Error('not what it should be');
     const classes = [RTMClient, RTMError, Presence, Storage, Locks, History, Pacing, Once, StreamChannel, Encryption];
     for (const made of classes) if (typeof made !== 'function') throw new Error(made);
     if (!globalThis.WebSocket) try {
       new RTMClient({ server: 'ws://a', appId: 'a', userId: 'b' });
     } catch ({ code }) { console.log(code) }
     else console.log(-10024);`,
  );
  assert.equal(execFileSync('node', [join(project, 'program.mjs')], { encoding: 'utf8' }).trim(), '-10024');
});

test('installed by the vendor’s name it is what programs import from there, and brings its script', () => {
  const installed = join(project, 'node_modules/agora-rtm');
  for (const file of ['agora-rtm.js', 'dist/agora-rtm.cjs', 'src/agora-rtm.d.ts', 'LICENSE', 'README.md']) {
    assert.ok(existsSync(join(installed, file)), file);
  }
  const program = join(project, 'vendor.mjs');
  writeFileSync(
    program,
    `import AgoraRTM, * as all from 'agora-rtm';
     console.log(typeof AgoraRTM.RTM, all.RTMClient === AgoraRTM.RTM, Object.keys(all).sort().join(' '));`,
  );
  const names = 'BUILD ConstantsType RTM RTMBaseError RTMClient RTMHistory RTMLock RTMPresence RTMStorage RTMStreamChannel';
  const functions = 'getParameter processId setArea setParameter setServers';
  const shown = `function true ${names} RTMStreamChannelStatusCode VERSION constantsType default ${functions}`;
  assert.equal(execFileSync('node', [program], { encoding: 'utf8' }).trim(), shown);
  // Programs without modules, as test runners make them of those with some.
  const earlier = join(project, 'earlier.cjs');
  writeFileSync(
    earlier,
    `const AgoraRTM = require('agora-rtm');
     const { RTM, default: byDefault } = AgoraRTM;
     console.log(AgoraRTM.RTM === RTM, byDefault.RTM === RTM, Object.keys(byDefault).every((name) => name in AgoraRTM));`,
  );
  assert.equal(execFileSync('node', [earlier], { encoding: 'utf8' }).trim(), 'true true true');
});

test('programs and builds that name the files of the vendor’s package find them', () => {
  const deeper = join(project, 'deeper.mjs');
  writeFileSync(
    deeper,
    `import { createRequire } from 'node:module';
     import AgoraRTM, { RTM } from 'agora-rtm';
     import * as byName from 'agora-rtm/agora-rtm';
     import byFile from 'agora-rtm/agora-rtm.js';
     const require = createRequire(import.meta.url);
     const required = ['agora-rtm/agora-rtm', 'agora-rtm/agora-rtm.js'].map((entry) => require(entry).RTM === require('agora-rtm').RTM);
     console.log(byName.default === AgoraRTM, byName.RTM === RTM, byFile === AgoraRTM, ...required);`,
  );
  assert.equal(execFileSync('node', [deeper], { encoding: 'utf8' }).trim(), 'true true true true true');
  // What a build copies beside its page is the script for a tag.
  const script = readFileSync(join(project, 'node_modules/agora-rtm/agora-rtm.js'), 'utf8');
  runInThisContext(script);
  assert.equal(typeof globalThis.AgoraRTM.RTM, 'function');
});

test('it has the version of the system, no dependency, and imports nothing but its own files', () => {
  const changes = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  assert.ok(changes.includes(version.endsWith('-dev') ? '## [Unreleased]' : `## [${version}]`), version);
  assert.equal(JSON.parse(readFileSync(join(folder, 'package.json'))).dependencies, undefined);
  for (const file of readdirSync(join(folder, 'src')).filter((name) => name.endsWith('.js'))) {
    const source = readFileSync(join(folder, 'src', file), 'utf8');
    for (const [, from] of source.matchAll(/^(?:import|export) .*from '(.*)'/gm)) {
      assert.match(from, /^\.\/[\w-]+\.js$/, file);
    }
  }
});

const compiler = has('tsc') ? Number(/\d+/.exec(execFileSync('tsc', ['--version'], { encoding: 'utf8' }))[0]) : 0;
const withoutCompiler = compiler ? false : 'there is no tsc: apt-get install node-typescript';

function compile(...list) {
  try {
    execFileSync('tsc', list, { cwd: project, encoding: 'utf8' });
  } catch ({ stdout }) {
    assert.fail(stdout);
  }
}

test('programs in TypeScript fit its types', { skip: withoutCompiler }, () => {
  compile('-p', fileURLToPath(new URL('types', import.meta.url)));
});

// What apps are compiled with: how modules are found, and of which kind they are.
for (const [resolution, kind, least] of [
  ['node', 'es2020', 4],
  ['node16', 'node16', 4],
  ['bundler', 'esnext', 5],
]) {
  const skip = withoutCompiler || (compiler < least && `this tsc of version ${compiler} knows no resolution ${resolution}`);
  test(`programs in TypeScript find both packages, and every name of agora-rtm, under ${resolution}`, { skip }, () => {
    for (const file of ['usage.ts', 'agora-names.ts']) copyFileSync(new URL(`types/${file}`, import.meta.url), join(project, file));
    const how = ['--module', kind, '--moduleResolution', resolution, '--target', 'es2022', '--lib', 'es2022,dom'];
    compile('--noEmit', '--strict', '--isolatedModules', ...how, 'usage.ts', 'agora-names.ts');
  });
}

// The classes of the modules, with the number of their members.
const typed = [
  ['index', 'RTMClient', 13],
  ['presence', 'Presence', 6],
  ['storage', 'Storage', 7],
  ['locks', 'Locks', 6],
  ['history', 'History', 2],
  ['streams', 'StreamChannel', 9],
  ['agora-rtm', 'RTM', 9],
  ['agora-listeners', 'Listeners', 17, 'agora-rtm'],
];

test('the types name every call of the client', () => {
  const names = (source, start) => {
    const body = source.slice(source.indexOf(start));
    const member = /^ {2}(?:async |\*|async \*|get |readonly )*([a-z]\w*)[(:<]/gm;
    return new Set([...body.slice(0, body.indexOf('\n}\n')).matchAll(member)].map(([, name]) => name));
  };
  for (const [file, type, least, types = file] of typed) {
    const made = names(readFileSync(join(folder, 'src', `${file}.js`), 'utf8'), `export class ${type} `);
    const known = names(readFileSync(join(folder, 'src', `${types}.d.ts`), 'utf8'), `declare class ${type} `);
    made.delete('constructor');
    known.delete('constructor');
    const missing = [...made].filter((name) => !known.has(name));
    assert.deepEqual(missing, [], `${types}.d.ts`);
    assert.equal(made.size, least, file);
  }
});

/** The modules that entries load. */
function modules(...entries) {
  const files = new Set();
  const add = (file) => {
    if (files.has(file)) return;
    files.add(file);
    const source = readFileSync(join(folder, 'src', file), 'utf8');
    for (const [, from] of source.matchAll(/from '\.\/(.*)'/g)) add(from);
  };
  entries.forEach(add);
  return files;
}

/** All modules of entries in one text, without comments and leading space: what a page loads if nobody minifies it. */
function loaded(...entries) {
  const comments = /^\s*(?:\/\/.*|\/\*\*(?:[^*]|\*(?!\/))*\*\/)\n/gm;
  const stripped = (source) => source.replace(comments, '').replace(/^\s+/gm, '');
  return [...modules(...entries)].map((file) => stripped(readFileSync(join(folder, 'src', file), 'utf8'))).join('');
}

test('the sample preloads the modules that it loads', () => {
  const page = readFileSync(join(folder, 'sample/index.html'), 'utf8');
  const preloaded = [...page.matchAll(/modulepreload" href="\.\.\/src\/(.*?)"/g)];
  const loaded = modules('index.js', 'presence.js', 'storage.js');
  assert.deepEqual(preloaded.map(([, file]) => file).sort(), [...loaded].sort());
});

/** Entries with all that they load, as esbuild minifies them for a version of the language. */
function minified(target, ...entries) {
  const all = entries.map((entry) => `export * from ${JSON.stringify(join(folder, 'src', entry))};`).join('');
  const options = ['--bundle', '--minify', '--format=esm', `--target=${target}`];
  return execFileSync('esbuild', options, { input: all, cwd: folder });
}

/** Bytes of entries, compressed: as they are shipped without comments, and minified for the newest language and for an old one. */
function sizeOf(...entries) {
  const gzipped = (text) => gzipSync(text, { level: 9 }).length;
  const size = { stripped: gzipped(loaded(...entries)) };
  if (!has('esbuild')) return size;
  const old = minified('es2020', ...entries);
  return { ...size, minified: gzipped(minified('esnext', ...entries)), es2020: gzipped(old), brotli: brotliCompressSync(old).length };
}

const modulesOfFeatures = ['presence', 'storage', 'locks', 'history', 'pacing', 'once', 'streams', 'encryption'];
const features = modulesOfFeatures.map((name) => `${name}.js`);
const sizes = [
  ['the core', ['index.js']],
  ['with stream channels and encryption', ['index.js', 'streams.js', 'encryption.js']],
  ['with all modules', ['index.js', ...features]],
  ['agora-rtm', ['agora-rtm.js']],
];

test('its size', (t) => {
  const limits = JSON.parse(readFileSync(new URL('sizes.json', import.meta.url)));
  const kilobytes = ([how, bytes]) => `${(bytes / 1000).toFixed(1)} kB ${how}`;
  const shown = (size) => Object.entries(size).map(kilobytes).join(', ');
  for (const [name, entries] of sizes) {
    const size = sizeOf(...entries);
    t.diagnostic(`${name}: ${shown(size)}`);
    for (const [how, bytes] of Object.entries(size)) {
      const allowed = limits[name][how];
      assert.ok(bytes <= allowed, `${name} has ${bytes} bytes ${how} and compressed, and ${allowed} are allowed`);
    }
  }
  const core = sizeOf('index.js');
  for (const file of features) {
    const size = sizeOf('index.js', file);
    for (const how in size) size[how] -= core[how];
    t.diagnostic(`${file} adds ${shown(size)}`);
  }
});

// docs/web.md and the README name these.
const browsers = ['chrome92', 'firefox90', 'safari15.4'];
const withoutEsbuild = has('esbuild') ? false : 'there is no esbuild';
test('the browsers that are supported need nothing translated, and the client can be built for older ones', { skip: withoutEsbuild }, () => {
  const all = ['agora-rtm.js', 'index.js', ...features];
  assert.equal(`${minified(browsers.join(','), ...all)}`, `${minified('esnext', ...all)}`);
  for (const target of ['es2018', 'es2019', 'es2020', 'es2021']) assert.ok(minified(target, ...all).length > 50_000);
});
