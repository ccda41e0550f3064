/** What runs between the installation of the pinned Node and the comparison of its binary: nothing. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'outrigger-install-'));
after(() => rmSync(folder, { recursive: true }));

/** A package whose script leaves a file in the folder of whoever installs it. */
before(() => {
  const package_ = path.join(folder, 'package');
  mkdirSync(package_);
  const scripts = { postinstall: 'touch "$INIT_CWD/ran"' };
  writeFileSync(path.join(package_, 'package.json'), JSON.stringify({ name: 'curious', version: '1.0.0', scripts }));
  execFileSync('tar', ['-C', folder, '-czf', path.join(folder, 'curious.tgz'), 'package']);
});

for (const file of ['Makefile', ...globSync('deploy/*/Dockerfile', { cwd: repository })]) {
  test(`the installation of ${file} runs no script of a package`, () => {
    const [command = ''] = /npm install .*?(?= &&|$)/mu.exec(readFileSync(path.join(repository, file), 'utf8')) ?? [];
    const project = mkdtempSync(path.join(folder, 'project-'));
    copyFileSync(path.join(repository, '.npmrc'), path.join(project, '.npmrc'));
    const dependencies = { curious: 'file:../curious.tgz' };
    writeFileSync(
      path.join(project, 'package.json'),
      JSON.stringify({ dependencies, allowScripts: { curious: true } }),
    );
    execFileSync('/bin/sh', ['-c', `${command} --offline`], { cwd: project, stdio: ['ignore', 'pipe', 'pipe'] });
    assert.ok(existsSync(path.join(project, 'node_modules/curious')));
    assert.equal(existsSync(path.join(project, 'ran')), false);
  });
}
