/**
 * `make test`: runs the stages below in order, all of them even when one fails, and ends with one line
 * `N passed, N failed`. `node scripts/test.ts unit lint` runs only those.
 */
import { whyNoLab } from '../e2e/openstack/why-no-lab.ts';
import { whyNoMoto } from '../providers/aws/lab/moto.ts';
import { findBrowser } from '../packages/ui/browser/find-browser.ts';
import { add, check, ci, counted, execute, type Stage, type Totals } from './test/stage.ts';
import { tests } from './test/test-files.ts';

/** The oldest Kubernetes release that is supported: the current one and three before. */
const OLDEST_KUBERNETES = '1.34';
/** Unit tests of so many files share a process: some five seconds of work, far from the limit of a process on a busy machine. */
const FILES_PER_PROCESS = 16;

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

/** Beside cloud-provider-aws, which takes six minutes to build: `make e2e-aws` builds and runs it, CI does not. */
const AWS_NOT_IN_CI: readonly string[] = ['e2e/aws/migration-official.lab.test.ts'];

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
  const judged = tests('aws', { pattern: AWS, except: ci ? AWS_NOT_IN_CI : [], concurrency: 1, always: ci });
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
    perProcess: FILES_PER_PROCESS,
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
  tests('unit', { pattern: UNIT, always: false, perProcess: FILES_PER_PROCESS, concurrency: 2 }),
  properties(),
  tests('packages', { pattern: PACKAGES, concurrency: 2 }),
  tests('fast', { pattern: FAST, coverage: true, perProcess: FILES_PER_PROCESS, concurrency: 2 }),
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
