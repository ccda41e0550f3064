import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancers } from '@outrigger/cloud-provider';
import { trustPolicyOf } from './admission-policy.ts';

const features = { requestedIP: true } as LoadBalancers['features'];
const annotations: LoadBalancers['annotations'] = [
  { name: 'cloud.test/lb-id', description: '', values: 'string', dangerous: 'uses the load balancer of others' },
  { name: 'cloud.test/timeout', description: '', values: 'integer' },
];

test('a policy for what the provider marks as dangerous, and for the requested address; for trusted namespaces there is none', () => {
  const declared = { annotations, classes: ['cloud.test/class'], features };
  const options = { providerName: 'cloud', trustedNamespaces: ['team-a'] };
  const text = JSON.stringify(trustPolicyOf(declared, options));
  assert.match(text, /cloud\.test\/lb-id, which uses the load balancer of others/);
  assert.match(text, /loadBalancerIP/);
  assert.doesNotMatch(text, /timeout/);
  assert.match(text, /!\(request\.namespace in \[\\"team-a\\"\]\)/);
  assert.deepEqual(trustPolicyOf(declared, { ...options, trustedNamespaces: ['*'] }), []);
  const harmless = { ...declared, annotations: [], features: { ...features, requestedIP: false } };
  const least = JSON.stringify(trustPolicyOf(harmless, options));
  assert.match(least, /outrigger\.dev\/load-balancer-provider with another provider than cloud/);
  assert.doesNotMatch(least, /lb-id|loadBalancerIP/);
  const none = JSON.stringify(trustPolicyOf(declared, { ...options, trustedNamespaces: [] }));
  assert.match(none, /!\(request\.namespace in \[\]\)/);
});
