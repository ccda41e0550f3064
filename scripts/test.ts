/**
 * `make test`: runs the stages below in order, all of them even when one fails, and ends with one line
 * `N passed, N failed`. `node scripts/test.ts unit lint` runs only those.
 */
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whyNoLab } from '../e2e/openstack/why-no-lab.ts';
import { whyNoMoto } from '../providers/aws/lab/moto.ts';
import { findBrowser } from '../packages/ui/browser/find-browser.ts';

interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

interface Stage {
  readonly name: string;
  /** Part of a run without arguments. */
  readonly always: boolean;
  readonly run: () => Promise<Totals>;
}

const ci = process.env['CI'] === 'true';
/** Lines of the packages and providers that the unit, contract and integration tests must reach, in per cent. Only ever raised. */
const COVERAGE_FLOOR = 95;
/** The oldest Kubernetes release that is supported: the current one and three before. */
const OLDEST_KUBERNETES = '1.34';
/** No stage may hang CI: each is ended after this many minutes. */
const STAGE_LIMIT_MINUTES = 40;

const UNIT =
  '{packages,providers,distribution,scripts,bench,e2e}/**/!(*.browser|*.contract|*.integration|*.control-plane|*.lab|*.packages).test.ts';
const FAST =
  '{packages,providers,distribution,scripts,bench,e2e}/**/!(*.browser|*.control-plane|*.lab|*.packages).test.ts';
const PACKAGES = 'scripts/**/*.packages.test.ts';
const CONTROL_PLANE = '{packages,providers,distribution,bench,e2e}/**/*.control-plane.test.ts';

/** In Debian's Chromium, which is unpacked once where an archive of Debian is known. */
const BROWSER = '{packages/ui/browser,scripts/site}/**/*.browser.test.ts';

/** On the simulator of vCenter, which is built once: `make e2e-vsphere`. */
const VSPHERE = '{providers,e2e}/vsphere/**/*.lab.test.ts';

/** On moto, which pip installs once: `make e2e-aws`. */
const AWS = '{providers,e2e}/aws/**/*.lab.test.ts';

/** Beside programs of others that take a quarter of an hour to build: `make e2e-vsphere` builds and runs them, CI does not. */
const VSPHERE_NOT_IN_CI: readonly string[] = [
  'e2e/vsphere/migration-in-tree.lab.test.ts',
  'e2e/vsphere/migration-official.lab.test.ts',
];

/**
 * Long tests of the program amid faults, in crowds and beside Go programs. They run on the current release only: what of them
 * hangs on the release (the API contract, client, reflector, leader election, node initialisation, every controller, roles,
 * manifests and the migration of node IPAM) has tests of its own, which run on the oldest one too.
 */
const CURRENT_RELEASE_ONLY: readonly string[] = [
  'e2e/chaos.control-plane.test.ts',
  'e2e/conformance-upstream.control-plane.test.ts',
  'e2e/fault-chaos.control-plane.test.ts',
  'e2e/migration-frozen.control-plane.test.ts',
  'e2e/migration-upstream.control-plane.test.ts',
  'e2e/service-chaos.control-plane.test.ts',
  'e2e/tenant-chaos.control-plane.test.ts',
  'e2e/whole-cluster.control-plane.test.ts',
];

/**
 * What judges the judge, a page, the benchmark's observer or others' definitions, what needs no cluster, what runs a kubelet's code of one release,
 * and a flag that changes no request: by one release it is known.
 */
const ONE_RELEASE: readonly string[] = [
  'bench/protobuf-nodes.control-plane.test.ts',
  'e2e/conformance-cluster.control-plane.test.ts',
  'e2e/image-credentials.control-plane.test.ts',
  'e2e/kubectl-plugin.control-plane.test.ts',
  'e2e/monitoring-objects.control-plane.test.ts',
  'e2e/node-flags.control-plane.test.ts',
  'e2e/node-guides.control-plane.test.ts',
  'e2e/operators-day.control-plane.test.ts',
];

/** Files of e2e/openstack that fit into 15 minutes together with building the lab; `make e2e-openstack` has them all. */
const OPENSTACK_IN_CI: readonly string[] = ['credentials', 'nodes', 'one-service', 'routes'];

/**
 * Where Node keeps what it compiled of the sources: each test file, and each program that one starts, loads hundreds of them. V8 reports what
 * it takes from there less precisely, and the coverage is then a lower bound, about a percent below.
 */
const COMPILE_CACHE = join(process.cwd(), 'node_modules', '.cache', 'node-compile-cache');

/** No test may hang a stage. Not a bound of any test: a machine may be busy. */
const TEST_LIMIT_MINUTES = 10;

async function execute(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
  });
  const limit = setTimeout(() => {
    console.error(`${command} took longer than ${STAGE_LIMIT_MINUTES} minutes and was ended`);
    child.kill('SIGKILL');
  }, STAGE_LIMIT_MINUTES * 60_000);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code) => resolve(code ?? 1));
    });
  } finally {
    clearTimeout(limit);
  }
}

interface CheckOptions {
  readonly always?: boolean;
  readonly env?: NodeJS.ProcessEnv;
}

function check(
  name: string,
  command: string,
  args: readonly string[],
  { always = true, env }: CheckOptions = {},
): Stage {
  return {
    name,
    always,
    run: async () => {
      const ok = (await execute(command, args, env)) === 0;
      return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
    },
  };
}

/** Finds or makes the real control plane before the tests that need it, so that none of them waits for a build. */
function controlPlane(): Stage {
  const releases = ci
    ? [process.env['KUBERNETES'] || undefined, OLDEST_KUBERNETES]
    : [process.env['KUBERNETES'] || undefined];
  return {
    name: 'binaries',
    always: true,
    run: async () => {
      const totals: Totals = { passed: 0, failed: 0, skipped: 0 };
      for (const release of releases) {
        const version = release === undefined ? [] : ['--kubernetes', release];
        const found = (await execute('node', ['scripts/control-plane.ts', 'path', ...version])) === 0;
        // Without it, a laptop skips the tests that need it; CI does not.
        if (found) totals.passed++;
        else if (ci) totals.failed++;
      }
      return totals;
    },
  };
}

interface TestOptions {
  readonly pattern: string;
  /** Only the files that hold this text. */
  readonly holding?: string;
  /** Files that match the pattern and are left out. */
  readonly except?: readonly string[];
  readonly always?: boolean;
  readonly coverage?: boolean;
  readonly isolation?: 'none';
  readonly concurrency?: number;
  readonly env?: NodeJS.ProcessEnv;
}

function tests(name: string, options: TestOptions): Stage {
  return {
    name,
    always: options.always ?? true,
    run: async () => {
      const found = globSync(options.pattern, { exclude: (path) => path.includes('node_modules') }).sort();
      const { except = [] } = options;
      for (const path of except) {
        if (found.includes(path)) continue;
        console.error(
          `${name}: ${path} is to be left out, and there is no such test: correct the list in scripts/test.ts`,
        );
        return { passed: 0, failed: 1, skipped: 0 };
      }
      const files = found.filter(
        (path) => !except.includes(path) && readFileSync(path, 'utf8').includes(options.holding ?? ''),
      );
      if (files.length === 0) return { passed: 0, failed: 0, skipped: 0 };
      const args = [
        '--test',
        '--import=./scripts/property-seed.ts',
        '--test-reporter=./scripts/test-reporter.ts',
        '--test-reporter-destination=stdout',
        `--test-timeout=${TEST_LIMIT_MINUTES * 60_000}`,
        ...(options.isolation ? [`--test-isolation=${options.isolation}`] : []),
        ...(options.concurrency ? [`--test-concurrency=${options.concurrency}`] : []),
        ...(options.coverage
          ? [
              '--experimental-test-coverage',
              `--test-coverage-lines=${COVERAGE_FLOOR}`,
              '--test-coverage-include=packages/*/src/**/*.ts',
              '--test-coverage-include=providers/*/{src,fake}/**/*.ts',
              '--test-coverage-exclude=**/*.test.ts',
              '--test-coverage-exclude=**/*.suite.ts',
              '--test-coverage-exclude=**/generated/**',
            ]
          : []),
        ...files,
      ];
      return counted(name, args, options.env);
    },
  };
}

/** Runs tests that are reported by scripts/test-reporter.ts. */
async function counted(name: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Totals> {
  const directory = mkdtempSync(join(tmpdir(), 'outrigger-test-'));
  const counts = join(directory, 'counts');
  const code = await execute('node', args, { OUTRIGGER_TEST_COUNTS: counts, ...env });
  const totals = readTotals(counts);
  rmSync(directory, { recursive: true, force: true });
  // A run that fails without a failed test: the coverage floor, a crash, the time limit.
  if (code !== 0 && totals.failed === 0) totals.failed = 1;
  if (ci && totals.skipped > 0) {
    console.error(`${name}: ${totals.skipped} tests were skipped, and CI skips none`);
    totals.failed += totals.skipped;
  }
  return totals;
}

/** The program against a real OpenStack, where the machine can bring one up: it is said where not, and nothing fails for it. */
function openstack(): Stage {
  return {
    name: 'openstack',
    always: ci,
    run: async () => {
      const why = await whyNoLab();
      if (why === undefined) return counted('openstack', ['e2e/openstack/run.ts', ...OPENSTACK_IN_CI]);
      console.error(`openstack: left out: ${why}`);
      return { passed: 0, failed: 0, skipped: 0 };
    },
  };
}

/** The page in a browser, where one is or can be had: it is said where not, and nothing fails for it. */
function ui(): Stage {
  const judged = tests('ui', { pattern: BROWSER, concurrency: 1, always: ci });
  return {
    ...judged,
    run: async () => {
      const { why } = findBrowser();
      if (why === undefined) return judged.run();
      console.error(`ui: left out: ${why}`);
      return { passed: 0, failed: 0, skipped: 0 };
    },
  };
}

/** The provider of AWS on moto, where Python can install it: it is said where not, and nothing fails for it. */
function aws(): Stage {
  const judged = tests('aws', { pattern: AWS, concurrency: 1, always: ci });
  return {
    ...judged,
    run: async () => {
      const why = await whyNoMoto();
      if (why === undefined) return judged.run();
      console.error(`aws: left out: ${why}`);
      return { passed: 0, failed: 0, skipped: 0 };
    },
  };
}

/** The property tests alone, each round with seeds of its own. */
function properties(): Stage {
  const round = tests('properties', {
    pattern: FAST,
    holding: "from 'fast-check'",
    env: { OUTRIGGER_PROPERTY_SEED: process.env['OUTRIGGER_PROPERTY_SEED'] ?? 'random' },
  });
  return {
    ...round,
    always: false,
    run: async () => {
      const rounds = Number(process.env['ROUNDS'] || '1');
      const sum: Totals = { passed: 0, failed: 0, skipped: 0 };
      if (!Number.isInteger(rounds) || rounds < 1) {
        console.error(`properties: ROUNDS=${process.env['ROUNDS']} is no whole number of at least 1`);
        return { ...sum, failed: 1 };
      }
      for (let n = 0; n < rounds; n++) add(sum, await round.run());
      return sum;
    },
  };
}

function add(sum: Totals, more: Totals): void {
  sum.passed += more.passed;
  sum.failed += more.failed;
  sum.skipped += more.skipped;
}

function readTotals(file: string): Totals {
  try {
    const counts = JSON.parse(readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '') as Totals & {
      cancelled: number;
    };
    return { passed: counts.passed, failed: counts.failed + counts.cancelled, skipped: counts.skipped };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

const stages: readonly Stage[] = [
  check('lint', 'oxlint', []),
  check('format', 'oxfmt', ['--check']),
  check('types', 'tsc', ['-p', '.']),
  check('page-types', 'tsc', ['-p', 'packages/ui/page']),
  check('knip', 'knip', []),
  check('advisories', 'node', ['scripts/advisories.ts']),
  check('signatures', 'node', ['scripts/signatures.ts']),
  check('site', 'node', ['scripts/site.ts']),
  controlPlane(),
  tests('unit', { pattern: UNIT, always: false, isolation: 'none' }),
  properties(),
  tests('packages', { pattern: PACKAGES, concurrency: 2 }),
  tests('fast', { pattern: FAST, coverage: true, concurrency: 2 }),
  // The same texts each time; `make fuzz` draws others.
  check('fuzz', 'node', ['e2e/fuzz/run.ts'], { always: ci, env: { MINUTES: '1', SEED: '1' } }),
  tests('control-plane', { pattern: CONTROL_PLANE, except: CURRENT_RELEASE_ONLY, concurrency: 2 }),
  // These fill the machine, and measure how long the program takes on it.
  tests('control-plane-long', { pattern: `{${CURRENT_RELEASE_ONLY.join(',')}}`, concurrency: 1 }),
  tests('control-plane-oldest', {
    pattern: CONTROL_PLANE,
    except: [...CURRENT_RELEASE_ONLY, ...ONE_RELEASE],
    concurrency: 2,
    always: ci,
    env: { KUBERNETES: OLDEST_KUBERNETES },
  }),
  // Skipped with one line where there is no Go; in CI it fails then.
  tests('vsphere', { pattern: VSPHERE, except: ci ? VSPHERE_NOT_IN_CI : [], concurrency: 1, always: ci }),
  aws(),
  ui(),
  openstack(),
];

const wanted = process.argv.slice(2);
for (const name of wanted) {
  if (!stages.some((stage) => stage.name === name)) {
    console.error(`no stage ${name}; there are ${stages.map((stage) => stage.name).join(', ')}`);
    process.exit(1);
  }
}
const sum: Totals = { passed: 0, failed: 0, skipped: 0 };
const rows: string[] = [];
for (const stage of stages) {
  if (wanted.length > 0 ? !wanted.includes(stage.name) : !stage.always) continue;
  console.log(`\n== ${stage.name}`);
  const started = performance.now();
  const totals = await stage.run();
  add(sum, totals);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
  rows.push(
    `${stage.name.padEnd(22)} ${seconds.padStart(7)} s  ${totals.passed} passed, ${totals.failed} failed${skipped}`,
  );
  console.log(rows.at(-1));
}
console.log(`\n${rows.join('\n')}\n`);
console.log(`${sum.passed} passed, ${sum.failed} failed`);
process.exit(sum.failed === 0 && sum.passed > 0 ? 0 : 1);
