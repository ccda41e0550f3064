import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { defaultMigrationConfig, readMigrationConfig } from './migration-config.ts';

let directory = '';

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'outrigger-migration-'));
});

after(() => rm(directory, { recursive: true }));

async function read(text: string): ReturnType<typeof readMigrationConfig> {
  const path = join(directory, 'migration.yaml');
  await writeFile(path, text);
  return readMigrationConfig(path);
}

const head = (version: string): string =>
  `kind: LeaderMigrationConfiguration\napiVersion: controllermanager.config.k8s.io/${version}\nleaderName: handover\n`;

test('the three versions are read, as YAML and as JSON', async () => {
  const leaders = 'controllerLeaders:\n- {name: route, component: "*"}\n- name: service\n  component: other\n';
  for (const text of [
    `${head('v1alpha1')}resourceLock: leases\n${leaders}`,
    `${head('v1beta1')}resourceLock: leases\n${leaders}`,
    head('v1') + leaders,
  ]) {
    const { controllerLeaders, leaderName } = await read(text);
    assert.equal(leaderName, 'handover');
    assert.deepEqual(
      controllerLeaders.map(({ component, name }) => [name, component]),
      [
        ['route', '*'],
        ['service', 'other'],
      ],
    );
    assert.match(controllerLeaders[1]?.where ?? '', /migration\.yaml:\d: controllerLeaders\[1\]\.name$/u);
  }
  const json = { apiVersion: 'controllermanager.config.k8s.io/v1', kind: 'LeaderMigrationConfiguration' };
  assert.deepEqual(await read(JSON.stringify({ ...json, leaderName: 'a' })), {
    leaderName: 'a',
    controllerLeaders: [],
  });
});

test('anything else is refused, with file, line and key', async () => {
  const v1 = head('v1');
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['', /migration\.yaml:1: the file must be a mapping$/u],
    ['[]', /the file must be a mapping/u],
    ['a: [', /migration\.yaml:\d: not YAML/u],
    [head('v2'), /migration\.yaml:2: apiVersion must be one of controllermanager\.config\.k8s\.io\/v1alpha1, /u],
    ['kind: LeaderMigrationConfiguration\n', /apiVersion must be/u],
    [v1.replace('LeaderMigration', 'Kubelet'), /migration\.yaml:1: kind must be LeaderMigrationConfiguration$/u],
    [`${v1}leaderName: twice\n`, /migration\.yaml:4: not YAML: .*unique/u],
    [v1.replace('handover', '""'), /migration\.yaml:3: leaderName: must be a string, not empty$/u],
    [v1.replace('handover', '7'), /leaderName: must be a string/u],
    [v1.replace('leaderName: handover', ''), /leaderName: must be a string/u],
    [`${v1}resourceLock: leases\n`, /migration\.yaml:4: resourceLock: unknown key; there are apiVersion, kind, /u],
    [`${head('v1beta1')}resourceLock: endpoints\n`, /migration\.yaml:4: resourceLock must be leases/u],
    [head('v1alpha1'), /resourceLock must be leases/u],
    [`${v1}controllerleaders: []\n`, /migration\.yaml:4: controllerleaders: unknown key/u],
    [`${v1}controllerLeaders: {}\n`, /migration\.yaml:4: controllerLeaders must be a list$/u],
    [`${v1}controllerLeaders:\n- route\n`, /migration\.yaml:5: controllerLeaders\[0\] must be a mapping$/u],
    [
      `${v1}controllerLeaders:\n- name: route\n  component: "*"\n  lock: x\n`,
      /migration\.yaml:7: controllerLeaders\[0\]\.lock: unknown key; there are name, component$/u,
    ],
    [
      `${v1}controllerLeaders:\n- {name: route}\n`,
      /migration\.yaml:5: controllerLeaders\[0\]\.component: must be a string/u,
    ],
    [
      `${v1}controllerLeaders:\n- {component: a, name: ""}\n`,
      /migration\.yaml:5: controllerLeaders\[0\]\.name: must be/u,
    ],
  ];
  for (const [text, message] of wrong) {
    await assert.rejects(read(text), { name: 'FlagError', message }, text);
  }
  await assert.rejects(readMigrationConfig(join(directory, 'none.yaml')), {
    name: 'FlagError',
    message: /^--leader-migration-config=.*none\.yaml: there is no such file$/u,
  });
});

test("the default is upstream's", () => {
  assert.equal(defaultMigrationConfig.leaderName, 'cloud-provider-extraction-migration');
  assert.deepEqual(
    defaultMigrationConfig.controllerLeaders.map(({ component, name }) => `${name} ${component}`),
    ['route-controller *', 'service-controller *', 'cloud-node-lifecycle-controller *'],
  );
});
