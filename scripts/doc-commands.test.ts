/**
 * What a page tells a person to type: each command is a target of make, a program of this repository whose parser takes these flags, or one
 * of the programs that a reader has. Nothing is run here; the guides of deployment and migration are run whole on a real control plane.
 */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { conformanceCommand } from '../packages/conformance/src/command.ts';
import { defaultCommands } from '../packages/cloud-controller-manager/src/commands/commands.ts';
import { doctorCommand, statusCommand } from '@outrigger/status';
import { uiCommand } from '@outrigger/ui';
import { programFlags } from '../packages/cloud-controller-manager/src/options/program-options.ts';
import { commandsOfLine, linesOfPage } from './doc-commands/page-commands.ts';

/** As distribution/src/outrigger.ts gives them to the program. */
const commands = [...defaultCommands, doctorCommand, statusCommand, uiCommand];
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const BUILT = new Set(['node_modules', '.outrigger', '.git', 'dist', 'coverage', 'template']);
const pages = globSync('**/*.md', { cwd: root, exclude: (path) => BUILT.has(path.split('/').at(-1) ?? '') }).filter(
  (page) => page !== 'CHANGELOG.md',
);

/** Programs of the reader's machine, or of the shell. */
const OUTSIDE = new Set(
  `base64 cat cd cosign ctr diff docker echo env export gh git go grep head helm jq kill kubeadm kubectl kustomize less ls mkdir npm openssl
  openstack sed sh sha256sum skopeo sonobuoy ssh sudo systemctl tail test tee true until while wget curl yq awk tar`.split(
    /\s+/u,
  ),
);
const targets = new Set(
  [...readFileSync(join(root, 'Makefile'), 'utf8').matchAll(/^([a-z0-9-]+):/gmu)].map(([, name = '']) => name),
);
/** Folders of a provider's own: Node 24 is what these pages ask for, and their files are made as the reader goes on. */
const OWN_FOLDER =
  /^docs\/guides\/(?:write-a-provider|provider-repository|conformance)|^packages\/create-provider|^tools\//u;

test('every command of every page can be typed as it is', async () => {
  const problems: string[] = [];
  let checked = 0;
  for (const page of pages) {
    for (const { block, line } of linesOfPage(readFileSync(join(root, page), 'utf8'))) {
      for (const words of commandsOfLine(line)) {
        const problem = await problemOf(words, page, block);
        if (problem === undefined) continue;
        if (problem !== '') problems.push(`${page}: ${words.join(' ')}: ${problem}`);
        checked++;
      }
    }
  }
  assert.deepEqual(problems, []);
  assert.ok(checked > 200, `${checked} commands are found`);
});

test('what is misspelt is found', async () => {
  const guide = 'docs/guides/explain.md';
  for (const [line, problem] of [
    ['outrigger explain node a --outptu=json', 'unknown flag --outptu; did you mean --output?'],
    ['bin/outrigger explan node a', 'no command explan'],
    ['kubectl get pods | outrigger adopt --yes --prt=a/b', 'unknown flag --prt; did you mean --part?'],
    ['cloud-controller-manager --cluster-nmae=a', 'unknown flag --cluster-nmae; did you mean --cluster-name?'],
    ['outrigger conformance cluster --reprt-dir=a', 'no flag --reprt-dir=a'],
    ['sudo make tset', 'no target tset in the Makefile'],
    ['node bench/scenarios.ts', 'the Node of the machine cannot run it: npx node'],
    ['npx node bench/none.ts', 'there is no bench/none.ts'],
    ['kubctl get pods', 'neither a target of make, nor a program of bin/, nor a known one'],
    ["FOO=1 outrigger explain service 'a b' -n x > y # now", ''],
  ] as const) {
    const words = commandsOfLine(line).at(-1) ?? [];
    assert.equal(await problemOf(words, guide, true), problem, line);
  }
});

test('a page that uses the command outrigger says where it comes from', () => {
  const silent = pages.filter((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    const uses = linesOfPage(text).some(
      ({ block, line }) => block && commandsOfLine(line).some(([program]) => program === 'outrigger'),
    );
    return uses && !/bin\/outrigger|#the-command-outrigger/u.test(text);
  });
  assert.deepEqual(silent, []);
});

test('the image has one tag on all pages', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  const others = pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/cloud-controller-manager:(v?\d[\w.-]*)/gu)]
      .filter(([, tag]) => tag !== `v${version}`)
      .map(([text]) => `${page}: ${text}`),
  );
  assert.deepEqual(others, []);
});

/** Empty: nothing is wrong. `undefined`: no command. Inside of a sentence only what is ours is judged. */
async function problemOf(words: readonly string[], page: string, block: boolean): Promise<string | undefined> {
  const [program = '', ...args] = words;
  const name = basename(program);
  if (program === 'make') return targetProblem(args, page);
  if (name === 'outrigger') return block || args.length > 0 ? await ownProblem(args) : undefined;
  if (name === 'cloud-controller-manager' && (block || args.some((arg) => arg.startsWith('--'))))
    return flagProblem(args);
  if (program === 'npx') return npxProblem(args);
  if (program === 'node' && args.length > 0) {
    if (OWN_FOLDER.test(page)) return '';
    return args.some((arg) => /\.[cm]?ts$/u.test(arg)) ? 'the Node of the machine cannot run it: npx node' : '';
  }
  if (!block) return undefined;
  if (program.startsWith('./') || program.startsWith('.ci/') || OUTSIDE.has(program)) return '';
  return 'neither a target of make, nor a program of bin/, nor a known one';
}

function targetProblem(args: readonly string[], page: string): string {
  const named = args.filter((arg) => /^[a-z]/u.test(arg));
  if (/provider-repository|create-provider|guides\/conformance\.md/u.test(page) || page.endsWith('Makefile')) return '';
  const unknown = named.filter((target) => !targets.has(target));
  return unknown.length === 0 ? '' : `no target ${unknown.join(' ')} in the Makefile`;
}

async function ownProblem([name = '', ...args]: readonly string[]): Promise<string> {
  const command = commands.find((one) => one.name === name);
  if (!command) return name.startsWith('-') || /^(?:COMMAND|…)$/u.test(name) ? '' : `no command ${name}`;
  if (command.flagsOf) return refusalOf(() => command.flagsOf?.({}).parse(args));
  if (name !== 'conformance') return '';
  const known = await helpOf(args[0] ?? '');
  const unknown = args.filter((arg) => arg.startsWith('--') && !known.includes(arg.replace(/=.*$/u, '')));
  return unknown.length === 0 ? '' : `no flag ${unknown.join(' ')}`;
}

function flagProblem(args: readonly string[]): string {
  return refusalOf(() => programFlags.parse(args));
}

function refusalOf(parse: () => unknown): string {
  try {
    parse();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

function npxProblem(args: readonly string[]): string {
  if (args[0] !== 'node') return '';
  const file = args.find((arg) => /\.[cm]?ts$/u.test(arg));
  if (file === undefined || existsSync(join(root, file))) return '';
  return `there is no ${file}`;
}

async function helpOf(subcommand: string): Promise<string> {
  let text = '';
  const output = { write: (more: string) => void (text += more) };
  const signal = new AbortController().signal;
  await conformanceCommand([subcommand, '--help'], { stdout: output, stderr: output, env: {}, cwd: root, signal });
  return text;
}
