/**
 * Runs what pages tell a person to type with the Node that the machine has, as a reader's shell would: the pinned one is not on the path.
 * What needs a cluster, a cloud or many minutes is in `not-run.ts`, with the reason.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { buildProgram } from '../build-program.ts';
import { NOT_RUN } from './not-run.ts';
import { commandsOfLine, linesOfPage } from './page-commands.ts';

const root = path.resolve(import.meta.dirname, '../..');
const OURS = /^(?:make|npm|npx|node|outrigger|cloud-controller-manager)$/u;
const folder = mkdtempSync(path.join(tmpdir(), 'pages-'));
after(() => rmSync(folder, { recursive: true }));

const commands = new Map<string, readonly string[]>();
let env: NodeJS.ProcessEnv = {};

before(async () => {
  const pages = globSync('{*.md,{docs,providers,packages,e2e,bench,site,tools}/**/*.md}', {
    cwd: root,
    exclude: (name) => /(?:^|\/)(?:node_modules|dist|template|CHANGELOG\.md)$/u.test(name),
  });
  for (const page of pages) {
    for (const { block, line } of linesOfPage(readFileSync(path.join(root, page), 'utf8'))) {
      for (const [program = '', ...args] of block ? commandsOfLine(line) : []) {
        const name = path.basename(program);
        if (OURS.test(name)) commands.set([name, ...args].join(' '), [name, ...args]);
      }
    }
  }
  const { outrigger } = await buildProgram(folder);
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(
    path.join(folder, 'cloud.conf'),
    '[Global]\nauth-url=http://127.0.0.1:1/v3\nusername=u\npassword=p\ntenant-name=t\ndomain-name=d\n',
  );
  const own = (process.env['PATH'] ?? '').split(':').filter((one) => !one.endsWith('node_modules/.bin'));
  env = { ...process.env, PATH: [path.dirname(outrigger), ...own].join(':'), NODE_OPTIONS: '' };
});

test('every command of every page is run, or is in the list of those that are not', () => {
  const failed: string[] = [];
  let ran = 0;
  for (const [text, [program = '', ...args]] of commands) {
    if (NOT_RUN.some(([pattern]) => pattern.test(text))) continue;
    ran++;
    const cwd = program === 'outrigger' ? folder : root;
    const { error, status, stderr } = spawnSync(program, args, {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (status !== 0) failed.push(`${text}: ${error?.message ?? `exit code ${status}: ${stderr.slice(0, 300)}`}`);
  }
  assert.deepEqual(failed, []);
  assert.ok(ran >= 10, `${ran} commands are run`);
});

test('each reason for not running a command is needed', () => {
  const idle = NOT_RUN.filter(([pattern]) => ![...commands.keys()].some((text) => pattern.test(text)));
  assert.deepEqual(idle, []);
});
