/** What the official provider made of these machines, ours makes too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readVsphereConfig } from '../src/config/read-vsphere-config.ts';
import { eitherOrder, providerIDOf } from '../src/instances/bios-uuid.ts';
import { instanceTypeOf } from '../src/instances/instance-type.ts';
import { nodeAddresses } from '../src/instances/node-addresses.ts';
import { zoneOf, zonePaths } from '../src/instances/zones.ts';
import { goldenTables, type GoldenNode, type GoldenTable } from './golden.ts';

/** Where ours does otherwise, and why. */
const BETTER: Readonly<Record<string, string>> = {
  'capital letters in the host name': 'upstream takes the guest for another node than the one of its UUID',
};

async function oursOf(table: GoldenTable, at: number): Promise<GoldenNode> {
  const { machine } = table.entries[at] ?? assert.fail('no such entry');
  const options = { env: {}, workingDirectory: '/', warn: () => {} };
  const {
    addresses: rules,
    vcenters,
    zones,
  } = await readVsphereConfig({ text: table.config, fileName: 'vsphere.conf' }, options);
  const [{ families } = assert.fail('no vCenter')] = vcenters;
  const chosen = nodeAddresses(machine, { ...rules, families });
  const surroundings = new Map(table.surroundings.map((object) => [object.reference, object]));
  const zone = zones && zoneOf(zonePaths(machine, surroundings), new Map(Object.entries(table.tags)), zones);
  if (chosen.problem !== undefined || (zones && !zone)) return { initialised: false, addresses: [], labels: {} };
  const type = instanceTypeOf(machine);
  return {
    initialised: true,
    providerId: providerIDOf(machine.biosUuid ?? '', 'vsphere'),
    addresses: chosen.addresses.map(({ address, type }) => ({ type, address })),
    labels: {
      'node.kubernetes.io/instance-type': type,
      'beta.kubernetes.io/instance-type': type,
      ...(zone && {
        'topology.kubernetes.io/zone': zone.zone,
        'topology.kubernetes.io/region': zone.region,
        'failure-domain.beta.kubernetes.io/zone': zone.zone,
        'failure-domain.beta.kubernetes.io/region': zone.region,
      }),
    },
  };
}

/** The API server's merge groups addresses by type: what counts is the order of those of one type. */
function byType(node: GoldenNode): GoldenNode {
  return { ...node, addresses: node.addresses.toSorted((one, other) => one.type.localeCompare(other.type)) };
}

for (const table of goldenTables()) {
  for (const [at, { machine, name, node, systemUuid }] of table.entries.entries()) {
    test(`${table.name}: ${name}: as the official provider`, async (t) => {
      assert.ok(eitherOrder(systemUuid.toLowerCase()).includes(machine.biosUuid ?? ''), 'found by its UUID');
      const ours = await oursOf(table, at);
      if (BETTER[name] !== undefined) {
        t.diagnostic(BETTER[name]);
        assert.equal(node.initialised, false);
        assert.equal(ours.initialised, true);
      } else if (node.initialised) assert.deepEqual(byType(ours), byType(node));
      else assert.equal(ours.initialised, false);
    });
  }
}
