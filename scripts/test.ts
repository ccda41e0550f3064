/**
 * `make test`: runs the stages below, all of them even when one fails, and ends with one line `N passed, N failed`.
 * `node scripts/test.ts unit lint` runs only those.
 */
import { whyNoLab } from '../e2e/openstack/why-no-lab.ts';
import { whyNoMoto } from '../providers/aws/lab/moto.ts';
import { findBrowser } from '../packages/ui/browser/find-browser.ts';
import { DEFAULT_KUBERNETES } from '@outrigger/testing';
import { runStages } from './test/run-stages.ts';
import { add, check, ci, counted, say, SCREEN, unless, type Stage, type Totals } from './test/stage.ts';
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

/** Beside programs of others that take a quarter of an hour to build: `make e2e-aws` builds and runs them, CI does not. */
const AWS_NOT_IN_CI: readonly string[] = [
  'e2e/aws/migration-in-tree.lab.test.ts',
  'e2e/aws/migration-official.lab.test.ts',
];

/**
 * Long tests of the program amid faults and in crowds. They run on the current release only, at the end: what of them hangs on the release (the
 * API contract, client, reflector, leader election, node initialisation, every controller, roles, manifests and the migration of node IPAM) has
 * tests of its own, which run on the oldest one too.
 */
const LONG: readonly string[] = [
  'e2e/chaos.control-plane.test.ts',
  'e2e/fault-chaos.control-plane.test.ts',
  'e2e/service-chaos.control-plane.test.ts',
  'e2e/tenant-chaos.control-plane.test.ts',
  'e2e/whole-cluster.control-plane.test.ts',
];

/**
 * What judges the judge, a page, the benchmark's observer, the test's own tools or others' definitions, what runs beside Go programs of one release,
 * what needs no cluster, a flag that changes no request, and what is put together of parts that have tests of their own on the oldest release, a guide
 * among them: by one release it is known.
 */
const ONE_RELEASE: readonly string[] = [
  'bench/protobuf-nodes.control-plane.test.ts',
  'e2e/bundled-program.control-plane.test.ts',
  'e2e/cluster-api-guide.control-plane.test.ts',
  'e2e/conformance-cluster.control-plane.test.ts',
  'e2e/conformance-upstream.control-plane.test.ts',
  'e2e/deploy-guides.control-plane.test.ts',
  'e2e/dry-run.control-plane.test.ts',
  'e2e/forged-serving-requests.control-plane.test.ts',
  'e2e/hollow-nodes.control-plane.test.ts',
  'e2e/image-credentials.control-plane.test.ts',
  'e2e/kubectl-plugin.control-plane.test.ts',
  'e2e/kustomize.control-plane.test.ts',
  'e2e/migration-frozen.control-plane.test.ts',
  'e2e/migration-upstream.control-plane.test.ts',
  'e2e/monitoring-objects.control-plane.test.ts',
  'e2e/node-flags.control-plane.test.ts',
  'e2e/node-guides.control-plane.test.ts',
  'e2e/openstack/migrate-guide.control-plane.test.ts',
  'e2e/operators-day.control-plane.test.ts',
  'e2e/several-providers.control-plane.test.ts',
  'e2e/status.control-plane.test.ts',
  'packages/testing/src/control-plane/control-plane.control-plane.test.ts',
];

/** Files of e2e/openstack that fit into 15 minutes together with building the lab; `make e2e-openstack` has them all. */
const OPENSTACK_IN_CI: readonly string[] = ['credentials', 'nodes', 'one-service', 'routes'];

/** Finds or makes what tests run, before those that need it, so that none of them waits for a build. */
function made(name: string, always: boolean, args: readonly string[]): Stage {
  const stage = check(name, 'node', args, { lane: 'builds', always });
  // Without it, a laptop skips the tests that need it; CI does not.
  return { ...stage, run: async (output) => ({ ...(await stage.run(output)), ...(!ci && { failed: 0 }) }) };
}

/** The real control plane. */
function controlPlane(name: string, release: string, always: boolean): Stage {
  return made(name, always, ['scripts/control-plane.ts', 'path', '--kubernetes', release]);
}

/** What tests run beside the program. */
function builds(name: string, always: boolean, programs: readonly string[]): Stage {
  return made(name, always, ['scripts/test/build-programs.ts', ...programs]);
}

/** The program against a real OpenStack. */
const openstack: Stage = {
  name: 'openstack',
  lane: 'labs',
  always: ci,
  run: (output) => counted('openstack', output, ['e2e/openstack/run.ts', ...OPENSTACK_IN_CI]),
};

/** The property tests alone, each round with seeds of its own. */
function properties(): Stage {
  const round = tests('properties', {
    pattern: FAST,
    holding: "from 'fast-check'",
    lane: 'tests',
    perProcess: FILES_PER_PROCESS,
    env: { OUTRIGGER_PROPERTY_SEED: process.env['OUTRIGGER_PROPERTY_SEED'] ?? 'random' },
  });
  return {
    ...round,
    always: false,
    run: async (output) => {
      const rounds = Number(process.env['ROUNDS'] || '1');
      const sum: Totals = { passed: 0, failed: 0, skipped: 0 };
      if (!Number.isInteger(rounds) || rounds < 1) {
        say(output, `properties: ROUNDS=${process.env['ROUNDS']} is no whole number of at least 1`);
        return { ...sum, failed: 1 };
      }
      for (let n = 0; n < rounds; n++) add(sum, await round.run(output));
      return sum;
    },
  };
}

const CURRENT_KUBERNETES = process.env['KUBERNETES'] || DEFAULT_KUBERNETES;

/**
 * Tests take real time, so few run beside each other: three processes at a time, two of them in `tests` while `labs`, or `long` at the end, has one. What
 * gives way (`check`) fills the rest of the processor.
 */
const stages: readonly Stage[] = [
  // First, as `ui` opens it.
  check('site', 'node', ['scripts/site.ts']),
  check('lint', 'oxlint', []),
  check('format', 'oxfmt', ['--check']),
  check('types', 'tsc', ['-p', '.']),
  check('page-types', 'tsc', ['-p', 'packages/ui/page']),
  check('knip', 'knip', []),
  check('advisories', 'node', ['scripts/advisories.ts']),
  check('signatures', 'node', ['scripts/signatures.ts']),
  // The same texts each time; `make fuzz` draws others. Beside tests that leave it half a core.
  check('fuzz', 'node', ['e2e/fuzz/run.ts'], {
    always: ci,
    after: ['fast', 'ui'],
    env: { MINUTES: '1', SEED: '1' },
  }),
  controlPlane('binaries', CURRENT_KUBERNETES, true),
  builds('programs', true, ['kubelet-plugin', 'upstream']),
  builds('simulator', ci, ['simulator']),
  controlPlane('binaries-oldest', OLDEST_KUBERNETES, ci),
  tests('unit', { pattern: UNIT, lane: 'tests', always: false, perProcess: FILES_PER_PROCESS, concurrency: 2 }),
  properties(),
  tests('packages', { pattern: PACKAGES, lane: 'tests', concurrency: 2 }),
  tests('fast', {
    pattern: FAST,
    lane: 'tests',
    // kubectl is one of the clients of the embedded API server.
    after: ['binaries'],
    coverage: true,
    perProcess: FILES_PER_PROCESS,
    concurrency: 2,
  }),
  tests('control-plane', {
    pattern: CONTROL_PLANE,
    except: LONG,
    lane: 'tests',
    after: ['binaries', 'programs', 'openstack', 'aws', 'vsphere', 'ui'],
    // Nothing else runs but `fuzz`, which gives way.
    concurrency: 3,
  }),
  tests('control-plane-oldest', {
    pattern: CONTROL_PLANE,
    except: [...LONG, ...ONE_RELEASE],
    lane: 'tests',
    after: ['binaries-oldest'],
    concurrency: 2,
    always: ci,
    env: { KUBERNETES: OLDEST_KUBERNETES },
  }),
  // They wait four fifths of their time: one at a time, beside the tests on the oldest release, which wait a third of theirs.
  tests('control-plane-long', {
    pattern: `{${LONG.join(',')}}`,
    lane: 'long',
    after: ['fuzz', 'control-plane'],
    concurrency: 1,
  }),
  // Left out, with one line, where the machine cannot bring one up, or where Python or a browser cannot be had.
  unless(whyNoLab, openstack),
  unless(
    whyNoMoto,
    tests('aws', {
      pattern: AWS,
      except: ci ? AWS_NOT_IN_CI : [],
      lane: 'labs',
      after: ['binaries'],
      concurrency: 1,
      always: ci,
    }),
  ),
  // Skipped with one line where there is no Go; in CI it fails then.
  tests('vsphere', {
    pattern: VSPHERE,
    except: ci ? VSPHERE_NOT_IN_CI : [],
    lane: 'labs',
    after: ['binaries', 'simulator'],
    concurrency: 1,
    always: ci,
  }),
  unless(
    () => findBrowser().why,
    tests('ui', { pattern: BROWSER, lane: 'labs', after: ['site'], concurrency: 1, always: ci }),
  ),
];

const wanted = process.argv.slice(2);
for (const name of [...wanted, ...stages.flatMap(({ after = [] }) => after)]) {
  if (!stages.some((stage) => stage.name === name)) {
    console.error(`no stage ${name}; there are ${stages.map((stage) => stage.name).join(', ')}`);
    process.exit(1);
  }
}
const { failed, passed } = await runStages(
  stages.filter((stage) => (wanted.length > 0 ? wanted.includes(stage.name) : stage.always)),
);
say(SCREEN, `${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
