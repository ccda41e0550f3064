import assert from 'node:assert/strict';
import { systemClock } from '@outrigger/kube';
import type { Lab } from './lab.ts';

/** A new password voids the tokens that were got with the old one, also when it is the same. */
export async function voidTokens({ admin }: Lab): Promise<void> {
  const users = await admin.list<{ readonly id: string; readonly name: string }>('identity', '/users?name=k8s');
  const [user] = users;
  assert.ok(user);
  await admin.request('identity', 'PATCH', `/users/${user.id}`, { body: { user: { password: 'k8s' } } });
  // A revocation counts in whole seconds: a token of the same second is void, too.
  await systemClock.sleep(1_500);
}
