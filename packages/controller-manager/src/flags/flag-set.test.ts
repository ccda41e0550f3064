import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { closestName } from './closest-name.ts';
import { FlagError } from './flag-error.ts';
import { flagNameOf, type FlagGroup } from './flag-group.ts';
import { renderHelp } from './flag-help.ts';
import { FlagSet } from './flag-set.ts';
import { bool, boolMap, duration, float, integer, ip, oneOf, port, string, strings } from './flag-type.ts';

interface Options {
  leaderElect: boolean;
  kubeApiQps: number;
  concurrentNodeSyncs: number;
  leaderElectLeaseDuration: number;
  controllers: readonly string[];
  featureGates: Readonly<Record<string, boolean>>;
  bindAddress: string;
  securePort: number;
  loggingFormat: 'text' | 'json';
  clusterName: string;
  v: number;
  oldWay: boolean;
  secretSauce: boolean;
}

const group: FlagGroup<Options> = {
  title: 'Generic',
  flags: {
    leaderElect: { type: bool, default: true, usage: 'Elect a leader.' },
    kubeApiQps: { type: float({ min: 0 }), default: 20, usage: 'Requests a second.' },
    concurrentNodeSyncs: { type: integer({ min: 1, max: 100 }), default: 8, usage: 'Writes in flight.' },
    leaderElectLeaseDuration: { type: duration({ minMs: 1_000 }), default: 15_000, usage: 'Lease.' },
    controllers: { type: strings, default: ['*'], usage: 'Controllers.' },
    featureGates: { type: boolMap, default: {}, usage: 'Gates.' },
    bindAddress: { type: ip, default: '0.0.0.0', usage: 'Address.' },
    securePort: { type: port, default: 10_258, usage: 'Port.' },
    loggingFormat: { type: oneOf(['text', 'json']), default: 'text', usage: 'Format.' },
    clusterName: { type: string, default: 'kubernetes', usage: `A name. ${'Long words follow here. '.repeat(8)}` },
    v: { type: integer({ min: 0 }), default: 0, usage: 'Verbosity.', shorthand: 'v' },
    oldWay: { type: bool, default: false, usage: 'Old.', deprecated: 'use --leader-elect' },
    secretSauce: { type: bool, default: false, usage: 'Hidden.', hidden: true },
  },
};
const flags = new FlagSet([group]);
const read = (...args: string[]): Readonly<Options> => flags.parse(args).of(group);

function refused(...args: string[]): FlagError {
  try {
    flags.parse(args);
  } catch (error) {
    assert.ok(error instanceof FlagError);
    assert.doesNotMatch(error.message, /\n/u);
    return error;
  }
  return assert.fail(`${args.join(' ')} was accepted`);
}

test('without arguments, all defaults', () => {
  const parsed = flags.parse([]);
  assert.equal(parsed.of(group).kubeApiQps, 20);
  assert.deepEqual(parsed.of(group).controllers, ['*']);
  assert.equal(parsed.isSet('kube-api-qps'), false);
  assert.deepEqual(parsed.warnings, []);
});

test('a value may follow the = or be the next argument; a bool needs the =', () => {
  assert.equal(read('--kube-api-qps=5').kubeApiQps, 5);
  assert.equal(read('--kube-api-qps', '5').kubeApiQps, 5);
  assert.equal(read('--leader-elect').leaderElect, true);
  assert.equal(read('--leader-elect=false').leaderElect, false);
  assert.match(refused('--leader-elect', 'false').message, /unexpected argument "false"/u);
  assert.equal(read('--cluster-name=a=b').clusterName, 'a=b');
  assert.equal(read('--cluster-name=').clusterName, '');
  assert.equal(read('--cluster-name', '--odd').clusterName, '--odd');
});

test('underscores are hyphens in names, and stay in values', () => {
  assert.equal(read('--kube_api-qps=7').kubeApiQps, 7);
  assert.equal(read('--leader_elect=false').leaderElect, false);
  assert.equal(read('--cluster_name', 'a_b').clusterName, 'a_b');
});

test('a shorthand takes its value with and without a space or an =', () => {
  for (const args of [['-v', '4'], ['-v4'], ['-v=4'], ['--v', '4'], ['--v=4']]) assert.equal(read(...args).v, 4);
});

test('lists and maps grow over repeated flags and replace the default; of others the last one wins', () => {
  assert.deepEqual(read('--controllers=*,-route', '--controllers', 'service').controllers, ['*', '-route', 'service']);
  assert.deepEqual(read('--controllers=').controllers, []);
  assert.deepEqual(read('--feature-gates=A=true,B=false', '--feature-gates=B=true').featureGates, { A: true, B: true });
  assert.equal(read('--v=1', '--v=2').v, 2);
});

test('an unknown flag is named, with the closest one that exists', () => {
  assert.equal(refused('--leader-elct=true').message, 'unknown flag --leader-elct; did you mean --leader-elect?');
  assert.equal(refused('--no-leader-elect').message, 'unknown flag --no-leader-elect; write --leader-elect=false');
  assert.equal(refused('--zzz').message, 'unknown flag --zzz; see --help');
  assert.equal(refused('-x').message, 'unknown flag -x; see --help');
  assert.equal(refused('--zzz').code, 'unknown-flag');
});

test('a bad value is quoted, with its flag and what is wrong', () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['--leader-elect=maybe', /invalid value "maybe" for --leader-elect: not a bool/u],
    ['--kube-api-qps=fast', /"fast" for --kube-api-qps: not a number/u],
    ['--kube-api-qps=-1', /at least 0/u],
    ['--kube-api-qps=', /not a number/u],
    ['--concurrent-node-syncs=0', /at least 1/u],
    ['--concurrent-node-syncs=101', /at most 100/u],
    ['--concurrent-node-syncs=1.5', /not a whole number/u],
    ['--leader-elect-lease-duration=15', /not a duration: write it as/u],
    ['--leader-elect-lease-duration=5ms', /at least 1s/u],
    ['--feature-gates=A', /"A" is not key=true or key=false/u],
    ['--feature-gates=A=perhaps', /not a bool/u],
    ['--bind-address=010.0.0.1', /not an IP address/u],
    ['--bind-address=localhost', /not an IP address/u],
    ['--secure-port=65536', /at most 65535/u],
    ['--logging-format=xml', /must be "text" or "json"/u],
    ['--v=\u0007', /"\\u0007"/u],
  ];
  for (const [arg, message] of wrong) assert.match(refused(arg).message, message);
  assert.equal(refused('--cluster-name').message, '--cluster-name needs a value (string)');
});

test('nothing but flags is taken', () => {
  assert.equal(refused('run').code, 'unexpected-argument');
  assert.equal(refused('--', 'run').code, 'unexpected-argument');
  assert.equal(read('--v=1', '--').v, 1);
});

test('says what was set, and warns of deprecated flags', () => {
  const parsed = flags.parse(['--old_way', '--v=2']);
  assert.equal(parsed.isSet('old-way'), true);
  assert.equal(parsed.isSet('v'), true);
  assert.deepEqual(parsed.warnings, ['flag --old-way is deprecated: use --leader-elect']);
});

test('help shows groups, words and defaults, wraps, and hides what is hidden or deprecated', () => {
  const help = renderHelp('About the program.', flags, { columns: 100 });
  assert.match(help, /^About the program\.\n\nGeneric flags:\n/u);
  assert.match(help, / {6}--kube-api-qps float {2,}Requests a second\. \(default 20\)\n/u);
  assert.match(help, / {2}-v, --v int {2,}Verbosity\.\n/u);
  assert.match(help, /--leader-elect-lease-duration duration\n? {2,}Lease\. \(default 15s\)/u);
  assert.match(help, /\(default \[\*\]\)/u);
  assert.doesNotMatch(help, /old-way|secret-sauce/u);
  for (const line of help.split('\n')) assert.ok(line.length <= 100, line);
});

test('help names what is accepted for compatibility at its end, and says no more of it', () => {
  const old: FlagGroup<{ resync: number; profiling: boolean; real: boolean }> = {
    title: 'Old',
    flags: {
      resync: { type: duration(), default: 0, compatibility: true, usage: 'There is none.' },
      profiling: { type: bool, default: false, compatibility: true, usage: 'There is none.' },
      real: { type: bool, default: false, usage: 'Real.' },
    },
  };
  const help = renderHelp('About.', new FlagSet([old]), { before: ['Usage: x\n'] });
  assert.equal(
    help,
    `About.

Usage: x

Old flags:

      --real                                  Real.

Flags accepted for compatibility, without an effect:

      --resync, --profiling
`,
  );
});

test('two flags of one name are a mistake of the program', () => {
  assert.throws(() => new FlagSet([group, group]), /--leader-elect is defined twice/u);
  const one: FlagGroup<{ a: boolean; b: boolean }> = {
    title: 'T',
    flags: {
      a: { type: bool, default: false, usage: '', shorthand: 'x' },
      b: { type: bool, default: false, usage: '', shorthand: 'x' },
    },
  };
  assert.throws(() => new FlagSet([one]), /-x is defined twice/u);
  assert.throws(() => flags.parse([]).of(one), /"T" is not in this set/u);
});

test('names come from keys', () => {
  assert.equal(flagNameOf('kubeApiQps'), 'kube-api-qps');
  assert.equal(flagNameOf('disableHttp2Serving'), 'disable-http2-serving');
  assert.equal(flagNameOf('v'), 'v');
});

test('the closest name is near, or none', () => {
  assert.equal(closestName('kubeconfg', ['kubeconfig', 'cloud-config']), 'kubeconfig');
  assert.equal(closestName('completely-else', ['kubeconfig']), undefined);
});

test('whatever the command line: options, or a FlagError of one line', () => {
  const word = fc.oneof(
    fc.constantFrom(...flags.names.flatMap((name) => [`--${name}`, `--${name}=1`, `--${name}=true`])),
    fc.constantFrom('-', '--', '-v', '--=', '-=', '---v', '--v=', '__proto__', '--__proto__=1', '--constructor'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (args) => {
      try {
        const options = flags.parse(args).of(group);
        assert.deepEqual(Object.keys(options), Object.keys(group.flags));
      } catch (error) {
        assert.ok(error instanceof FlagError, String(error));
        assert.doesNotMatch(error.message, /\n/u);
      }
    }),
    { numRuns: 500 },
  );
});

test('what a file says takes the place of a default, and the command line that of the file', () => {
  const at = (flag: string, text: string): { flag: string; text: string; where: string } => ({
    flag,
    text,
    where: 'f:1',
  });
  const presets = [at('controllers', 'a,b'), at('kube-api-qps', '7'), at('leader-elect', 'false')];
  const parsed = flags.parse(['--kube-api-qps=9', '--controllers=c'], presets);
  const options = parsed.of(group);
  assert.deepEqual([options.controllers, options.kubeApiQps, options.leaderElect], [['c'], 9, false]);
  assert.deepEqual([parsed.isSet('leader-elect'), parsed.isSet('kube-api-qps')], [false, true]);
  assert.equal(parsed.valueOf('leader-elect'), false);
  assert.equal(parsed.valueOf('nothing'), undefined);
  assert.throws(() => flags.parse([], [at('kube-api-qps', 'x')]), /^FlagError: f:1: invalid value "x": not a number$/u);
});

test('a set that takes words keeps them in their order, apart from the flags', () => {
  const words = new FlagSet([group], { takesWords: true });
  const parsed = words.parse(['node', '-v', '2', 'worker-1', '--leader-elect=false', '--', '--not-a-flag']);
  assert.deepEqual(parsed.words, ['node', 'worker-1', '--not-a-flag']);
  assert.equal(parsed.of(group).v, 2);
  assert.equal(refused('node').code, 'unexpected-argument');
});
