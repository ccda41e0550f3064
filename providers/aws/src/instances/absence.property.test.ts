/** Whatever goes wrong, in whatever order: an instance that exists is never absent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { AwsSite } from './aws-site.suite.ts';

type Step =
  | { readonly kind: 'restart' | 'look-up' | 'mend' | 'terminate' | 'forget' | 'stop' | 'start' | 'empty' }
  | { readonly kind: 'wait'; readonly minutes: number }
  | {
      readonly kind: 'fault';
      readonly operation: string;
      readonly status: number;
      readonly code: string;
      readonly nth: number;
    };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom<Step[]>(
    { kind: 'restart' },
    { kind: 'look-up' },
    { kind: 'mend' },
    { kind: 'stop' },
    { kind: 'start' },
    { kind: 'empty' },
  ),
  { weight: 1, arbitrary: fc.constantFrom<Step[]>({ kind: 'terminate' }, { kind: 'forget' }) },
  fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 10 }) }),
  fc.record({
    kind: fc.constant('fault' as const),
    operation: fc.constantFrom('DescribeInstances', 'GetCallerIdentity'),
    status: fc.constantFrom(400, 403, 500, 503),
    code: fc.constantFrom(
      'InvalidInstanceID.NotFound',
      'RequestLimitExceeded',
      'UnauthorizedOperation',
      'InternalError',
    ),
    nth: fc.integer({ min: 1, max: 3 }),
  }),
);

test('property: an instance that exists is never absent; one that is gone is, once all is well', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 8 }), fc.boolean(), async (steps, isYoung) => {
      const site = new AwsSite({ nodes: 2, zones: 1 });
      const node = site.node(0, isYoung ? { createdAt: site.clock.now() } : {});
      const id = site.cluster.instances[0]?.id ?? '';
      let isThere = true;
      for (const one of steps) {
        if (one.kind === 'terminate' || one.kind === 'forget') isThere = false;
        await take(site, one, id);
        if (one.kind === 'look-up') await site.lookUp([node, site.node(1)]).catch(() => undefined);
        const said = await site.read(node).catch((error: unknown) => `threw ${String(error)}`);
        assert.ok(!isThere || !said.startsWith('absent'), `${JSON.stringify(one)}: ${said}`);
        assert.ok(isThere || !/^(?:running|shutdown)/u.test(said), `${JSON.stringify(one)}: ${said}`);
      }
      if (isThere) return;
      site.aws.faults.set();
      await site.clock.advance(5 * 60_000);
      await site.lookUp([site.node(1)]);
      assert.match(await site.read(node), /^absent: /u);
    }),
    { numRuns: 40 },
  );
});

async function take(site: AwsSite, one: Step, id: string): Promise<void> {
  const { instances } = site.aws.account;
  switch (one.kind) {
    case 'restart':
      site.restart();
      break;
    case 'terminate':
      if (instances.get(id)) site.aws.changeInstance(id, { state: 'terminated' });
      break;
    case 'forget':
      if (instances.get(id)) site.aws.forgetInstance(id);
      break;
    case 'stop':
    case 'start': {
      const there = instances.get(id);
      if (there && there.state !== 'terminated')
        site.aws.changeInstance(id, { state: one.kind === 'stop' ? 'stopped' : 'running' });
      break;
    }
    case 'empty':
      site.aws.faults.set({ operation: 'DescribeInstances', spoils: 'empty-list', times: 1 });
      break;
    case 'mend':
      site.aws.faults.set();
      break;
    case 'wait':
      await site.clock.advance(one.minutes * 60_000);
      break;
    case 'fault': {
      const { code, nth, operation, status } = one;
      site.aws.faults.set({ operation, status, nth, body: errorOf(code, id) });
      break;
    }
    default:
  }
}

function errorOf(code: string, id: string): string {
  const message = `The instance ID '${id}' does not exist`;
  return `<Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors></Response>`;
}
