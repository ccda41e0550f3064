/** For tests: a Service that is served at a floating IP of a load balancer that others may share. */
import assert from 'node:assert/strict';
import { webSpec } from './rig.suite.ts';
import { createTold, IDLE, partOf, type Told } from './told-cloud.suite.ts';

export const VIP = '10.9.0.1';
export const FLOATING = '192.0.2.7';
/** This cloud has no such thing. */
export const refusedSpec: typeof webSpec = {
  ...webSpec,
  ports: [{ port: 81, protocol: 'SCTP', nodePort: 30_081 }],
};

export const ips = ({ rig }: Told, name = 'web'): readonly (string | undefined)[] =>
  (rig.api.get(name)?.status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip);

export async function servedAtFloating(prepare: (told: Told) => void = () => {}): Promise<Told> {
  const told = await createTold();
  told.parts = [{ ...partOf('load-balancer a'), addresses: [VIP, FLOATING] }];
  told.serve = () => ({ actions: [], complete: true, ingress: [{ ip: FLOATING }] });
  told.rig.provider.planMembers = () => ({ ...IDLE, complete: true });
  prepare(told);
  told.rig.api.apply('web', webSpec);
  await told.rig.start();
  await told.rig.clock.advance(10_000);
  assert.deepEqual(ips(told), [FLOATING]);
  return told;
}
