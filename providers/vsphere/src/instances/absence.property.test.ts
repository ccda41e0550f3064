/** Whatever goes wrong, in whatever order: a machine that exists is never absent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type CloudErrorCode } from '@outrigger/cloud-provider';
import * as fc from 'fast-check';
import type { ConnectionState } from '../inventory/virtual-machine.ts';
import { REFERENCE_ANNOTATION } from './reference.ts';
import { IDENTITIES, node, TwoVcenters, uuidOf } from './two-vcenters.suite.ts';

type Step =
  | { readonly kind: 'restart' | 'empty' | 'look-up' | 'destroy' | 'mend' }
  | { readonly kind: 'fault'; readonly method: string; readonly code: CloudErrorCode; readonly inSecond: boolean }
  | { readonly kind: 'state'; readonly state: ConnectionState }
  | { readonly kind: 'forbid' | 'other-vcenter' | 'other-uuid' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom<Step[]>(
    { kind: 'restart' },
    { kind: 'empty' },
    { kind: 'look-up' },
    { kind: 'mend' },
    { kind: 'forbid' },
    { kind: 'other-vcenter' },
    { kind: 'other-uuid' },
  ),
  { weight: 1, arbitrary: fc.constant<Step>({ kind: 'destroy' }) },
  fc.record({
    kind: fc.constant('fault' as const),
    method: fc.constantFrom('identify', 'findByUuid', 'machine', 'machines'),
    code: fc.constantFrom<CloudErrorCode[]>('not-found', 'unavailable', 'unauthenticated', 'forbidden'),
    inSecond: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('state' as const),
    state: fc.constantFrom<ConnectionState[]>('disconnected', 'orphaned', 'inaccessible', 'invalid'),
  }),
);

test('property: a machine that exists is never absent; one that is gone is, once all is well', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), fc.boolean(), async (steps, isNoted) => {
      const site = new TwoVcenters();
      site.put(site.a, 1);
      site.put(site.a, 2);
      await site.kinds(node(1), node(2));
      const annotations: Record<string, string> = isNoted ? { [REFERENCE_ANNOTATION]: `${IDENTITIES[0]}/vm-1` } : {};
      const asked = node(1, { annotations });
      let isThere = true;
      for (const one of steps) {
        isThere &&= one.kind !== 'destroy';
        take(site, one);
        if (one.kind === 'look-up') await site.lookUp([asked]).catch(() => undefined);
        const said = await site.read(asked);
        assert.ok(!isThere || !said.startsWith('absent'), `${JSON.stringify(one)}: ${said}`);
        assert.ok(isThere || !said.startsWith('running'), `${JSON.stringify(one)}: ${said}`);
      }
      take(site, { kind: 'mend' });
      if (isThere) return;
      // Where it was is not known, or the first vCenter that the process saw was another one: a person has to say.
      if (!isNoted || steps.some(({ kind }) => kind === 'other-vcenter')) return;
      assert.match(await site.read(asked), /^absent: /);
    }),
    { numRuns: 400 },
  );
});

function take(site: TwoVcenters, step: Step): void {
  const there = site.a.inventory.get('vm-1');
  switch (step.kind) {
    case 'restart':
      site.restart();
      break;
    case 'empty':
      site.a.isEmpty = true;
      break;
    case 'destroy':
      site.a.inventory.delete('vm-1');
      break;
    case 'forbid':
      site.a.forbidden.add('vm-1');
      break;
    case 'other-vcenter':
      site.a.identity = 'cccccccc-0000-4000-8000-000000000003';
      break;
    case 'other-uuid':
      if (there) site.a.put({ ...there, biosUuid: uuidOf(99) });
      break;
    case 'fault':
      (step.inSecond ? site.b : site.a).fault = (method) =>
        method === step.method ? new CloudError(step.code, step.method) : undefined;
      break;
    case 'state': {
      const lost = step.state === 'disconnected' ? {} : { biosUuid: undefined, guestHostName: undefined };
      if (there) site.a.put({ ...there, connectionState: step.state, ...lost });
      break;
    }
    default:
      site.a.fault = undefined;
      site.b.fault = undefined;
      site.a.isEmpty = false;
      site.a.forbidden.clear();
      site.a.identity = IDENTITIES[0];
  }
}
